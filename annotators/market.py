"""What we ask of the marketplace: HITTypes, HITs, more assignments, decisions. Each costs or decides once."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from annotators.fees import price
from annotators.gateway import Gateway, MarketError
from annotators.ledger import perform, plan
from annotators.mirror import mirror_assignment
from annotators.models import HIT, Assignment, Call, HITType


@dataclass(frozen=True, slots=True)
class HITTypeTerms:
    """What a HITType is made of; two equal terms are one HITType."""

    title: str
    description: str
    keywords: str
    reward: Decimal
    assignment_duration: timedelta
    auto_approval_delay: timedelta


def offer_hit_type(terms: HITTypeTerms, *, gateway: Gateway) -> HITType:
    """Return the HITType with these terms, registering it with the marketplace. Costs nothing; safe to repeat."""
    hit_type_id = gateway.create_hit_type(**asdict(terms))
    hit_type, _ = HITType.objects.get_or_create(
        endpoint=gateway.endpoint, hit_type_id=hit_type_id, defaults=asdict(terms)
    )
    return hit_type


def offer_hit(
    hit_type: HITType, *, token: str, url: str, lifetime: timedelta, max_assignments: int, gateway: Gateway
) -> Call:
    """Create one HIT for `token`, once. The call's `hit` is empty while its outcome is open or if it was refused."""
    call = plan(
        token,
        Call.Operation.CREATE_HIT,
        endpoint=gateway.endpoint,
        amount=price(hit_type.reward, max_assignments=max_assignments, n=max_assignments),
        arguments={
            "hit_type": hit_type.pk,
            "url": url,
            "lifetime": lifetime.total_seconds(),
            "max_assignments": max_assignments,
        },
    )
    return perform(call, gateway=gateway)


def approve(assignment: Assignment, *, feedback: str = "", gateway: Gateway) -> Call:
    return _decide(assignment, Call.Operation.APPROVE, feedback=feedback, gateway=gateway)


def reject(assignment: Assignment, *, feedback: str, gateway: Gateway) -> Call:
    return _decide(assignment, Call.Operation.REJECT, feedback=feedback, gateway=gateway)


def overturn(assignment: Assignment, *, feedback: str, gateway: Gateway) -> Call:
    """Approve a rejected assignment; MTurk allows it within 30 days of submission."""
    return _decide(assignment, Call.Operation.OVERTURN, feedback=feedback, gateway=gateway)


def extend(hit: HIT, *, token: str, gateway: Gateway) -> Call:
    """Open one more assignment on `hit`, once per token."""
    largest = hit.max_assignments + 1
    call = plan(
        token,
        Call.Operation.EXTEND,
        endpoint=gateway.endpoint,
        hit=hit,
        amount=price(hit.hit_type.reward, max_assignments=largest),
        arguments={"expected_max": largest},
    )
    return perform(call, gateway=gateway)


def move_expiration(hit: HIT, *, when: datetime, gateway: Gateway) -> Call:
    """Expire a HIT (a time that has passed) or keep it open until `when`."""
    token = f"expire:{hit.pk}:{int(when.timestamp())}"
    arguments = {"expire_at": when.isoformat()}
    call = plan(token, Call.Operation.EXPIRE, endpoint=gateway.endpoint, hit=hit, arguments=arguments)
    return perform(call, gateway=gateway)


def _decide(assignment: Assignment, operation: Call.Operation, *, feedback: str, gateway: Gateway) -> Call:
    call = plan(
        f"{operation.name.lower()}:{assignment.pk}",
        operation,
        endpoint=gateway.endpoint,
        hit=assignment.hit,
        assignment=assignment,
        amount=price(assignment.hit.hit_type.reward, max_assignments=assignment.hit.max_assignments),
        arguments={"feedback": feedback},
    )
    perform(call, gateway=gateway)
    _mirror_decision(assignment, gateway=gateway)
    return call


def _mirror_decision(assignment: Assignment, *, gateway: Gateway) -> None:
    try:
        mirror_assignment(assignment.hit, gateway.get_assignment(assignment.assignment_id))
    except MarketError:
        return  # the next sync reads it
    assignment.refresh_from_db()
