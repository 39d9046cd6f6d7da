"""Calls that cost money or decide about a person: intent row, call, outcome row; and the mirror of MTurk's facts.

A call whose answer never came stays `sent`. It is settled by reading the marketplace before it is repeated, and
it is repeated with the same token, which MTurk remembers for 24 hours.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from annotators.fees import price
from annotators.gateway import (
    AlreadyProcessed,
    AssignmentRecord,
    Gateway,
    HITRecord,
    MarketError,
    NotReady,
    Refused,
    Unreachable,
    WrongState,
)
from annotators.models import HIT, Assignment, Call, HITType, Worker
from annotators.questions import external_question

IN_FLIGHT = timedelta(minutes=3)  # longer than any call with its retries can take
LEASE = timedelta(minutes=10)
State = Call.State


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


def plan_again(call: Call) -> bool:
    """Give a refused call, which the marketplace never carried out, another chance."""
    refused = Call.objects.filter(pk=call.pk, state=State.REFUSED)
    return refused.update(state=State.PLANNED, attempts=0, error="", finished_at=None) == 1


def approve(assignment: Assignment, *, feedback: str = "", gateway: Gateway) -> Call:
    return _decide(assignment, Call.Operation.APPROVE, feedback=feedback, gateway=gateway)


def reject(assignment: Assignment, *, feedback: str, gateway: Gateway) -> Call:
    return _decide(assignment, Call.Operation.REJECT, feedback=feedback, gateway=gateway)


def overturn(assignment: Assignment, *, feedback: str, gateway: Gateway) -> Call:
    """Approve a rejected assignment; MTurk allows it within 30 days of submission."""
    return _decide(assignment, Call.Operation.OVERTURN, feedback=feedback, gateway=gateway)


def extend(hit: HIT, *, token: str, gateway: Gateway) -> Call:
    """Open one more assignment on `hit`, once per token."""
    amount = price(hit.hit_type.reward, max_assignments=hit.max_assignments + 1)
    call = plan(token, Call.Operation.EXTEND, endpoint=gateway.endpoint, hit=hit, amount=amount)
    if call.state == State.PLANNED:
        Call.objects.filter(pk=call.pk, state=State.PLANNED).update(
            arguments={"expected_max": hit.max_assignments + 1}
        )
        call.refresh_from_db()
    return perform(call, gateway=gateway)


def move_expiration(hit: HIT, *, when: datetime, gateway: Gateway) -> Call:
    """Expire a HIT (a time that has passed) or keep it open until `when`."""
    token = f"expire:{hit.pk}:{int(when.timestamp())}"
    arguments = {"expire_at": when.isoformat()}
    call = plan(token, Call.Operation.EXPIRE, endpoint=gateway.endpoint, hit=hit, arguments=arguments)
    return perform(call, gateway=gateway)


def fetch(hit: HIT, *, gateway: Gateway) -> list[Assignment]:
    """Mirror the HIT and its submitted assignments; returns ours, in the order of submission."""
    mirror_hit(hit, gateway.get_hit(hit.hit_id))
    records = gateway.list_assignments(hit.hit_id)
    mirrored = [mirror_assignment(hit, record) for record in records]
    return sorted(mirrored, key=lambda assignment: (assignment.submitted_at or timezone.now(), assignment.pk))


def mirror_hit(hit: HIT, record: HITRecord) -> None:
    hit.status = record.status
    hit.max_assignments = record.max_assignments
    hit.expires_at = record.expires_at
    hit.synced_at = timezone.now()
    hit.save(update_fields=["status", "max_assignments", "expires_at", "synced_at"])


@transaction.atomic
def mirror_assignment(hit: HIT, record: AssignmentRecord) -> Assignment:
    """Write the marketplace's facts about one submission on our row for that worker, or on a new one.

    A worker has one assignment a HIT, so (HIT, WorkerId) finds the row even where a return and a second accept
    have changed the AssignmentId.
    """
    worker, _ = Worker.objects.get_or_create(source=hit.endpoint, worker_id=record.worker_id)
    facts = {
        "assignment_id": record.assignment_id,
        "status": record.status,
        "accepted_at": record.accepted_at,
        "submitted_at": record.submitted_at,
        "auto_approval_at": record.auto_approval_at,
        "approved_at": record.approved_at,
        "rejected_at": record.rejected_at,
        "feedback": record.feedback,
        "answer_xml": record.answer_xml,
    }
    assignment, _ = Assignment.objects.update_or_create(hit=hit, worker=worker, defaults=facts)
    return assignment


@contextmanager
def lease(hit: HIT) -> Iterator[bool]:
    """Yield True to the one task that may work on this HIT now. A lease that was never given back runs out."""
    now = timezone.now()
    free = Q(leased_until__isnull=True) | Q(leased_until__lt=now)
    until = now + LEASE
    is_ours = HIT.objects.filter(free, pk=hit.pk).update(leased_until=until) == 1
    try:
        yield is_ours
    finally:
        if is_ours:
            HIT.objects.filter(pk=hit.pk, leased_until=until).update(leased_until=None)


def plan(token: str, operation: str, **fields: Any) -> Call:
    """Write the intent down, once per token."""
    call, _ = Call.objects.get_or_create(token=token, defaults={"operation": operation, **fields})
    return call


def perform(call: Call, *, gateway: Gateway) -> Call:
    """Carry a planned call out and record its outcome; a finished call is left as it is.

    Raises nothing for outcomes: look at `call.state`. A call another process is making is left to it.
    """
    if not _claim(call):
        return call
    try:
        if call.attempts > 1 and _was_carried_out(call, gateway=gateway):
            _finish(call, State.DONE)
        else:
            _ACTIONS[Call.Operation(call.operation)](call, gateway)
            _finish(call, State.DONE)
    except AlreadyProcessed:
        _finish(call, State.DONE)
    except (NotReady, Unreachable) as error:
        _postpone(call, error)
    except (WrongState, Refused) as error:
        _finish(call, State.REFUSED, error=str(error))
    return call


def due_calls() -> list[Call]:
    """Return calls that were planned or sent and whose outcome is still open, oldest first."""
    stale = Q(state=State.PLANNED) | Q(state=State.SENT, sent_at__lt=timezone.now() - IN_FLIGHT)
    return list(
        Call.objects.filter(stale).select_related("hit__hit_type", "assignment").order_by("created_at")
    )


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


def _claim(call: Call) -> bool:
    """Take the call for this process: compare-and-set on its number of attempts."""
    now = timezone.now()
    free = Q(state=State.PLANNED) | Q(state=State.SENT, sent_at__lt=now - IN_FLIGHT)
    is_ours = Call.objects.filter(free, pk=call.pk, attempts=call.attempts).update(
        state=State.SENT, sent_at=now, attempts=F("attempts") + 1
    )
    call.refresh_from_db()
    return is_ours == 1


def _finish(call: Call, state: State, *, error: str = "") -> None:
    Call.objects.filter(pk=call.pk).update(
        state=state, error=error, finished_at=timezone.now(), hit=call.hit, arguments=call.arguments
    )
    call.refresh_from_db()


def _postpone(call: Call, error: MarketError) -> None:
    """NotReady: nothing happened, plan it again. Unreachable: stay `sent` until reading settles it."""
    state = State.PLANNED if isinstance(error, NotReady) else State.SENT
    Call.objects.filter(pk=call.pk).update(state=state, error=str(error))
    call.refresh_from_db()


def _send_create(call: Call, gateway: Gateway) -> None:
    terms = call.arguments
    hit_type = HITType.objects.get(pk=terms["hit_type"])
    try:
        record = gateway.create_hit(
            hit_type_id=hit_type.hit_type_id,
            question=external_question(terms["url"]),
            lifetime=timedelta(seconds=terms["lifetime"]),
            max_assignments=terms["max_assignments"],
            annotation=call.token,
            token=call.token,
        )
    except AlreadyProcessed as done:
        record = gateway.get_hit(done.hit_id)
    _record_hit(call, record)


def _record_hit(call: Call, record: HITRecord) -> None:
    call.hit, _ = HIT.objects.get_or_create(
        hit_type_id=call.arguments["hit_type"],
        hit_id=record.hit_id,
        defaults={
            "status": record.status,
            "max_assignments": record.max_assignments,
            "created_at": record.created_at,
            "expires_at": record.expires_at,
            "requester_annotation": record.requester_annotation,
        },
    )


def _send_extend(call: Call, gateway: Gateway) -> None:
    gateway.extend(_hit(call).hit_id, n=1, token=call.token)


def _send_decision(call: Call, gateway: Gateway) -> None:
    assert call.assignment is not None  # noqa: S101 (a decision is planned with its assignment)
    assignment_id, feedback = call.assignment.assignment_id, call.arguments["feedback"]
    if call.operation == Call.Operation.REJECT:
        gateway.reject(assignment_id, feedback=feedback)
    else:
        is_overturned = call.operation == Call.Operation.OVERTURN
        gateway.approve(assignment_id, feedback=feedback, override_rejection=is_overturned)


def _send_expire(call: Call, gateway: Gateway) -> None:
    gateway.expire_at(_hit(call).hit_id, when=datetime.fromisoformat(call.arguments["expire_at"]))


_ACTIONS = {
    Call.Operation.CREATE_HIT: _send_create,
    Call.Operation.EXTEND: _send_extend,
    Call.Operation.APPROVE: _send_decision,
    Call.Operation.REJECT: _send_decision,
    Call.Operation.OVERTURN: _send_decision,
    Call.Operation.EXPIRE: _send_expire,
}


def _was_carried_out(call: Call, *, gateway: Gateway) -> bool:
    """Read the marketplace: has an earlier attempt of this call, whose answer we never got, taken effect?"""
    if call.operation == Call.Operation.CREATE_HIT:
        record = gateway.find_hit(annotation=call.token)
        if record:
            _record_hit(call, record)
        return record is not None
    if call.operation == Call.Operation.EXTEND:
        return gateway.get_hit(_hit(call).hit_id).max_assignments >= int(call.arguments["expected_max"])
    if call.assignment is None:
        return False
    wanted = "Rejected" if call.operation == Call.Operation.REJECT else "Approved"
    return gateway.get_assignment(call.assignment.assignment_id).status == wanted


def _hit(call: Call) -> HIT:
    assert call.hit is not None  # noqa: S101 (planned with its HIT)
    return call.hit
