"""Operations about HITs and their assignments. Each takes a checked body and returns the output structure.

Refusals are raised.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models import Q

from marketplace import refusals
from marketplace.api import structures, visibility
from marketplace.api.calls import Body, Call, listing
from marketplace.api.errors import bad_document, bad_value
from marketplace.engine import assignments, hits
from marketplace.engine.hits import Offer, TypeValues
from marketplace.models import HIT, Assignment, HITType
from marketplace.qualifications import requirements
from marketplace.questions import hit_questions
from marketplace.questions.documents import BadQuestion
from marketplace.refusals import Refusal

DEFAULT_AUTO_APPROVAL_SECONDS = 2_592_000  # 30 days when the member is left out (recorded in psiTurk's tests)


def create_hit_type(call: Call) -> Body:
    hit_type = hits.hit_type_for(call.requester, values=_type_values(call), now=call.now)
    return {"HITTypeId": hit_type.type_id}


def create_hit(call: Call) -> Body:
    offer = read_offer(call.body)
    hit_type = hits.hit_type_for(call.requester, values=_type_values(call), now=call.now)
    return _published(call, hit_type, offer)


def create_hit_with_hit_type(call: Call) -> Body:
    offer = read_offer(call.body)
    hit_type = hits.find_hit_type(call.body["HITTypeId"], requester=call.requester)
    return _published(call, hit_type, offer)


def _published(call: Call, hit_type: HITType, offer: Offer) -> Body:
    return {"HIT": structures.hit(hits.publish(hit_type, offer=offer, now=call.now), now=call.now)}


def _type_values(call: Call) -> TypeValues:
    """Read the members HITs of a type share. Raises ApiError."""
    body = call.body
    return TypeValues(
        title=body["Title"],
        description=body["Description"],
        keywords=body.get("Keywords", ""),
        reward_cents=call.cents("Reward"),
        duration_seconds=body["AssignmentDurationInSeconds"],
        auto_approval_seconds=body.get("AutoApprovalDelayInSeconds", DEFAULT_AUTO_APPROVAL_SECONDS),
        requirements=[requirements.complete(given) for given in body.get("QualificationRequirements", [])],
    )


def read_offer(body: Body) -> Offer:
    """Read what one HIT adds. Raises ApiError, Refusal."""
    _check_source(body)
    _check_policies(body)
    _check_question(body["Question"])
    return Offer(
        question=body["Question"],
        max_assignments=body.get("MaxAssignments", 1),
        lifetime=timedelta(seconds=body["LifetimeInSeconds"]),
        annotation=body.get("RequesterAnnotation", ""),
        token=body.get("UniqueRequestToken"),
    )


def _check_source(body: Body) -> None:
    """One of Question and HITLayoutId, and no layout exists outside MTurk's own web pages."""
    if ("Question" in body) == ("HITLayoutId" in body):
        raise bad_value("", "Question", why="Exactly one of Question and HITLayoutId is needed")
    if "HITLayoutId" in body:
        raise Refusal("HITLayoutDoesNotExist", f"HITLayout {body['HITLayoutId']} does not exist.")


def _check_policies(body: Body) -> None:
    """A policy that nobody acts upon would approve or reject differently from what was asked."""
    for name in ("AssignmentReviewPolicy", "HITReviewPolicy"):
        if name in body:
            raise Refusal("ReviewPolicyNotSupported", f"This marketplace does not act upon {name}.")


def _check_question(document: str) -> None:
    """Raise ApiError unless the marketplace can show the question."""
    try:
        hit_questions.check(document, allow_http=settings.MARKETPLACE_ALLOW_HTTP_QUESTIONS)
    except hit_questions.BadAddress as error:
        raise bad_value(error.url, "ExternalURL", why=str(error)) from error
    except BadQuestion as error:
        raise bad_document(error) from error


def get_hit(call: Call) -> Body:
    return {"HIT": structures.hits([call.hit()], now=call.now)[0]}


def list_hits(call: Call) -> Body:
    live = HIT.objects.filter(requester=call.requester, disposed_at=None).select_related("hit_type")
    rows, token = call.page(live, scope="ListHITs")
    return listing("HITs", structures.hits(rows, now=call.now), token=token)


def list_reviewable_hits(call: Call) -> Body:
    """Reviewable HITs, or with Status those under review."""
    status = call.body.get("Status", HIT.Status.REVIEWABLE)
    reviewable = HIT.objects.reviewable(now=call.now).filter(requester=call.requester)
    if "HITTypeId" in call.body:
        reviewable = reviewable.filter(hit_type__type_id=call.body["HITTypeId"])
    reviewable = reviewable.filter(is_reviewing=status == HIT.Status.REVIEWING).select_related("hit_type")
    seen = visibility.wholly_seen(reviewable, now=call.now)
    rows, token = call.page(seen, scope=f"ListReviewableHITs {status}")
    return listing("HITs", structures.hits(rows, now=call.now), token=token)


def list_assignments_for_hit(call: Call) -> Body:
    hit, statuses = call.hit(), call.body.get("AssignmentStatuses")
    asked = Q(status__in=statuses) if statuses else Q(submitted_at__isnull=False)
    wanted = hit.assignments.filter(asked).select_related("hit", "worker")
    seen = visibility.seen(wanted, now=call.now)
    rows, token = call.page(seen, scope=hit.hit_id)
    return listing("Assignments", [structures.assignment(row) for row in rows], token=token)


def get_assignment(call: Call) -> Body:
    row = call.assignment()
    if row.status == Assignment.Status.OPEN:
        # The wording requesters match, "Reviewable" for submitted (turkserver#56).
        raise Refusal(
            "InvalidAssignmentState",
            "This operation can be called with a status of: Reviewable,Approved,Rejected",
        )
    return {"Assignment": structures.assignment(row), "HIT": structures.hits([row.hit], now=call.now)[0]}


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
}
