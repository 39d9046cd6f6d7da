"""The ledger of calls that cost money or decide about a person: intent row, call, outcome row.

A call whose answer never came stays `sent`. It is settled by reading the marketplace, or repeated with the same
token, which MTurk remembers for 24 hours.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q
from django.utils import timezone

from annotators.gateway import (
    AlreadyProcessed,
    Gateway,
    HITRecord,
    MarketError,
    NotReady,
    Refused,
    Unreachable,
    WrongState,
)
from annotators.models import HIT, Call, HITType
from annotators.questions import external_question

IN_FLIGHT = timedelta(minutes=5)  # longer than a call, the reading before it and all retries can take
TOKEN_LIFE = timedelta(hours=23)  # API reference: 24 hours; one less, for clocks that differ
State = Call.State


def plan(token: str, operation: str, *, arguments: dict[str, Any], **fields: Any) -> Call:
    """Write the intent down, once per token. Its arguments can change until it is first sent."""
    defaults = {"operation": operation, "arguments": arguments, **fields}
    call, _ = Call.objects.get_or_create(token=token, defaults=defaults)
    if call.arguments != arguments:
        Call.objects.filter(pk=call.pk, state=State.PLANNED).update(arguments=arguments)
        call.refresh_from_db()
    return call


def plan_again(call: Call) -> bool:
    """Give a refused call, which the marketplace never carried out, another chance."""
    refused = Call.objects.filter(pk=call.pk, state=State.REFUSED)
    return refused.update(state=State.PLANNED, attempts=0, error="", finished_at=None) == 1


def perform(call: Call, *, gateway: Gateway) -> Call:
    """Carry a planned call out and record its outcome; a finished call is left as it is.

    Raises nothing for outcomes: look at `call.state`. A call another process is making is left to it.
    """
    is_unsettled = call.state == State.SENT
    if not _claim(call):
        return call
    try:
        _carry_out(call, is_unsettled=is_unsettled, gateway=gateway)
        _finish(call, State.DONE)
    except Refused as error:
        _finish(call, State.REFUSED, error=str(error))
    except NotReady as error:
        _postpone(call, error, state=State.SENT if is_unsettled else State.PLANNED)
    except MarketError as error:
        _postpone(call, error, state=State.SENT)
    return call


def _carry_out(call: Call, *, is_unsettled: bool, gateway: Gateway) -> None:
    """Do what the call says unless an earlier attempt has; raises MarketError, of its kinds not AlreadyProcessed."""
    if is_unsettled and _was_carried_out(call, gateway=gateway):
        return
    try:
        _ACTIONS[Call.Operation(call.operation)](call, gateway)
    except AlreadyProcessed:
        return
    except WrongState as error:
        if not _was_carried_out(call, gateway=gateway):
            raise Refused(str(error)) from error


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


def _postpone(call: Call, error: MarketError, *, state: State) -> None:
    """Leave the call `planned` where nothing can have happened, else `sent` until reading settles it."""
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
        record = _made_before(call, done.hit_id, gateway=gateway)
    _record_hit(call, record)


def _made_before(call: Call, hit_id: str, *, gateway: Gateway) -> HITRecord:
    record = gateway.get_hit(hit_id) if hit_id else gateway.find_hit(annotation=call.token)
    if record is None:
        raise Unreachable("The marketplace says that the HIT exists, but does not list it yet.")
    return record


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
        if timezone.now() < call.created_at + TOKEN_LIFE:
            return (
                False  # repeating it with its token is safe, and tells it from another extension of this HIT
            )
        return gateway.get_hit(_hit(call).hit_id).max_assignments >= int(call.arguments["expected_max"])
    if call.assignment is None:
        return False
    wanted = "Rejected" if call.operation == Call.Operation.REJECT else "Approved"
    return gateway.get_assignment(call.assignment.assignment_id).status == wanted


def _hit(call: Call) -> HIT:
    assert call.hit is not None  # noqa: S101 (planned with its HIT)
    return call.hit
