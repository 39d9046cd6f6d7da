"""Operations about what workers ask for: qualification requests."""

from collections.abc import Callable

from marketplace.api import paging, serialise
from marketplace.api.calls import Body, Call
from marketplace.models import QualificationRequest
from marketplace.qualifications import qualification_requests


def list_qualification_requests(call: Call) -> Body:
    rows = QualificationRequest.objects.filter(
        qualification_type__requester=call.requester, status=QualificationRequest.Status.PENDING
    )
    if "QualificationTypeId" in call.body:
        rows = rows.filter(qualification_type=call.own_qualification_type())
    scope = f"Requests {call.body.get('QualificationTypeId', '')}"
    rows = rows.select_related("qualification_type", "worker")
    found, token = paging.page(rows, body=call.body, scope=scope)
    shown = [serialise.qualification_request(row) for row in found]
    return paging.answer("QualificationRequests", shown, token=token)


def accept_qualification_request(call: Call) -> Body:
    request = qualification_requests.find(call.body["QualificationRequestId"], owner=call.requester)
    qualification_requests.accept(request, value=call.body.get("IntegerValue", 1), now=call.now)
    return {}


def reject_qualification_request(call: Call) -> Body:
    request = qualification_requests.find(call.body["QualificationRequestId"], owner=call.requester)
    qualification_requests.reject(request, reason=call.body.get("Reason", ""), now=call.now)
    return {}


OPERATIONS: dict[str, Callable[[Call], Body]] = {
    "ListQualificationRequests": list_qualification_requests,
    "AcceptQualificationRequest": accept_qualification_request,
    "RejectQualificationRequest": reject_qualification_request,
}
