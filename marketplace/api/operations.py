"""The operations. Each takes a checked body and returns the output structure; refusals are raised."""

from collections.abc import Callable
from datetime import UTC, datetime

from django.db.models import Q

from marketplace import refusals
from marketplace.api import (
    content,
    money_operations,
    notification_operations,
    paging,
    qualification_operations,
    request_operations,
    serialise,
    visibility,
    worker_operations,
)
from marketplace.api.calls import Body, Call
from marketplace.engine import assignments, hits
from marketplace.models import HIT, Assignment, HITType
from marketplace.refusals import Refusal


def create_hit_type(call: Call) -> Body:
    return {"HITTypeId": _hit_type(call).type_id}


def _hit_type(call: Call) -> HITType:
    values = content.type_values(call.body)
    return hits.hit_type_for(call.requester, values=values, now=call.now)


def create_hit(call: Call) -> Body:
    offer = content.offer(call.body)
    return _publish(call, _hit_type(call), offer)


def create_hit_with_hit_type(call: Call) -> Body:
    offer = content.offer(call.body)
    hit_type = hits.find_hit_type(call.body["HITTypeId"], requester=call.requester)
    return _publish(call, hit_type, offer)


def _publish(call: Call, hit_type: HITType, offer: hits.Offer) -> Body:
    return {"HIT": serialise.hit(hits.publish(hit_type, offer=offer, now=call.now), now=call.now)}


def get_hit(call: Call) -> Body:
    return {"HIT": serialise.hits([call.hit()], now=call.now)[0]}


def list_hits(call: Call) -> Body:
    live = HIT.objects.filter(requester=call.requester, disposed_at=None).select_related("hit_type")
    rows, token = paging.page(live, body=call.body, scope="ListHITs")
    return paging.answer("HITs", serialise.hits(rows, now=call.now), token=token)


def list_reviewable_hits(call: Call) -> Body:
    """Reviewable HITs, or with Status those under review."""
    status = call.body.get("Status", HIT.Status.REVIEWABLE)
    reviewable = HIT.objects.reviewable(now=call.now).filter(requester=call.requester)
    if "HITTypeId" in call.body:
        reviewable = reviewable.filter(hit_type__type_id=call.body["HITTypeId"])
    reviewable = reviewable.filter(is_reviewing=status == HIT.Status.REVIEWING).select_related("hit_type")
    seen = visibility.wholly_seen(reviewable, now=call.now)
    rows, token = paging.page(seen, body=call.body, scope=f"ListReviewableHITs {status}")
    return paging.answer("HITs", serialise.hits(rows, now=call.now), token=token)


def list_assignments_for_hit(call: Call) -> Body:
    hit, statuses = call.hit(), call.body.get("AssignmentStatuses")
    asked = Q(status__in=statuses) if statuses else Q(submitted_at__isnull=False)
    wanted = hit.assignments.filter(asked).select_related("hit", "worker")
    seen = visibility.seen(wanted, now=call.now)
    rows, token = paging.page(seen, body=call.body, scope=hit.hit_id)
    return paging.answer("Assignments", [serialise.assignment(row) for row in rows], token=token)


def get_assignment(call: Call) -> Body:
    row = call.assignment()
    if row.status == Assignment.Status.OPEN:
        # The wording requesters match, "Reviewable" for submitted (turkserver#56).
        raise Refusal(
            "InvalidAssignmentState",
            "This operation can be called with a status of: Reviewable,Approved,Rejected",
        )
    return {"Assignment": serialise.assignment(row), "HIT": serialise.hits([row.hit], now=call.now)[0]}


def _submitted(call: Call) -> Assignment:
    row = call.assignment()
    if row.status == Assignment.Status.OPEN:
        # What MTurk says of work it has not seen submitted (ParlAI#2957).
        raise refusals.wrong_assignment_state("null")
    return row


def get_file_upload_url(call: Call) -> Body:
    """No work holds a file: questions have not asked for any since December 2017 (API reference)."""
    call.assignment()
    raise Refusal("OperationNotSupported", "No question asks for a file; FileUploadAnswer is not supported.")


def approve_assignment(call: Call) -> Body:
    assignments.approve(
        _submitted(call),
        now=call.now,
        feedback=call.body.get("RequesterFeedback"),
        override=call.body.get("OverrideRejection", False),
    )
    return {}


def reject_assignment(call: Call) -> Body:
    assignments.reject(_submitted(call), now=call.now, feedback=call.body["RequesterFeedback"])
    return {}


def create_additional_assignments(call: Call) -> Body:
    additional, token = call.body["NumberOfAdditionalAssignments"], call.body.get("UniqueRequestToken")
    hits.extend(call.hit(), additional=additional, token=token, now=call.now)
    return {}


def update_expiration(call: Call) -> Body:
    expires_at = datetime.fromtimestamp(call.body["ExpireAt"], tz=UTC)
    hits.move_expiry(call.hit(), expires_at=expires_at, now=call.now)
    return {}


def update_hit_review_status(call: Call) -> Body:
    is_reviewing = not call.body.get("Revert", False)
    hits.set_reviewing(call.hit(), is_reviewing=is_reviewing, now=call.now)
    return {}


def update_hit_type_of_hit(call: Call) -> Body:
    hit = call.hit()
    hit_type = hits.find_hit_type(call.body["HITTypeId"], requester=call.requester)
    hits.set_type(hit, hit_type=hit_type, now=call.now)
    return {}


def list_review_policy_results(call: Call) -> Body:
    """No HIT here has a policy, so there are no results: MTurk's answer for such a HIT."""
    return {"HITId": call.hit().hit_id}


def delete_hit(call: Call) -> Body:
    hits.dispose(call.hit(), now=call.now)
    return {}


OPERATIONS: dict[str, Callable[[Call], Body]] = {
    "CreateHITType": create_hit_type,
    "CreateHIT": create_hit,
    "CreateHITWithHITType": create_hit_with_hit_type,
    "GetHIT": get_hit,
    "ListHITs": list_hits,
    "ListReviewableHITs": list_reviewable_hits,
    "ListAssignmentsForHIT": list_assignments_for_hit,
    "GetAssignment": get_assignment,
    "GetFileUploadURL": get_file_upload_url,
    "ApproveAssignment": approve_assignment,
    "RejectAssignment": reject_assignment,
    "CreateAdditionalAssignmentsForHIT": create_additional_assignments,
    "UpdateExpirationForHIT": update_expiration,
    "DeleteHIT": delete_hit,
    "UpdateHITReviewStatus": update_hit_review_status,
    "UpdateHITTypeOfHIT": update_hit_type_of_hit,
    "ListReviewPolicyResultsForHIT": list_review_policy_results,
    **money_operations.OPERATIONS,
    **notification_operations.OPERATIONS,
    **qualification_operations.OPERATIONS,
    **request_operations.OPERATIONS,
    **worker_operations.OPERATIONS,
}
