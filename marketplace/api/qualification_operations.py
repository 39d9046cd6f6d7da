"""Operations about qualification types, the values workers have on them, and workers' requests for one."""

from collections.abc import Callable
from typing import Any

from marketplace.api import structures
from marketplace.api.calls import Body, Call, listing
from marketplace.api.errors import bad_document, bad_value
from marketplace.models import HIT, Qualification, QualificationRequest, QualificationType
from marketplace.qualifications import qualification_requests, qualification_types, requirements
from marketplace.qualifications.qualification_types import Settings
from marketplace.questions import answer_keys, question_forms
from marketplace.questions.documents import BadQuestion

MEMBERS = {
    "Description": "description",
    "QualificationTypeStatus": "status",
    "Test": "test",
    "AnswerKey": "answer_key",
    "TestDurationInSeconds": "test_seconds",
    "RetryDelayInSeconds": "retry_seconds",
    "AutoGranted": "auto_granted",
    "AutoGrantedValue": "auto_granted_value",
}


def _settings(body: Body) -> dict[str, Any]:
    return {ours: body[theirs] for theirs, ours in MEMBERS.items() if theirs in body}


def _check(settings: Settings) -> None:
    """Raise ApiError for members that do not go together (API reference, CreateQualificationType)."""
    if settings.test and settings.test_seconds is None:
        raise bad_value("", "TestDurationInSeconds", why="A Test needs it")
    if settings.answer_key and not settings.test:
        raise bad_value("...", "AnswerKey", why="It needs a Test")
    if settings.auto_granted and settings.test:
        raise bad_value("true", "AutoGranted", why="It cannot be combined with a Test")
    _check_documents(settings)


def _check_documents(settings: Settings) -> None:
    """Raise ApiError unless the test and its key, where there are any, are valid together."""
    try:
        form = question_forms.read(settings.test) if settings.test else None
        if form is not None and settings.answer_key:
            answer_keys.read(settings.answer_key, test=form)
    except BadQuestion as error:
        raise bad_document(error) from error


def _check_new_test(body: Body) -> None:
    """Test, duration and key change together (API reference, UpdateQualificationType)."""
    if "Test" in body and "TestDurationInSeconds" not in body:
        raise bad_value("", "TestDurationInSeconds", why="A new Test needs it")
    for name in ("AnswerKey", "TestDurationInSeconds"):
        if name in body and "Test" not in body:
            raise bad_value(
                "", "Test", why=f"A new {name} needs the Test, too, even where that stays as it is"
            )


def create_qualification_type(call: Call) -> Body:
    settings = Settings(**_settings(call.body))
    _check(settings)
    name, keywords = call.body["Name"], call.body.get("Keywords", "")
    kind = qualification_types.create(
        call.requester, name=name, keywords=keywords, settings=settings, now=call.now
    )
    return _shown(call, kind)


def update_qualification_type(call: Call) -> Body:
    kind, changes = call.own_qualification_type(), _settings(call.body)
    _check_new_test(call.body)
    if "test" in changes:
        changes.setdefault("answer_key", "")
    _check(Settings(**{name: getattr(kind, name) for name in MEMBERS.values()} | changes))
    qualification_types.update(kind, changes=changes)
    return _shown(call, kind)


def get_qualification_type(call: Call) -> Body:
    type_id = call.body["QualificationTypeId"]
    if type_id in requirements.SYSTEM_NAMES:
        return {"QualificationType": structures.system_qualification_type(type_id)}
    return _shown(call, qualification_types.find(type_id))


def _shown(call: Call, kind: QualificationType) -> Body:
    return {"QualificationType": structures.qualification_type(kind, reader=call.requester)}


def delete_qualification_type(call: Call) -> Body:
    qualification_types.dispose(call.own_qualification_type(), now=call.now)
    return {}


def list_qualification_types(call: Call) -> Body:
    rows = qualification_types.matching(
        call.requester,
        query=call.body.get("Query", ""),
        requestable_only=call.body["MustBeRequestable"],
        owned_only=call.body.get("MustBeOwnedByCaller", False),
    )
    page, token = call.page(rows, scope="ListQualificationTypes")
    shown = [structures.qualification_type(row, reader=call.requester) for row in page]
    return listing("QualificationTypes", shown, token=token)


def associate_qualification_with_worker(call: Call) -> Body:
    qualification_types.grant(
        call.own_qualification_type(),
        worker=call.worker(),
        value=call.body.get("IntegerValue", 1),
        notify=call.body.get("SendNotification", True),
        now=call.now,
    )
    return {}


def disassociate_qualification_from_worker(call: Call) -> Body:
    qualification_types.revoke(
        call.own_qualification_type(),
        worker=call.worker(),
        reason=call.body.get("Reason", ""),
        now=call.now,
    )
    return {}


def get_qualification_score(call: Call) -> Body:
    held = qualification_types.held(call.own_qualification_type(), worker_id=call.body["WorkerId"])
    return {"Qualification": structures.qualification(held)}


def list_workers_with_qualification_type(call: Call) -> Body:
    kind = call.own_qualification_type()
    status = call.body.get("Status", Qualification.Status.GRANTED)
    rows = kind.qualifications.filter(status=status).select_related("qualification_type", "worker")
    page, token = call.page(rows, scope=f"Workers {kind.type_id} {status}")
    return listing("Qualifications", [structures.qualification(row) for row in page], token=token)


def list_hits_for_qualification_type(call: Call) -> Body:
    kind = qualification_types.find(call.body["QualificationTypeId"])
    hits = HIT.objects.filter(requester=call.requester, disposed_at=None, hit_type__qualification_types=kind)
    rows, token = call.page(hits.select_related("hit_type"), scope=f"HITs {kind.type_id}")
    return listing("HITs", structures.hits(rows, now=call.now), token=token)


def list_qualification_requests(call: Call) -> Body:
    rows = QualificationRequest.objects.filter(
        qualification_type__requester=call.requester, status=QualificationRequest.Status.PENDING
    )
    if "QualificationTypeId" in call.body:
        rows = rows.filter(qualification_type=call.own_qualification_type())
    scope = f"Requests {call.body.get('QualificationTypeId', '')}"
    rows = rows.select_related("qualification_type", "worker")
    page, token = call.page(rows, scope=scope)
    shown = [structures.qualification_request(row) for row in page]
    return listing("QualificationRequests", shown, token=token)


def accept_qualification_request(call: Call) -> Body:
    request = qualification_requests.find(call.body["QualificationRequestId"], owner=call.requester)
    qualification_requests.accept(request, value=call.body.get("IntegerValue", 1), now=call.now)
    return {}


def reject_qualification_request(call: Call) -> Body:
    request = qualification_requests.find(call.body["QualificationRequestId"], owner=call.requester)
    qualification_requests.reject(request, reason=call.body.get("Reason", ""), now=call.now)
    return {}


OPERATIONS: dict[str, Callable[[Call], Body]] = {
    "CreateQualificationType": create_qualification_type,
    "UpdateQualificationType": update_qualification_type,
    "GetQualificationType": get_qualification_type,
    "DeleteQualificationType": delete_qualification_type,
    "ListQualificationTypes": list_qualification_types,
    "AssociateQualificationWithWorker": associate_qualification_with_worker,
    "DisassociateQualificationFromWorker": disassociate_qualification_from_worker,
    "GetQualificationScore": get_qualification_score,
    "ListWorkersWithQualificationType": list_workers_with_qualification_type,
    "ListHITsForQualificationType": list_hits_for_qualification_type,
    "ListQualificationRequests": list_qualification_requests,
    "AcceptQualificationRequest": accept_qualification_request,
    "RejectQualificationRequest": reject_qualification_request,
}
