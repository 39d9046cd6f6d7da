"""The way of a call: planned -> sent -> done | refused | unknown, and from unknown by reading to one of the others.

Nothing is sent twice without a reading in between, and what is repeated carries its first token. Within TOKEN_LIFE
that token is a second guard; a token MTurk has forgotten guards nothing, so then "not there" is believed only
SHOWN_WITHIN after the call was last sent.
"""

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from annotators.crowds.mturk.gateway import (
    AlreadyProcessed,
    Gateway,
    HITGone,
    HITRecord,
    MarketError,
    NotReady,
    Refused,
    Unreachable,
    WrongState,
)
from annotators.failpoints import reach
from annotators.models import HIT, IS_UNTOLD, Assignment, Call, Hold
from annotators.outbox import holds, outcomes, sending
from statements import Change, Hole, Moment, Statement, insert_new

IN_FLIGHT = timedelta(minutes=5)  # longer than a call, the reading before it and all retries can take
TOKEN_LENGTH = 64  # API reference: UniqueRequestToken in characters
TOKEN_LIFE = timedelta(hours=23)  # API reference: 24 hours; one less, for clocks that differ
# MTurk showed submitted work up to 7 minutes late (ParlAI#2957), new HITs up to one (simple-amt#25).
SHOWN_WITHIN = timedelta(minutes=15)
CLOCK_SKEW = timedelta(minutes=1)  # by which the clocks of two of our machines may differ
USED_FOR_ANOTHER = (
    "The marketplace has used this call's token before, and does not show what for: it may have been another call, "
    "before a restore."
)
State = Call.State
DECISIONS = (Call.Operation.APPROVE, Call.Operation.REJECT, Call.Operation.OVERTURN)
# MTurk's service model calls these not idempotent: repeated without a token, each is done once more.
NOT_IDEMPOTENT = (Call.Operation.CREATE_HIT, Call.Operation.EXTEND, Call.Operation.BONUS)
_DOUBTFUL: dict[type[MarketError], tuple[Call.Operation, ...]] = {
    Refused: NOT_IDEMPOTENT,
    NotReady: outcomes.TOLD_BY_NUMBER,  # a HIT found by its annotation can be looked for at any time
}
OF_OTHER_STEPS = (Call.Operation.CREATE_HIT, Call.Operation.EXTEND)


def token_of(purpose: str, assignment: Assignment) -> str:
    """Return the token of what is done once about an assignment: of the marketplace's id, which no restore changes.

    Our own keys are dealt out anew after one, and a token made of them would be another intent's.
    """
    token = f"{purpose}:{assignment.assignment_id}"
    if len(token) <= TOKEN_LENGTH:
        return token
    return f"{purpose}:{sha256(assignment.assignment_id.encode()).hexdigest()[:40]}"


def plan(token: str, operation: str, *, arguments: dict[str, Any], formerly: str = "", **fields: Any) -> Call:
    """Write the intent down, once per token. Its arguments can change until it is first sent.

    `formerly`: the token that an earlier version made for it, of keys that a restore deals out anew. An intent that
    was written down under it keeps it, because the marketplace may know it.
    """
    defaults = {"operation": operation, "arguments": arguments, **fields}
    written = {call.token: call for call in WRITTEN.all(token=token, formerly=formerly or token)}
    call = written.get(formerly) or written.get(token)
    if call is None:
        call = _written(token, defaults)
    if call.arguments != arguments:
        Call.objects.filter(pk=call.pk, state=State.PLANNED).update(arguments=arguments)
        call.refresh_from_db()
    reach("outbox.planned", of=operation)
    return call


def _under_either() -> QuerySet[Call]:
    token = Call._meta.get_field("token")
    return Call.objects.filter(token__in=[Hole("token", token), Hole("formerly", token)])


WRITTEN = Statement(_under_either)


def _written(token: str, fields: dict[str, Any]) -> Call:
    """Write an intent that was not there a moment ago; whoever was quicker has written the same."""
    call = Call(token=token, **fields)
    return call if insert_new(call, unique=("token",)) else Call.objects.get(token=token)


def plan_again(call: Call) -> bool:
    """Give a refused call, which the marketplace never carried out, another chance."""
    refused = Call.objects.filter(pk=call.pk, state=State.REFUSED)
    return refused.update(state=State.PLANNED, attempts=0, error="", finished_at=None) == 1


def distrust_plans() -> None:
    """After a restore: what was only planned in the backup may have been sent since, and is read before it is sent."""
    Call.objects.filter(state=State.PLANNED, sent_at=None).update(sent_at=timezone.now())


def settle_by_listing(call: Call, *, record: HITRecord) -> Call:
    """Settle a CreateHIT call by the HIT that a listing shows for its token, made before a restore.

    A call that another process is making is left to it.
    """
    if record.requester_annotation == call.token and _claim(call):
        outcomes.record_hit(call, record)
        _finish(call, State.DONE)
    return call


def unsettled() -> QuerySet[Call]:
    """Return the calls whose outcome is not known, and the planned ones that nobody else will make.

    A HIT or an assignment more, while it is planned only, is asked for by the step that still wants it.
    """
    now = timezone.now()
    sent = Q(state=State.SENT) & (Q(sent_at__lt=now - IN_FLIGHT) | Q(sent_at__gt=now + CLOCK_SKEW))
    left = Q(state=State.PLANNED) & (~Q(error="") | Q(created_at__lt=now - IN_FLIGHT))
    return Call.objects.filter(Q(state=State.UNKNOWN) | sent | left & ~Q(operation__in=OF_OTHER_STEPS))


def to_settle() -> QuerySet[Call]:
    """Return the unsettled calls that can be: about a HIT that is gone the marketplace tells nothing any more."""
    return unsettled().exclude(IS_UNTOLD)


def perform(call: Call, *, gateway: Gateway) -> Call:
    """Carry a call out, after reading where an earlier attempt may have; a finished call is left as it is.

    Raises nothing for outcomes: look at `call.state`. A call another process is making is left to it, and so is one
    that has to wait until another extension of its HIT, or bonus of its assignment, is settled.
    """
    last_sent = _last_sent(call)
    if holds.current() and not outcomes.ends_a_hit(call):
        return _held(call, gateway=gateway)
    if not _claim(call):
        return call
    reach("outbox.claimed", of=call.operation)
    if last_sent is None or _may_repeat(call, last_sent=last_sent, gateway=gateway):
        _send(call, last_sent=last_sent, gateway=gateway)
    return call


def _held(call: Call, *, gateway: Gateway) -> Call:
    """While sending is held, what may have been sent is read for, and the rest waits."""
    find_out(call, gateway=gateway)
    holds.say_why(call)
    return call


def find_out(call: Call, *, gateway: Gateway) -> Call:
    """Settle a call by reading only: done, refused, or planned again where it certainly was not carried out."""
    last_sent = _last_sent(call)
    if last_sent is None or not _claim(call) or not _is_absent(call, last_sent=last_sent, gateway=gateway):
        return call
    if timezone.now() < last_sent + SHOWN_WITHIN:
        _put_back(call, State.UNKNOWN, error=call.error, sent_at=last_sent)
    elif outcomes.DOUBTED in call.arguments:
        _finish(call, State.REFUSED, error=USED_FOR_ANOTHER)
    else:
        _put_back(call, State.PLANNED, sent_at=last_sent)
    return call


def _last_sent(call: Call) -> datetime | None:
    """Return when an attempt was sent that may have been carried out; None if there is none.

    A planned call that was sent before was refused as not ready; had its answer been mixed up by botocore's retries,
    the token would tell, as long as it lives. A time in the future was written before the clock was set back. A HIT
    that no book says was asked for can only have been made before a restore: the listing kept since then tells.
    """
    now = timezone.now()
    if call.operation == Call.Operation.CREATE_HIT and call.state == State.PLANNED and not call.attempts:
        return None
    if call.state == State.PLANNED and (call.sent_at is None or now < call.created_at + TOKEN_LIFE):
        return None
    return min(call.sent_at or call.created_at, now)


def _claim(call: Call) -> bool:
    """Take the call for this process: compare-and-set on its state and number of attempts.

    The constraint `one_unsettled_...` refuses a second extension of a HIT, or bonus of an assignment, meanwhile.
    """
    now = timezone.now()
    _forget_future(call, now=now)
    known = {"pk": call.pk, "state": call.state, "attempts": call.attempts, "now": now}
    if call.operation in DECISIONS:
        return _take(call, CLAIMED.rows(**known))
    try:
        with transaction.atomic():
            if call.state == State.PLANNED and outcomes.BEFORE in call.arguments:
                of_this_try = {
                    name: value for name, value in call.arguments.items() if name != outcomes.BEFORE
                }
                claimed = CLAIMED_ANEW.rows(**known, arguments=of_this_try)
            else:
                claimed = CLAIMED.rows(**known)
    except IntegrityError:
        claimed = []
    return _take(call, claimed)


def _claimable() -> QuerySet[Call]:
    overdue = Q(state=State.SENT, sent_at__lt=Moment("now") - IN_FLIGHT)
    free = Q(state__in=[State.PLANNED, State.UNKNOWN]) | overdue
    return Call.objects.filter(free, pk=THIS, state=Hole("state", STATE), attempts=ATTEMPTS)


STATE = Call._meta.get_field("state")
THIS, ATTEMPTS = Hole("pk", Call._meta.pk), Hole("attempts", Call._meta.get_field("attempts"))
SENDING: dict[str, Any] = {"state": State.SENT, "sent_at": Moment("now"), "attempts": F("attempts") + 1}
CLAIMED = Change(_claimable, **SENDING)
CLAIMED_ANEW = Change(_claimable, **SENDING, arguments=Hole("arguments", Call._meta.get_field("arguments")))
FINISHED = Change(
    lambda: Call.objects.filter(pk=THIS, state=State.SENT, attempts=ATTEMPTS),
    state=Hole("state", STATE),
    error=Hole("error", Call._meta.get_field("error")),
    finished_at=Moment("now"),
    hit=Hole("hit", HIT._meta.pk),
)


def _take(call: Call, written: Sequence[tuple[Any, ...]]) -> bool:
    """Take what was written of a call as what it is now; where nothing was, read it. Tell which."""
    if not written:
        _read_again(call)
        return False
    fields: Sequence[Any] = Call._meta.concrete_fields
    for field, value in zip(fields, written[0], strict=True):
        if field.name not in _kept(call) and field.is_relation and field.is_cached(call):
            field.delete_cached_value(call)
        setattr(call, field.attname, value)
    return True


def _forget_future(call: Call, *, now: datetime) -> None:
    """Where the clock was set back, a call in flight is given its time from now on; else it would wait for hours."""
    if call.state != State.SENT:
        return
    future = Call.objects.filter(pk=call.pk, state=State.SENT, sent_at__gt=now + CLOCK_SKEW)
    future.update(sent_at=now)


def _may_repeat(call: Call, *, last_sent: datetime, gateway: Gateway) -> bool:
    """Tell whether sending once more cannot do it twice; what the reading settles is recorded."""
    if not _is_absent(call, last_sent=last_sent, gateway=gateway):
        return False
    now = timezone.now()
    is_guarded = call.operation not in NOT_IDEMPOTENT or now < call.created_at + TOKEN_LIFE
    if is_guarded or now >= last_sent + SHOWN_WITHIN:
        return True
    _put_back(call, State.UNKNOWN, error="The marketplace does not show it, yet.", sent_at=last_sent)
    return False


def _is_absent(call: Call, *, last_sent: datetime, gateway: Gateway) -> bool:
    """Read the marketplace. What it shows settles the call; what cannot be read leaves it unknown."""
    try:
        if not outcomes.was_carried_out(call, gateway=gateway):
            return True
        _finish(call, State.DONE)
    except outcomes.Overtaken as error:
        _finish(call, State.REFUSED, error=str(error))
    except MarketError as error:
        _put_back(call, State.UNKNOWN, error=str(error), sent_at=last_sent)
    return False


def _send(call: Call, *, last_sent: datetime | None, gateway: Gateway) -> None:
    if not _is_prepared(call, gateway=gateway):
        return
    try:
        if _was_made_before_a_restore(call, gateway=gateway):
            return
        outcomes.check_order(call)
        done_at = sending.send(call, gateway=gateway)
    except AlreadyProcessed:
        _check_effect(call, first_sent=last_sent or call.sent_at, gateway=gateway)
    except outcomes.Overtaken as error:
        _finish(call, State.REFUSED, error=str(error))
    except WrongState as error:
        if _is_absent(call, last_sent=call.sent_at or timezone.now(), gateway=gateway):
            _finish(call, State.REFUSED, error=str(error))
    except MarketError as error:
        _not_done(call, error, last_sent=last_sent)
    else:
        reach("outbox.answered", of=call.operation)
        _finish(call, State.DONE, done_at=done_at)


def _was_made_before_a_restore(call: Call, *, gateway: Gateway) -> bool:
    """Look for a HIT, or an assignment more, made after the backup that was restored: MTurk forgets tokens in a day."""
    if call.operation not in OF_OTHER_STEPS or not (hold := holds.last_restore()):
        return False
    if call.operation == Call.Operation.CREATE_HIT:
        is_there = _is_listed(call, hold, gateway=gateway)
    else:
        is_there = outcomes.is_unexplained(call, gateway=gateway)
    if is_there:
        _finish_by_number(call)
    return is_there


def _is_listed(call: Call, hold: Hold, *, gateway: Gateway) -> bool:
    """Tell whether the account showed the call's HIT since the restore, and write it down.

    The account is listed once a restore, not once a call: what was made before shows in any later listing.
    """
    listing = holds.listing(hold, endpoint=gateway.endpoint)
    if listing is None or not _is_late_enough(listing, hold):
        prefix, now = call.token.partition(":")[0] + ":", timezone.now()
        ours = [hit for hit in gateway.list_hits() if hit.requester_annotation.startswith(prefix)]
        listing = holds.keep_listing(hold, endpoint=gateway.endpoint, records=ours, read_at=now)
    if call.token not in listing.hits:
        return False
    try:
        record = gateway.get_hit(listing.hits[call.token])
    except HITGone:
        return False
    outcomes.record_hit(call, record)
    return True


def _is_late_enough(listing: holds.Listing, hold: Hold) -> bool:
    """Tell whether a listing shows all that was made before the restore.

    One read at once may lack what was made just before, which the tokens tell for as long as they live.
    """
    return listing.read_at >= hold.began_at + SHOWN_WITHIN or timezone.now() < hold.began_at + TOKEN_LIFE


def _finish_by_number(call: Call) -> None:
    """Record what the marketplace shows beyond what our other calls explain as this call's effect."""
    if call.operation in outcomes.TOLD_BY_NUMBER:
        _write_argument(call, outcomes.BEFORE, outcomes.booked(call))
    _finish(call, State.DONE)


def _check_effect(call: Call, *, first_sent: datetime | None, gateway: Gateway) -> None:
    """The token was used before: by this call, if the marketplace shows more than our books explain without it.

    Else by another intent, before a restore. What is not shown for so long is believed not to be there.
    """
    try:
        is_there = outcomes.is_unexplained(call, gateway=gateway)
    except MarketError as error:
        _put_back(call, State.UNKNOWN, error=str(error), sent_at=first_sent)
        return
    if is_there:
        _finish_by_number(call)
    elif timezone.now() >= (_doubted_since(call) + SHOWN_WITHIN):
        _finish(call, State.REFUSED, error=USED_FOR_ANOTHER)
    else:
        _put_back(call, State.UNKNOWN, error=USED_FOR_ANOTHER, sent_at=first_sent)


def _doubted_since(call: Call) -> datetime:
    """Return when the marketplace first said that the token was used and did not show for what."""
    if outcomes.DOUBTED not in call.arguments:
        _write_argument(call, outcomes.DOUBTED, timezone.now().isoformat())
    return datetime.fromisoformat(call.arguments.get(outcomes.DOUBTED, timezone.now().isoformat()))


def _is_prepared(call: Call, *, gateway: Gateway) -> bool:
    """Write down, before the call is first sent, what its effect will be told by. Without that it is not sent."""
    if call.operation not in outcomes.TOLD_BY_NUMBER or outcomes.BEFORE in call.arguments:
        return True
    try:
        before = outcomes.number(call, gateway=gateway)
    except MarketError as error:
        _put_back(call, State.PLANNED, error=str(error))
        return False
    return _write_argument(call, outcomes.BEFORE, before)


def _write_argument(call: Call, name: str, value: object) -> bool:
    """Keep what was read beside the call's arguments, and tell whether the call is still claimed by us."""
    is_ours = _mine(call).update(arguments={**call.arguments, name: value}) == 1
    _read_again(call)
    return is_ours


def _not_done(call: Call, error: MarketError, *, last_sent: datetime | None) -> None:
    """Record a refusal, or leave the call open: planned where nothing can have happened, else unknown.

    A refusal after retries of botocore can be about what its first try did, a balance it used up for example.
    """
    may_have_happened = error.may_have_happened and call.operation in _DOUBTFUL.get(type(error), ())
    if may_have_happened or isinstance(error, Unreachable):
        _put_back(call, State.UNKNOWN, error=str(error), sent_at=call.sent_at)
    elif isinstance(error, Refused):
        _finish(call, State.REFUSED, error=str(error))
    else:
        _put_back(call, State.UNKNOWN if last_sent else State.PLANNED, error=str(error), sent_at=last_sent)


def _finish(call: Call, state: State, *, error: str = "", done_at: datetime | None = None) -> None:
    """Write an outcome down, and what it makes of our own facts; `done_at`: when, where the answer said so."""
    values = {"pk": call.pk, "attempts": call.attempts, "state": state, "error": error, "hit": call.hit_id}
    has_effect = state == State.DONE and (done_at is not None or call.operation not in DECISIONS)
    with transaction.atomic() if has_effect else nullcontext():
        if _take(call, FINISHED.rows(**values, now=timezone.now())) and has_effect:
            outcomes.note_effect(call, done_at=done_at)
    reach("outbox.finished", of=call.operation)


def _put_back(call: Call, state: State, *, error: str = "", sent_at: datetime | None = None) -> None:
    """Let go of the call. `sent_at` is when an attempt was last sent that may have been carried out."""
    _mine(call).update(state=state, error=error, sent_at=sent_at or call.sent_at)
    _read_again(call)


def _read_again(call: Call) -> None:
    """Read what became of the call."""
    kept = _kept(call)
    call.refresh_from_db(fields=[field.name for field in Call._meta.fields if field.name not in kept])


def _kept(call: Call) -> Collection[str]:
    """Return what is not read anew: a decision's assignment is the one that it was planned with."""
    return {"assignment"} if call.operation in DECISIONS else ()


def _mine(call: Call) -> QuerySet[Call]:
    """The row while it is claimed by us: a process that was held up too long has lost it to another."""
    return Call.objects.filter(pk=call.pk, state=State.SENT, attempts=call.attempts)
