"""Bonuses: paid at once from the money available, for submitted or decided work only."""

from datetime import datetime

from django.db import transaction

from marketplace import refusals
from marketplace.models import Assignment, Bonus, Token
from marketplace.money import ledger

OPERATION = "SendBonus"


@transaction.atomic
def send(
    assignment: Assignment, *, worker_id: str, cents: int, reason: str, token: str | None, now: datetime
) -> Bonus:
    """Pay the worker of an assignment. Raises Refusal for another worker's or open work, a used token, no money."""
    # MTurk does not know an assignment before it is submitted (Mephisto#1081).
    if assignment.status == Assignment.Status.OPEN or assignment.worker.worker_id != worker_id:
        raise refusals.assignment_does_not_exist(assignment.assignment_id)
    Token.objects.refuse_used(assignment.hit.requester, operation=OPERATION, token=token, now=now)
    # The higher fee of HITs with ten or more assignments is on the reward only.
    fee = ledger.fee_cents(cents, max_assignments=1)
    ledger.pay_bonus(assignment, cents=cents, fee=fee, now=now)
    Token.objects.remember(assignment.hit, operation=OPERATION, token=token, now=now)
    return Bonus.objects.create(assignment=assignment, cents=cents, fee_cents=fee, reason=reason, paid_at=now)
