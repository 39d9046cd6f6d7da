"""Every refusal as boto3 reports it: code, TurkErrorCode, beginning of the message."""

import re

import pytest
from django.db import OperationalError

from marketplace.accounts import keys
from marketplace.api import dispatch
from marketplace.engine import deadlines
from tests.marketplace.question_documents import SCHEMA, external_question
from tests.marketplace.refusals import refusal

NOBODY = {"HITId": "3NOSUCHHIT"}
HTTP = external_question("http://lab.example/hits/7")
REQUIREMENT = {
    "QualificationTypeId": "00000000000000000040",
    "Comparator": "GreaterThan",
    "IntegerValues": [50],
}


UNKNOWN = [
    ("get_hit", NOBODY, "HITDoesNotExist", "Hit 3NOSUCHHIT does not exist."),
    ("list_assignments_for_hit", NOBODY, "HITDoesNotExist", "Hit 3NOSUCHHIT does not exist."),
    ("delete_hit", NOBODY, "HITDoesNotExist", "Hit 3NOSUCHHIT does not exist."),
    (
        "update_expiration_for_hit",
        NOBODY | {"ExpireAt": 0},
        "HITDoesNotExist",
        "Hit 3NOSUCHHIT does not exist.",
    ),
    (
        "create_additional_assignments_for_hit",
        NOBODY | {"NumberOfAdditionalAssignments": 1},
        "HITDoesNotExist",
        "Hit 3NOSUCHHIT does not exist.",
    ),
    ("get_assignment", {"AssignmentId": "3NO"}, "AssignmentDoesNotExist", "Assignment 3NO does not exist."),
    (
        "approve_assignment",
        {"AssignmentId": "3NO"},
        "AssignmentDoesNotExist",
        "Assignment 3NO does not exist.",
    ),
    (
        "reject_assignment",
        {"AssignmentId": "3NO", "RequesterFeedback": ""},
        "AssignmentDoesNotExist",
        "Assignment 3NO does not exist.",
    ),
    (
        "get_file_upload_url",
        {"AssignmentId": "3NO", "QuestionIdentifier": "q"},
        "AssignmentDoesNotExist",
        "Assignment 3NO does not exist.",
    ),
    (
        "send_bonus",
        {"WorkerId": "A1", "AssignmentId": "3NO", "BonusAmount": "1", "Reason": "x"},
        "AssignmentDoesNotExist",
        "Assignment 3NO does not exist.",
    ),
]


@pytest.mark.parametrize(("name", "values", "code", "message"), UNKNOWN, ids=[row[0] for row in UNKNOWN])
def test_what_does_not_exist(mturk, name, values, code, message):
    status, error, turk_code, text = refusal(getattr(mturk, name), **values)
    assert (status, error, turk_code) == (400, "RequestError", code)
    assert re.fullmatch(re.escape(message) + r" \(\d{13}\)", text)


BAD = [
    ({"Reward": "0.385"}, 'The value "0.385" is not valid for the parameter Reward.'),
    ({"Reward": "1\n"}, 'The value "1\n" is not valid for the parameter Reward.'),
    ({"Reward": "9" * 5000}, "The value"),
    ({"Title": "t" * 129}, "The value"),
    ({"Title": ""}, 'The value "" is not valid for the parameter Title.'),
    ({"MaxAssignments": 0}, 'The value "0" is not valid for the parameter MaxAssignments.'),
    ({"LifetimeInSeconds": 29}, 'The value "29" is not valid for the parameter LifetimeInSeconds.'),
    ({"AssignmentDurationInSeconds": 31_536_001}, 'The value "31536001" is not valid for the parameter'),
    ({"AutoApprovalDelayInSeconds": 2_592_001}, 'The value "2592001" is not valid for the parameter'),
    ({"AutoApprovalDelayInSeconds": -1}, 'The value "-1" is not valid for the parameter'),
    ({"RequesterAnnotation": "a" * 256}, "The value"),
    ({"UniqueRequestToken": "u" * 65}, "The value"),
    ({"Question": external_question("https://lab.example/" + "x" * 70_000)}, "The value"),
    (
        {"Question": external_question("/relative")},
        'The value "/relative" is not valid for the parameter ExternalURL.',
    ),
    (
        {"Question": HTTP},
        'The value "http://lab.example/hits/7" is not valid for the parameter ExternalURL. '
        "This URL must use the HTTPS protocol..",
    ),
    ({"HITLayoutId": "3LAYOUT"}, 'The value "" is not valid for the parameter Question.'),
    ({"QualificationRequirements": [REQUIREMENT] * 11}, "The value"),
    ({"QualificationRequirements": [REQUIREMENT | {"Comparator": "Near"}]}, 'The value "Near" is not valid'),
    ({"QualificationRequirements": [REQUIREMENT | {"IntegerValues": [1] * 16}]}, "The value"),
]


@pytest.mark.parametrize(
    ("changes", "message"), BAD, ids=[f"{n}-{next(iter(row[0]))}" for n, row in enumerate(BAD)]
)
def test_values_out_of_range_are_refused_and_nothing_is_published(mturk, values, changes, message):
    status, error, turk_code, text = refusal(mturk.create_hit, **values | changes)
    assert (status, error, turk_code) == (400, "ParameterValidationError", "")
    assert text.startswith(message)
    assert re.search(r" \(\d{13} s\)$", text)
    assert mturk.list_hits()["NumResults"] == 0


REFUSED = [
    ({"Question": "<ExternalQuestion>"}, "XMLParseError"),
    ({"Question": "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"}, "XMLParseError"),
    ({"Question": f'<HTMLQuestion xmlns="{SCHEMA}"/>'}, "XMLParseError"),
    ({"Question": external_question("https://lab.example/", height="tall")}, "XMLParseError"),
    ({"Question": external_question("https://lab.example/?a=1&b=2")}, "XMLParseError"),
    ({"MaxAssignments": 1_000_000}, "InsufficientFunds"),
    (
        {"AssignmentReviewPolicy": {"PolicyName": "ScoreMyKnownAnswers/2011-09-01"}},
        "ReviewPolicyNotSupported",
    ),
    (
        {"QualificationRequirements": [REQUIREMENT | {"QualificationTypeId": "3MINE"}]},
        "QualificationTypeDoesNotExist",
    ),
    (
        {"QualificationRequirements": [REQUIREMENT | {"Comparator": "Exists"}]},
        "InvalidQualificationRequirement",
    ),
    (
        {"QualificationRequirements": [REQUIREMENT | {"IntegerValues": [50, 60]}]},
        "InvalidQualificationRequirement",
    ),
]


@pytest.mark.parametrize(("changes", "code"), REFUSED, ids=[f"{n}-{row[1]}" for n, row in enumerate(REFUSED)])
def test_hits_that_cannot_be_offered_are_refused_and_nothing_is_published(mturk, values, changes, code):
    assert refusal(mturk.create_hit, **values | changes)[1:3] == ("RequestError", code)
    assert mturk.list_hits()["NumResults"] == 0
    assert mturk.get_account_balance()["OnHoldBalance"] == "0.00"


def test_a_layout_of_the_web_pages_does_not_exist(mturk, values):
    del values["Question"]
    assert refusal(mturk.create_hit, **values, HITLayoutId="3LAYOUT")[2] == "HITLayoutDoesNotExist"


def test_an_unknown_hit_type(mturk, values):
    call = {"HITTypeId": "3NOTYPE", "LifetimeInSeconds": 60, "Question": values["Question"]}
    assert refusal(mturk.create_hit_with_hit_type, **call)[2] == "HITTypeDoesNotExist"


def test_work_in_progress_cannot_be_read_or_decided(mturk, new_hit, new_worker):
    type_id = mturk.get_hit(HITId=new_hit())["HIT"]["HITTypeId"]
    assignment_id = new_worker().accept(type_id)
    said = [
        refusal(mturk.get_assignment, AssignmentId=assignment_id),
        refusal(mturk.approve_assignment, AssignmentId=assignment_id),
        refusal(mturk.reject_assignment, AssignmentId=assignment_id, RequesterFeedback=""),
    ]
    assert {row[2] for row in said} == {"InvalidAssignmentState"}
    assert [re.sub(r" \(\d+\)$", "", row[3]) for row in said] == [
        "This operation can be called with a status of: Reviewable,Approved,Rejected",
        "This operation can be called with a status of: null",
        "This operation can be called with a status of: null",
    ]


def test_work_is_decided_once(mturk, new_hit, new_worker):
    type_id = mturk.get_hit(HITId=new_hit())["HIT"]["HITTypeId"]
    worker = new_worker()
    assignment_id = worker.accept(type_id)
    worker.submit(assignment_id)
    mturk.approve_assignment(AssignmentId=assignment_id)
    for call in (mturk.approve_assignment, mturk.reject_assignment):
        said = refusal(call, AssignmentId=assignment_id, RequesterFeedback="")
        assert said[2] == "InvalidAssignmentState"
        assert said[3].startswith("This operation can be called with a status of: Submitted (")


def test_a_hit_on_offer_cannot_be_deleted(mturk, new_hit):
    said = refusal(mturk.delete_hit, HITId=new_hit())
    assert said[2] == "InvalidHITState"
    assert "currently in the state 'Assignable'" in said[3]


def test_a_hit_has_at_most_a_billion_assignments(mturk, new_hit):
    hit_id = new_hit(MaxAssignments=10)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    extension = {"HITId": hit_id, "NumberOfAdditionalAssignments": 1_000_000_000}
    said = refusal(mturk.create_additional_assignments_for_hit, **extension)
    assert said[2] == "InvalidMaximumAssignmentsIncrease"


def test_a_deleted_hit_cannot_be_extended(mturk, new_hit):
    hit_id = new_hit()
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    mturk.delete_hit(HITId=hit_id)
    said = refusal(mturk.create_additional_assignments_for_hit, HITId=hit_id, NumberOfAdditionalAssignments=1)
    assert said[2] == "InvalidHITState"
    assert "currently in the state 'Disposed'" in said[3]


@pytest.mark.parametrize("token", ["nonsense", "WyJMaXN0SElUcyIsMV0:1:2"])
def test_a_forged_paging_token_is_refused(mturk, token):
    assert refusal(mturk.list_hits, NextToken=token)[1] == "ParameterValidationError"


def test_the_paging_token_of_another_list_is_refused(mturk, new_hit):
    new_hit()
    token = mturk.list_hits()["NextToken"]
    assert refusal(mturk.list_reviewable_hits, NextToken=token)[1] == "ParameterValidationError"


@pytest.fixture
def unchecked(connect, requester):
    """A client that leaves all checking to the server."""
    key, secret = keys.create_key(requester)
    return connect(key.key_id, secret, parameter_validation=False)


@pytest.mark.parametrize("size", [0, 101])
def test_the_page_size_has_limits(unchecked, size):
    assert refusal(unchecked.list_hits, MaxResults=size)[1] == "ParameterValidationError"


def test_a_missing_value_is_named_in_camel_case(unchecked):
    status, error, _, text = refusal(unchecked.reject_assignment, AssignmentId="3NO")
    assert (status, error) == (400, "ValidationException")
    assert text == (
        "1 validation error detected: Value null at 'requesterFeedback' "
        "failed to satisfy constraint: Member must not be null"
    )


@pytest.mark.parametrize(
    "changes", [{"HITId": 7}, {"HITId": ["3A"]}, {"NumberOfAdditionalAssignments": True}], ids=str
)
def test_wrong_json_types_come_first(unchecked, changes):
    call = {"HITId": "not an id", "NumberOfAdditionalAssignments": 1} | changes
    assert refusal(unchecked.create_additional_assignments_for_hit, **call)[1] == "SerializationException"


def test_a_busy_database_is_a_throttle(mturk, monkeypatch):
    def locked():
        raise OperationalError("database is locked")

    monkeypatch.setattr(deadlines, "arrive", locked)
    assert refusal(mturk.get_account_balance) == (400, "ThrottlingException", "", "Rate exceeded")


def test_a_fault_of_ours_is_a_service_fault(mturk, monkeypatch):
    monkeypatch.setitem(dispatch.OPERATIONS, "GetAccountBalance", lambda call: {}["AvailableBalance"])
    assert refusal(mturk.get_account_balance)[:3] == (500, "ServiceFault", "ServiceFault")
