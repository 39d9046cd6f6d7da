"""What we ask of the marketplace: HITTypes, HITs, more assignments, decisions. Each costs or decides once."""

from dataclasses import asdict
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TypedDict, Unpack

from django.utils import timezone

from annotators.crowds.base import HITTypeTerms
from annotators.crowds.mturk.fees import price
from annotators.crowds.mturk.gateway import Gateway, HITRecord, MarketError
from annotators.crowds.mturk.mirror import mirror_assignment
from annotators.models import HIT, Assignment, Call, HITType
from annotators.outbox import holds, outcomes
from annotators.outbox.journal import (
    DECISIONS,
    TOKEN_LENGTH,
    find_out,
    perform,
    plan,
    settle_by_listing,
    token_of,
)

OVERTURN_WITHIN = timedelta(days=30)  # MTurk: OverrideRejection only within 30 days of submission
FEEDBACK_MAX = 1024  # API reference: RequesterFeedback in characters


def offer_hit_type(terms: HITTypeTerms, *, gateway: Gateway) -> HITType:
    """Return the HITType with these terms, registering it with the marketplace. Costs nothing; safe to repeat."""
    hit_type_id = gateway.create_hit_type(**asdict(terms))
    hit_type, _ = HITType.objects.get_or_create(
        endpoint=gateway.endpoint, hit_type_id=hit_type_id, defaults=asdict(terms)
    )
    return hit_type


class Offer(TypedDict):
    """One HIT to be: its token, the address its frame shows, how long it is open, and for how many."""

    token: str
    url: str
    lifetime: timedelta
    max_assignments: int


def offer_hit(hit_type: HITType, *, gateway: Gateway, **offer: Unpack[Offer]) -> Call:
    """Create one HIT for its token, once. The call's `hit` is empty while its outcome is open or if it was refused."""
    return perform(_planned_hit(hit_type, offer, endpoint=gateway.endpoint), gateway=gateway)


def take_over(hit_type: HITType, *, record: HITRecord, gateway: Gateway, **offer: Unpack[Offer]) -> Call:
    """Write down the HIT that was made for this token before a restore, as it was listed. Nothing is sent or read."""
    call = _planned_hit(hit_type, offer, endpoint=gateway.endpoint)
    return settle_by_listing(call, record=record)


def _planned_hit(hit_type: HITType, offer: Offer, *, endpoint: str) -> Call:
    n = offer["max_assignments"]
    return plan(
        offer["token"],
        Call.Operation.CREATE_HIT,
        endpoint=endpoint,
        amount=price(hit_type.reward, max_assignments=n, n=n),
        arguments={
            "hit_type": hit_type.pk,
            "url": offer["url"],
            "lifetime": offer["lifetime"].total_seconds(),
            "max_assignments": n,
        },
    )


def plan_decision(assignment: Assignment, operation: Call.Operation, *, feedback: str, endpoint: str) -> Call:
    """Write down one of DECISIONS, each once per assignment; `settle` tells it. The worker reads the feedback.

    What is rejected can be overturned for OVERTURN_WITHIN of its submission.
    """
    purpose = operation.name.lower()
    return plan(
        token_of(purpose, assignment),
        operation,
        formerly=f"{purpose}:{assignment.pk}",
        endpoint=endpoint,
        hit=assignment.hit,
        assignment=assignment,
        amount=price(assignment.hit.hit_type.reward, max_assignments=assignment.hit.max_assignments),
        arguments={"feedback": feedback},
    )


def extend(hit: HIT, *, token: str, formerly: str = "", gateway: Gateway) -> Call:
    """Open one more assignment on `hit`, once per token. It stays planned while another one of the HIT is unsettled."""
    call = plan(
        token,
        Call.Operation.EXTEND,
        formerly=formerly,
        endpoint=gateway.endpoint,
        hit=hit,
        amount=price(hit.hit_type.reward, max_assignments=hit.max_assignments + 1),
        arguments={},
    )
    return perform(call, gateway=gateway)


def extend_for(replaced: Assignment, hit: HIT, *, gateway: Gateway) -> Call:
    """Open the assignment on `hit` that replaces another one, once for each."""
    token, formerly = token_of("replace", replaced), f"replace:{replaced.pk}"
    return extend(hit, token=token, formerly=formerly, gateway=gateway)


def move_expiration(hit: HIT, *, when: datetime, gateway: Gateway) -> Call:
    """Expire a HIT (a time that has passed) or keep it open until `when`.

    While sending is held, one call that is to keep it open waits; a HIT is taken off the marketplace at any time.
    """
    if when > timezone.now() and holds.current():
        waiting = Call.objects.filter(hit=hit, operation=Call.Operation.EXPIRE, state=Call.State.PLANNED)
        if call := waiting.order_by("pk").last():
            return call
    second = int(when.timestamp())
    call = plan(
        f"expire:{hit.hit_id}:{second}"[-TOKEN_LENGTH:],
        Call.Operation.EXPIRE,
        formerly=f"expire:{hit.pk}:{second}",
        endpoint=gateway.endpoint,
        hit=hit,
        arguments={"expire_at": when.isoformat()},
    )
    return perform(call, gateway=gateway)


def plan_bonus(assignment: Assignment, *, amount: Decimal, reason: str, token: str, endpoint: str) -> Call:
    """Write down a bonus of `amount` dollars, once per token; `settle` pays it. The worker reads the reason.

    The fee is that of a HIT of any size: MTurk's higher one for ten or more assignments is on rewards only.
    """
    return plan(
        token,
        Call.Operation.BONUS,
        endpoint=endpoint,
        hit=assignment.hit,
        assignment=assignment,
        amount=price(amount, max_assignments=1),
        arguments={"amount": f"{amount:.2f}", "reason": reason},
    )


def settle(call: Call, *, gateway: Gateway) -> Call:
    """Make a planned call, or settle one that is left: read what became of it, and repeat it where it certainly did
    not happen.

    A HIT or an assignment more is only read for: the step that asked for it may not want it any more. Safe to run at
    once in several processes; a call that is settled is left as it is.
    """
    if call.operation in (Call.Operation.CREATE_HIT, Call.Operation.EXTEND):
        return find_out(call, gateway=gateway)
    perform(call, gateway=gateway)
    if call.assignment and call.operation in DECISIONS and not outcomes.is_noted(call):
        _mirror_decision(call.assignment, gateway=gateway)
    return call


def _mirror_decision(assignment: Assignment, *, gateway: Gateway) -> None:
    try:
        mirror_assignment(assignment.hit, gateway.get_assignment(assignment.assignment_id))
    except MarketError:
        return  # the next sync reads it
