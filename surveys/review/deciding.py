"""What is decided about submitted assignments, by rule or by a person, and carrying it out."""

import dataclasses
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from annotators import ledger, links, market
from annotators.gateway import Gateway
from annotators.models import Assignment, Call, Channel
from surveys.models import Batch, Decision
from surveys.policies import APPROVE, FLAG, REJECT, Verdict, read_policy

OVERTURN_WITHIN = timedelta(days=30)  # MTurk: OverrideRejection only within 30 days of submission
FEEDBACK_MAX = 1024  # API reference: RequesterFeedback in characters
AUTO_APPROVED = "The marketplace approved it before we decided."
REJECTED_ELSEWHERE = "It was rejected on the marketplace, not here."
Status = Assignment.Status


class CannotDecide(Exception):
    """A person asked for a decision that is not possible now; the message says why."""


def decide(assignment: Assignment, *, batch: Batch) -> Verdict:
    """Judge a submitted assignment by the batch's policy. Pure: reads answers, writes nothing."""
    responses = list(assignment.responses.all())
    if assignment.saved_at is None or not responses:
        return Verdict(FLAG, "We have no complete answers for this assignment.")
    policy = read_policy(batch.review_policy, items_per_hit=batch.items_per_hit)
    return policy.decide([response.is_correct for response in responses])


def record_decision(assignment: Assignment, *, batch: Batch) -> Decision:
    """Write down what the policy says, once; a decision that exists is never changed by the rule."""
    verdict = decide(assignment, batch=batch)
    if assignment.status == Status.APPROVED:
        verdict = dataclasses.replace(verdict, verdict=APPROVE, reason=AUTO_APPROVED)
    if assignment.status == Status.REJECTED:
        verdict = dataclasses.replace(
            verdict, verdict=REJECT, reason=assignment.feedback or REJECTED_ELSEWHERE
        )
    decision, _ = Decision.objects.get_or_create(
        assignment=assignment,
        defaults={
            "verdict": verdict.verdict,
            "reason": verdict.reason,
            "n_correct": verdict.n_correct,
            "n_graded": verdict.n_graded,
            "policy": batch.review_policy,
            "decided_at": timezone.now(),
        },
    )
    return decision


def carry_out(assignment: Assignment, *, gateway: Gateway | None) -> Call | None:
    """Tell the marketplace what is decided by now, if it does not know yet. None if there is nothing to tell.

    What came by link is decided here and now; it needs no gateway.
    """
    if assignment.channel != Channel.MARKETPLACE or gateway is None:
        return _carry_out_here(assignment)
    decision = assignment.decision
    decision.refresh_from_db()
    if assignment.status == Status.SUBMITTED and decision.verdict == APPROVE:
        return market.approve(assignment, feedback=decision.reason, gateway=gateway)
    if assignment.status == Status.SUBMITTED and decision.verdict == REJECT:
        return market.reject(assignment, feedback=decision.reason, gateway=gateway)
    if assignment.status == Status.REJECTED and decision.overturned_at:
        return market.overturn(assignment, feedback=decision.overturn_reason, gateway=gateway)
    return None


def approve(assignment: Assignment, *, by: AbstractBaseUser, reason: str = "") -> Decision:
    """Record that a person approves; the next sync tells the marketplace."""
    return _by_person(assignment, APPROVE, by=by, reason=reason)


def reject(assignment: Assignment, *, by: AbstractBaseUser, reason: str) -> Decision:
    """Record that a person rejects, with the sentence the worker reads. CannotDecide without one."""
    _check_reason(reason, what="A rejection")
    return _by_person(assignment, REJECT, by=by, reason=reason.strip())


def overturn(assignment: Assignment, *, by: AbstractBaseUser, reason: str) -> Decision:
    """Record that a rejection is taken back and the worker paid after all; its replacement stays.

    The first person to do so is kept. Raises CannotDecide without a reason, too late, or with nothing to take back.
    """
    _check_reason(reason, what="Overturning a rejection")
    if assignment.status != Status.REJECTED:
        raise CannotDecide("Only a rejected assignment can be overturned.")
    submitted_at = assignment.submitted_at or timezone.now()
    if timezone.now() > submitted_at + OVERTURN_WITHIN:
        raise CannotDecide("MTurk lets a rejection be overturned within 30 days of submission only.")
    standing = Decision.objects.filter(assignment=assignment, overturned_at=None)
    standing.update(overturned_at=timezone.now(), overturned_by=by, overturn_reason=reason.strip())
    decision = Decision.objects.filter(assignment=assignment).first()
    if decision is None:
        raise CannotDecide("It was rejected elsewhere. Fetch the news of this HIT first, then overturn it.")
    _forget_refusal(assignment, Call.Operation.OVERTURN)
    return decision


def _check_reason(reason: str, *, what: str) -> None:
    if not reason.strip():
        raise CannotDecide(f"{what} needs a reason: the worker reads it.")
    if len(reason) > FEEDBACK_MAX:
        raise CannotDecide(f"MTurk passes on {FEEDBACK_MAX} characters of a reason; this one is longer.")


@transaction.atomic
def _by_person(assignment: Assignment, verdict: str, *, by: AbstractBaseUser, reason: str) -> Decision:
    assignment = Assignment.objects.select_for_update(no_key=True).get(pk=assignment.pk)
    if assignment.status != Status.SUBMITTED:
        raise CannotDecide(f"This assignment is {assignment.status} already.")
    if Call.objects.filter(assignment=assignment).exclude(state=Call.State.REFUSED).exists():
        raise CannotDecide("The marketplace is being told an earlier decision about this assignment.")
    changes = {"verdict": verdict, "reason": reason, "decided_by": by, "decided_at": timezone.now()}
    decision, _ = Decision.objects.update_or_create(assignment=assignment, defaults=changes)
    is_approval = verdict == APPROVE
    _forget_refusal(assignment, Call.Operation.APPROVE if is_approval else Call.Operation.REJECT)
    return decision


@transaction.atomic
def _carry_out_here(assignment: Assignment) -> None:
    """The lock keeps a person from deciding otherwise in the same moment."""
    Assignment.objects.select_for_update(no_key=True).get(pk=assignment.pk)
    decision = assignment.decision
    decision.refresh_from_db()
    if decision.overturned_at:
        links.overturn(assignment, feedback=decision.overturn_reason)
    elif decision.verdict == APPROVE:
        links.approve(assignment, feedback=decision.reason)
    elif decision.verdict == REJECT:
        links.reject(assignment, feedback=decision.reason)


def _forget_refusal(assignment: Assignment, operation: Call.Operation) -> None:
    """A person asked again: what the marketplace refused is sent once more, with the new words."""
    for call in Call.objects.filter(assignment=assignment, operation=operation):
        ledger.plan_again(call)
