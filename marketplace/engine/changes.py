"""What a requester changes about a HIT that exists: its review status and its type."""

from datetime import datetime

from django.db import transaction

from marketplace import refusals
from marketplace.engine import assignments, states
from marketplace.models import HIT, HITType
from marketplace.money import ledger
from marketplace.qualifications import requirements


@transaction.atomic
def set_reviewing(hit: HIT, *, is_reviewing: bool, now: datetime) -> None:
    """Move a HIT from Reviewable to Reviewing or back. Raises Refusal InvalidHITState from anywhere else."""
    hit = assignments.locked(hit.pk)
    needed = states.REVIEWABLE if is_reviewing else states.REVIEWING
    status = states.hit_status(hit, now=now)
    if status != needed:
        raise refusals.wrong_hit_state(hit.hit_id, status=status, allowed=needed)
    hit.is_reviewing = is_reviewing
    hit.save(update_fields=["is_reviewing"])


@transaction.atomic
def set_type(hit: HIT, *, hit_type: HITType, now: datetime) -> None:
    """Give a HIT the properties of another type. Raises Refusal InvalidHITState, InsufficientFunds.

    The reward stays once somebody has accepted the HIT: what was promised is what is paid.
    """
    requirements.check(hit_type.requirements)
    hit = assignments.locked(hit.pk)
    status = states.hit_status(hit, now=now)
    if status == states.DISPOSED or (hit.taken and hit.hit_type.reward_cents != hit_type.reward_cents):
        raise refusals.wrong_hit_state(hit.hit_id, status=status, allowed=states.ASSIGNABLE)
    ledger.set_hold(hit, slots=0, now=now)
    hit.hit_type = hit_type
    hit.save(update_fields=["hit_type"])
    assignments.settle(hit, now=now)
