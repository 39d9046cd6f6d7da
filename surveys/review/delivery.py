"""Telling the marketplace what is decided, and writing down where it was quicker."""

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone, translation

from annotators.crowds.base import by_market, crowd_of
from annotators.crowds.links import work as link_work
from annotators.crowds.mturk.gateway import Gateway
from annotators.failpoints import reach
from annotators.models import Assignment, Call
from annotators.outbox import market, outcomes
from surveys.models import Batch, Decision, Response
from surveys.protocols.rules import APPROVE, FLAG, PROPOSE, REJECT
from surveys.publishing import budget
from surveys.review.appeal_codes import with_code
from surveys.review.decisions import (
    MADE,
    answer_for_late,
    audit_decision,
    decide,
    late_reason,
    lock,
    outdated,
    reason_told,
)

Status = Assignment.Status
_HERE = {
    Call.Operation.APPROVE: link_work.approve,
    Call.Operation.REJECT: link_work.reject,
    Call.Operation.OVERTURN: link_work.overturn,
}


def carry_out(assignment: Assignment, *, gateway: Gateway | None) -> Call | None:
    """Tell the marketplace what is decided by now, if it does not know yet. None if there is nothing to tell.

    What it approved by itself meanwhile is written down as that. What came by link is decided here and now; it needs
    no gateway.
    """
    if gateway is None or not crowd_of(assignment).has_market:
        return _carry_out_here(assignment)
    call = _told(assignment, gateway=gateway)
    is_as_decided = call is not None and call.operation == Call.Operation.APPROVE
    if not is_as_decided and approved_late().filter(pk=assignment.pk).exists():
        _accept(assignment)
    return call


def approved_late() -> QuerySet[Assignment]:
    """Return what the marketplace approved although we have decided to reject it, or not decided at all.

    Not what it rejected for us first: that was overturned, here or there.
    """
    rejections = Call.objects.filter(
        assignment=OuterRef("pk"), operation=Call.Operation.REJECT, state=Call.State.DONE
    )
    never_rejected = Q(decision__verdict=REJECT, rejected_at=None) & ~Exists(rejections)
    return Assignment.objects.filter(
        Q(decision__verdict__in=[PROPOSE, FLAG]) | never_rejected,
        by_market(),
        status=Status.APPROVED,
        decision__overturned_at=None,
    )


def _told(assignment: Assignment, *, gateway: Gateway) -> Call | None:
    """Write down what the marketplace is to be told, from when on nobody decides otherwise; then tell it."""
    with transaction.atomic():
        if (due := _to_tell(assignment)) is None:
            return None
        operation, feedback = due
        call = market.plan_decision(assignment, operation, feedback=feedback, endpoint=gateway.endpoint)
    market.settle(call, gateway=gateway)
    if call.assignment is not assignment or not outcomes.is_noted(call):
        assignment.refresh_from_db()
    return call


def _to_tell(assignment: Assignment) -> tuple[Call.Operation, str] | None:
    """Return what is decided and not carried out, and what the worker reads of it.

    Call it in a transaction: the lock keeps a person from deciding otherwise in the same moment.
    """
    status = lock(assignment).status
    decision = MADE.get(assignment=assignment.pk)
    if status == Status.REJECTED and decision.overturned_at:
        return Call.Operation.OVERTURN, decision.overturn_reason
    if status != Status.SUBMITTED:
        return None
    if decision.verdict == APPROVE:
        return Call.Operation.APPROVE, decision.reason
    if decision.verdict == REJECT and not _is_outdated(decision):
        return Call.Operation.REJECT, _rejection(decision)
    return None


def _rejection(decision: Decision) -> str:
    """Return what the worker reads of a rejection, in the language of their answers."""
    with translation.override(_language_of(decision.assignment)):
        return with_code(decision.assignment, reason_told(decision))


def _language_of(assignment: Assignment) -> str:
    """Return what somebody read the questions in; where there was no choice, what the batch's pages are in."""
    read_in = Response.objects.filter(assignment=assignment).values_list("shown__language", flat=True).first()
    return read_in or assignment.hit.questionnaire.batch.page_language or settings.LANGUAGE_CODE


def _is_outdated(decision: Decision) -> bool:
    """Tell whether a rule has to judge again before anybody is rejected."""
    batch = Batch.objects.get(questionnaires__hit=decision.assignment.hit_id)
    return outdated(batch).filter(pk=decision.pk).exists()


@transaction.atomic
def _accept(assignment: Assignment) -> None:
    """Make the decision what the marketplace made of it, once."""
    budget.lock(assignment.hit.questionnaire.batch_id)
    before = Decision.objects.get(assignment=assignment)
    is_by_hand = before.verdict == FLAG and before.decided_by_id is not None
    batch = assignment.hit.questionnaire.batch
    wanted = decide(assignment, batch=batch).verdict if is_by_hand else before.verdict
    unapproved = Decision.objects.filter(pk=before.pk, verdict=before.verdict, overturned_at=None)
    is_first = unapproved.update(
        verdict=APPROVE,
        is_auto_approved=True,
        reason=late_reason(before.verdict, before.reason),
        decided_by=None,
        decided_at=timezone.now(),
    )
    if is_first:
        decision = Decision.objects.get(pk=before.pk)
        audit_decision(decision, before=before.verdict)
        answer_for_late(decision, wanted=wanted, reason=before.reason)
        reach("late.accepting")


@transaction.atomic
def _carry_out_here(assignment: Assignment) -> None:
    due = _to_tell(assignment)
    if due:
        operation, feedback = due
        _HERE[operation](assignment, feedback=feedback)
        if operation == Call.Operation.REJECT:
            reach("link.rejecting")
