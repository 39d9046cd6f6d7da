"""What the marketplace shows of a call whose answer never came.

A HIT carries its call's token as RequesterAnnotation. A decision is the assignment's status, an expiration the HIT's.
More assignments and bonuses carry nothing of ours (API reference: MaxAssignments is a number, a BonusPayment has no
token), so they are told by a number written down before they were sent, and only one of them at a time is unsettled
on a HIT or an assignment.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone

from annotators.crowds.mturk import mirror
from annotators.crowds.mturk.gateway import Gateway, HITRecord
from annotators.models import HIT, Assignment, Call

BEFORE = "before"  # argument of a call: its number just before it was first sent
DOUBTED = "doubted_at"  # argument of a call: since when its token is used and nothing is shown for it
TOLD_BY_NUMBER = (Call.Operation.EXTEND, Call.Operation.BONUS)
SAME_TIME = timedelta(seconds=1)  # MTurk keeps times in seconds
Status = Assignment.Status


class Overtaken(Exception):
    """The call was not carried out and must not be any more; the message says why."""


def was_carried_out(call: Call, *, gateway: Gateway) -> bool:
    """Tell whether the marketplace shows the effect of an earlier attempt. Raises Overtaken, MarketError."""
    return _READINGS[Call.Operation(call.operation)](call, gateway)


def number(call: Call, *, gateway: Gateway) -> int:
    """Return what an extension or a bonus adds one to: assignments of the HIT, or bonuses of this amount.

    Bonuses are compared by amount and not by their reason, which a marketplace may store with other white space: taken
    for unpaid, one would be paid twice. What is done already counts even if the marketplace's lists lag behind.
    """
    if call.operation == Call.Operation.EXTEND:
        known, shown = HIT.objects.get(pk=hit_of(call).pk), gateway.get_hit(hit_of(call).hit_id)
        return max(known.max_assignments, shown.max_assignments)
    return max(booked(call), _n_paid(call, gateway))


def booked(call: Call) -> int:
    """Return the assignments of the HIT, or the bonuses of this amount, that our other calls explain."""
    if call.operation == Call.Operation.EXTEND:
        return _booked_places(call)
    amount = Decimal(call.arguments["amount"])
    ours = Call.objects.filter(assignment=call.assignment_id, operation=call.operation, state=Call.State.DONE)
    paid = ours.exclude(pk=call.pk).values_list("arguments", flat=True)
    return sum(Decimal(arguments["amount"]) == amount for arguments in paid)


def _booked_places(call: Call) -> int:
    of_hit = Call.objects.filter(hit=call.hit_id, state=Call.State.DONE).exclude(pk=call.pk)
    created = of_hit.filter(operation=Call.Operation.CREATE_HIT).first()
    if created is None:
        return int(call.arguments.get(BEFORE, hit_of(call).max_assignments))
    return int(created.arguments["max_assignments"]) + of_hit.filter(operation=Call.Operation.EXTEND).count()


def is_unexplained(call: Call, *, gateway: Gateway) -> bool:
    """Tell whether the marketplace shows an assignment more, or a bonus more, than our other calls explain.

    Where it says that a token was used, this tells whether it was used for this call. Raises MarketError.
    """
    if call.operation == Call.Operation.EXTEND:
        return gateway.get_hit(hit_of(call).hit_id).max_assignments > booked(call)
    if call.operation == Call.Operation.BONUS:
        return _n_paid(call, gateway) > booked(call)
    return was_carried_out(call, gateway=gateway)


def note_effect(call: Call, *, done_at: datetime | None = None) -> None:
    """Keep our own facts in step: assignments and end of a HIT may be shown late.

    An approval whose answer told when it was (`done_at`) need not be read back; one with words to the worker is, with
    them.
    """
    if call.operation == Call.Operation.APPROVE and done_at is not None and not call.arguments["feedback"]:
        mirror.note_approval(assignment_of(call), at=done_at)
    if call.operation == Call.Operation.EXTEND:
        largest = Greatest(F("max_assignments"), _number_before(call) + 1)
        HIT.objects.filter(pk=hit_of(call).pk).update(max_assignments=largest)
    if call.operation == Call.Operation.EXPIRE and not _is_overtaken(call):
        until = datetime.fromisoformat(call.arguments["expire_at"])
        HIT.objects.filter(pk=hit_of(call).pk).update(expires_at=until)


def is_noted(call: Call) -> bool:
    """Tell whether our row says already what a call about an assignment has made of it."""
    if (call.operation, call.state) != (Call.Operation.APPROVE, Call.State.DONE):
        return False
    return assignment_of(call).status == Status.APPROVED


def record_hit(call: Call, record: HITRecord) -> None:
    """Write the HIT of a CreateHIT call down, once."""
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


def hit_of(call: Call) -> HIT:
    assert call.hit is not None  # noqa: S101 (planned with its HIT)
    return call.hit


def assignment_of(call: Call) -> Assignment:
    assert call.assignment is not None  # noqa: S101 (planned with its assignment)
    return call.assignment


def ends_a_hit(call: Call) -> bool:
    """Tell whether a call only takes a HIT off the marketplace: it costs nothing, and another call takes it back."""
    if call.operation != Call.Operation.EXPIRE:
        return False
    return datetime.fromisoformat(call.arguments["expire_at"]) <= timezone.now()


def check_order(call: Call) -> None:
    """Raise Overtaken for an expiration after which another was set: it would open a stopped HIT again."""
    if call.operation == Call.Operation.EXPIRE and _is_overtaken(call):
        raise Overtaken("The HIT was given another expiration since.")


def _is_overtaken(call: Call) -> bool:
    later = Call.objects.filter(hit=call.hit_id, operation=Call.Operation.EXPIRE, pk__gt=call.pk)
    return later.exclude(state=Call.State.REFUSED).exists()


def _has_hit(call: Call, gateway: Gateway) -> bool:
    record = gateway.find_hit(annotation=call.token)
    if record:
        record_hit(call, record)
    return record is not None


def _is_extended(call: Call, gateway: Gateway) -> bool:
    return gateway.get_hit(hit_of(call).hit_id).max_assignments > _number_before(call)


def _is_paid(call: Call, gateway: Gateway) -> bool:
    return _n_paid(call, gateway) > _number_before(call)


def _number_before(call: Call) -> int:
    """Return the number before the call was sent; one without was sent after the backup that it came back from."""
    return int(call.arguments[BEFORE]) if BEFORE in call.arguments else booked(call)


def _n_paid(call: Call, gateway: Gateway) -> int:
    amount = Decimal(call.arguments["amount"])
    paid = gateway.list_bonuses(assignment_of(call).assignment_id)
    return sum(bonus.amount == amount for bonus in paid)


def _is_decided(call: Call, gateway: Gateway) -> bool:
    """A rejection is overturned by the same call that approves, so Approved is what both want."""
    record = gateway.get_assignment(assignment_of(call).assignment_id)
    wanted = Status.REJECTED if call.operation == Call.Operation.REJECT else Status.APPROVED
    if record.status == wanted:
        return True
    if call.operation == Call.Operation.REJECT and record.status == Status.APPROVED:
        raise Overtaken(
            f"It was approved on the marketplace before it could be rejected{_at(record.approved_at)}."
        )
    if call.operation == Call.Operation.APPROVE and record.status == Status.REJECTED:
        raise Overtaken(
            f"It was rejected on the marketplace before it could be approved{_at(record.rejected_at)}."
        )
    return False


def _at(moment: datetime | None) -> str:
    return f", at {moment:%Y-%m-%d %H:%M} UTC" if moment else ""


def _is_expiring(call: Call, gateway: Gateway) -> bool:
    """What should have expired and has, by whomever, needs no second call."""
    wanted, now = datetime.fromisoformat(call.arguments["expire_at"]), timezone.now()
    shown = gateway.get_hit(hit_of(call).hit_id).expires_at
    return abs(shown - wanted) < SAME_TIME or (wanted <= now and shown <= now)


_READINGS: dict[Call.Operation, Callable[[Call, Gateway], bool]] = {
    Call.Operation.CREATE_HIT: _has_hit,
    Call.Operation.EXTEND: _is_extended,
    Call.Operation.APPROVE: _is_decided,
    Call.Operation.REJECT: _is_decided,
    Call.Operation.OVERTURN: _is_decided,
    Call.Operation.EXPIRE: _is_expiring,
    Call.Operation.BONUS: _is_paid,
}
