"""Bonuses that researchers give on top of a reward. The outbox pays them on the marketplace."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q

from annotators.crowds.base import crowd_of
from annotators.models import Assignment, Call, Worker
from annotators.outbox import market
from annotators.outbox.outcomes import assignment_of
from surveys import audit
from surveys.publishing import budget

STATES = {
    Call.State.PLANNED: "About to be paid",
    Call.State.SENT: "Being paid",
    Call.State.UNKNOWN: "No answer came; the marketplace is asked whether it was paid",
    Call.State.DONE: "Paid",
    Call.State.REFUSED: "Refused",
}


class CannotPay(Exception):
    """No bonus can be paid for this assignment; the message says why."""


@dataclass(frozen=True, slots=True)
class Bonus:
    """A bonus we gave: dollars for the worker, dollars with the fee, and what became of it."""

    amount: Decimal
    cost: Decimal
    reason: str
    state: str
    given_at: datetime
    error: str
    is_paid: bool
    assignment: Assignment


def give(
    assignment: Assignment,
    *,
    amount: Decimal,
    reason: str,
    nonce: uuid.UUID,
    by: AbstractBaseUser | AnonymousUser,
) -> Call:
    """Write a bonus down, once per nonce, however often its form is sent; `market.settle` pays it.

    Raises CannotPay, and OverBudget where the batch's budget does not cover it with its fee.
    """
    if problem := why_not(assignment):
        raise CannotPay(problem)
    token = token_of(assignment, nonce=nonce)
    formerly = f"bonus:{assignment.pk}:{nonce.hex}"
    with budget.spending(assignment.hit.questionnaire.batch):
        if known := Call.objects.filter(token__in=[token, formerly]).first():
            return known
        endpoint = assignment.hit.endpoint
        call = market.plan_bonus(assignment, amount=amount, reason=reason, token=token, endpoint=endpoint)
        details = {"amount": f"{amount:.2f}", "with_fee": f"{call.amount:.2f}", "call": call.pk}
        audit.record(audit.Kind.BONUS, "give", assignment=assignment, by=by, reason=reason, details=details)
    return call


def token_of(assignment: Assignment, *, nonce: uuid.UUID) -> str:
    """Return the token of a bonus for the marketplace's assignment, whatever key of ours it has after a restore."""
    return f"bonus:{uuid.uuid5(nonce, assignment.assignment_id).hex}"


def why_not(assignment: Assignment) -> str:
    """Return why no bonus can be paid for this assignment, or nothing.

    MTurk does not know an assignment before it is submitted (Mephisto#1081).
    """
    if not crowd_of(assignment).has_market:
        return "This worker came by link: there is no marketplace that could pay a bonus. Pay them as you agreed."
    if assignment.status == Assignment.Status.ACCEPTED:
        return "A bonus can be paid once the assignment is submitted."
    if assignment.worker.purged_at:
        return "This worker's id was erased: the marketplace can't be told whom to pay."
    return ""


def given(assignment: Assignment) -> list[Bonus]:
    """Return the bonuses of an assignment that we gave, oldest first. What others paid for it is not among them."""
    return _bonuses(Q(assignment=assignment))


def given_to(worker: Worker) -> list[Bonus]:
    """Return the bonuses we gave a worker, in all batches, oldest first; in one query."""
    return _bonuses(Q(assignment__worker=worker))


def _bonuses(wanted: Q) -> list[Bonus]:
    calls = Call.objects.filter(wanted, operation=Call.Operation.BONUS)
    with_batch = calls.select_related("assignment__hit__questionnaire__batch")
    return [
        Bonus(
            amount=Decimal(call.arguments["amount"]),
            cost=call.amount,
            reason=call.arguments["reason"],
            state=STATES[Call.State(call.state)],
            given_at=call.created_at,
            error=call.error,
            is_paid=call.state == Call.State.DONE,
            assignment=assignment_of(call),
        )
        for call in with_batch.order_by("created_at", "pk")
    ]
