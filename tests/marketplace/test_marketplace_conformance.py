"""Every operation of the service model answers with its output shape, or is refused in words."""

import pytest
from botocore.model import ListShape, StructureShape

from marketplace import clock, keys
from marketplace.api import calls, model
from marketplace.api.operations import OPERATIONS
from marketplace.api.validation import TYPES, validate
from marketplace.models import HIT, Assignment

NOT_OFFERED = {"GetFileUploadURL"}
QUALIFICATION = {"Name": "Trusted", "Description": "d", "QualificationTypeStatus": "Active"}


NOTIFICATION = {
    "Destination": "https://sqs.example/1/queue",
    "Transport": "SQS",
    "Version": "2014-08-15",
    "EventTypes": ["HITCreated"],
}


@pytest.fixture
def scene(mturk, requester, values, new_hit, new_worker, settings):
    """Ids of one row of each kind, some of them twice so that an operation may use one up."""
    settings.MARKETPLACE_NOTIFICATION_TARGETS = {NOTIFICATION["Destination"]: "q.jsonl"}
    kind = mturk.create_qualification_type(**QUALIFICATION)["QualificationType"]["QualificationTypeId"]
    guard = [{"QualificationTypeId": kind, "Comparator": "Exists"}]
    mturk_hit = mturk.create_hit(**values)["HIT"]
    browser, worker_id = new_worker(), ""
    worker_id = browser.worker.worker_id
    assignment_id = browser.accept(mturk_hit["HITTypeId"])
    browser.submit(assignment_id)
    mturk.send_bonus(WorkerId=worker_id, AssignmentId=assignment_id, BonusAmount="1", Reason="r")
    mturk.associate_qualification_with_worker(QualificationTypeId=kind, WorkerId=worker_id)
    mturk.create_worker_block(WorkerId=worker_id, Reason="r")
    asker = new_worker()
    asker.client.post(f"/qualifications/{kind}")
    asked = mturk.list_qualification_requests()["QualificationRequests"][0]["QualificationRequestId"]
    new_hit(Title="Guarded", QualificationRequirements=guard)
    old = new_hit(Title="Old")
    mturk.update_expiration_for_hit(HITId=old, ExpireAt=0)
    return {
        "hit": {"HITId": mturk_hit["HITId"]},
        "old": {"HITId": old},
        "type": {"HITTypeId": mturk_hit["HITTypeId"]},
        "work": {"AssignmentId": assignment_id},
        "kind": {"QualificationTypeId": kind},
        "worker": {"WorkerId": worker_id},
        "asked": {"QualificationRequestId": asked},
        "values": values,
    }


def type_values(row):
    names = ("Title", "Description", "Reward", "AssignmentDurationInSeconds")
    return {name: row["values"][name] for name in names}


BODIES = {
    "AcceptQualificationRequest": lambda row: row["asked"],
    "ListQualificationRequests": lambda row: {},
    "RejectQualificationRequest": lambda row: row["asked"],
    "ApproveAssignment": lambda row: row["work"],
    "AssociateQualificationWithWorker": lambda row: row["kind"] | row["worker"],
    "CreateAdditionalAssignmentsForHIT": lambda row: row["hit"] | {"NumberOfAdditionalAssignments": 1},
    "CreateHIT": lambda row: row["values"],
    "CreateHITType": type_values,
    "CreateHITWithHITType": lambda row: {
        **row["type"],
        "LifetimeInSeconds": 60,
        "Question": row["values"]["Question"],
    },
    "CreateQualificationType": lambda row: QUALIFICATION | {"Name": "Another"},
    "CreateWorkerBlock": lambda row: row["worker"] | {"Reason": "r"},
    "DeleteHIT": lambda row: row["old"],
    "DeleteQualificationType": lambda row: row["kind"],
    "DeleteWorkerBlock": lambda row: row["worker"],
    "DisassociateQualificationFromWorker": lambda row: row["kind"] | row["worker"],
    "GetAccountBalance": lambda row: {},
    "GetAssignment": lambda row: row["work"],
    "GetHIT": lambda row: row["hit"],
    "GetQualificationScore": lambda row: row["kind"] | row["worker"],
    "GetQualificationType": lambda row: row["kind"],
    "ListAssignmentsForHIT": lambda row: row["hit"],
    "ListBonusPayments": lambda row: row["hit"],
    "ListHITs": lambda row: {},
    "ListHITsForQualificationType": lambda row: row["kind"],
    "ListQualificationTypes": lambda row: {"MustBeRequestable": True},
    "ListReviewableHITs": lambda row: {},
    "ListReviewPolicyResultsForHIT": lambda row: row["hit"],
    "ListWorkerBlocks": lambda row: {},
    "ListWorkersWithQualificationType": lambda row: row["kind"],
    "NotifyWorkers": lambda row: {"Subject": "s", "MessageText": "m", "WorkerIds": ["A1NOBODY"]},
    "RejectAssignment": lambda row: row["work"] | {"RequesterFeedback": ""},
    "SendTestEventNotification": lambda row: {"Notification": NOTIFICATION, "TestEventType": "Ping"},
    "UpdateNotificationSettings": lambda row: row["type"] | {"Notification": NOTIFICATION},
    "SendBonus": lambda row: {**row["worker"], **row["work"], "BonusAmount": "1", "Reason": "r"},
    "UpdateExpirationForHIT": lambda row: row["hit"] | {"ExpireAt": 0},
    "UpdateHITReviewStatus": lambda row: row["old"],
    "UpdateHITTypeOfHIT": lambda row: row["hit"] | row["type"],
    "UpdateQualificationType": lambda row: row["kind"] | {"Description": "e"},
}


def strays(shape, value, path):
    """Yield every place where a value is not what the shape says, unknown members included."""
    if not TYPES[shape.type_name][1](value):
        yield f"{path}: {value!r} is no {shape.type_name}"
    elif isinstance(shape, StructureShape):
        yield from (f"{path}.{name} is unknown" for name in value.keys() - shape.members.keys())
        for name in value.keys() & shape.members.keys():
            yield from strays(shape.members[name], value[name], f"{path}.{name}")
    elif isinstance(shape, ListShape):
        for number, item in enumerate(value):
            yield from strays(shape.member, item, f"{path}[{number}]")


def filled_lists(answer):
    return [len(value) for value in answer.values() if isinstance(value, list)]


def test_every_operation_is_offered_or_refused():
    assert len(model.operation_names()) == 39
    assert model.operation_names() == OPERATIONS.keys() | NOT_OFFERED
    assert OPERATIONS.keys() == BODIES.keys()


@pytest.mark.parametrize("operation", sorted(BODIES))
def test_answers_have_the_output_shape(scene, requester, operation):
    body = BODIES[operation](scene)
    shape = model.service().operation_model(operation).output_shape
    call = calls.Call(requester=requester, body=validate(model.input_shape(operation), body), now=clock.now())
    answer = OPERATIONS[operation](call)
    assert list(strays(shape, answer, operation)) == []
    assert validate(shape, answer) == answer
    assert 0 not in filled_lists(answer)
    assert bool(answer) == bool(shape.members)


@pytest.mark.parametrize("operation", sorted(NOT_OFFERED))
def test_what_is_not_offered_is_refused_in_words(connect, requester, operation):
    key, secret = keys.create_key(requester)
    client = connect(key.key_id, secret, parameter_validation=False)
    with pytest.raises(client.exceptions.RequestError) as caught:
        client._make_api_call(operation, {})
    response = caught.value.response
    assert response["TurkErrorCode"] == "AWS.MechanicalTurk.OperationNotSupported"
    assert response["Error"]["Message"].startswith(f"This marketplace does not offer {operation}. (")


@pytest.mark.parametrize("operation", sorted(model.operation_names()))
def test_an_empty_request_is_never_a_fault(connect, requester, operation):
    key, secret = keys.create_key(requester)
    client = connect(key.key_id, secret, parameter_validation=False)
    try:
        status = client._make_api_call(operation, {})["ResponseMetadata"]["HTTPStatusCode"]
    except client.exceptions.ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
    assert status in {200, 400}
    assert (HIT.objects.count(), Assignment.objects.count()) == (0, 0)
