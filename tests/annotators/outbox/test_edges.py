"""The limits of a call's way, each at its last and its first moment."""

from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from annotators.crowds.mturk.gateway import HITRecord
from annotators.models import Assignment, Call, Hold
from annotators.outbox import holds, journal, market, outcomes
from annotators.outbox.journal import _claim, _last_sent, token_of, unsettled
from tests.factories import make_assignment, make_hit

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)


def test_limits_are_those_of_their_sources() -> None:
    """API reference (64 characters, a day); ParlAI#2957 (7 minutes), with as much again; our own machines' clocks."""
    assert (journal.TOKEN_LENGTH, journal.TOKEN_LIFE, journal.SHOWN_WITHIN) == (64, 23 * HOUR, 15 * MINUTE)
    assert (journal.IN_FLIGHT, journal.CLOCK_SKEW, outcomes.SAME_TIME) == (5 * MINUTE, MINUTE, SECOND)


def test_a_token_is_as_long_as_may_be() -> None:
    fits, too_long = (Assignment(assignment_id="A" * n) for n in (58, 59))
    assert token_of("bonus", fits) == "bonus:" + "A" * 58
    hashed = token_of("bonus", too_long)
    assert (hashed[:6], len(hashed)) == ("bonus:", 46)
    assert hashed != token_of("bonus", Assignment(assignment_id="A" * 60))


@pytest.mark.parametrize(
    ("operation", "changes", "ends"),
    [("expire", -SECOND, True), ("expire", HOUR, False), ("extend", -SECOND, False), ("bonus", HOUR, False)],
)
def test_a_call_that_takes_a_hit_off_the_marketplace(operation: str, changes: timedelta, ends: bool) -> None:
    at = (timezone.now() + changes).isoformat()
    call = Call(operation=Call.Operation[operation.upper()], arguments={"expire_at": at})
    assert outcomes.ends_a_hit(call) is ends


def sent(**values: Any) -> Call:
    return Call(**{"operation": Call.Operation.APPROVE, "attempts": 1, "arguments": {}, **values})


def test_when_a_call_was_sent_that_may_have_been_carried_out() -> None:
    now = timezone.now()
    state, create = Call.State, Call.Operation.CREATE_HIT
    old, young = now - 23 * HOUR - MINUTE, now - 23 * HOUR + MINUTE
    at = now - HOUR
    assert [
        _last_sent(sent(**values))
        for values in (
            {"state": state.PLANNED, "sent_at": None, "created_at": old},
            {"state": state.PLANNED, "sent_at": at, "created_at": young},
            {"state": state.PLANNED, "sent_at": at, "created_at": old},
            {"state": state.PLANNED, "sent_at": at, "created_at": old, "operation": create},
            {"state": state.PLANNED, "sent_at": at, "created_at": old, "operation": create, "attempts": 0},
            {"state": state.UNKNOWN, "sent_at": at, "created_at": young, "operation": create, "attempts": 0},
            {"state": state.UNKNOWN, "sent_at": None, "created_at": young},
        )
    ] == [None, None, at, at, None, at, young]
    future = _last_sent(sent(state=state.UNKNOWN, sent_at=now + HOUR, created_at=young))
    assert now <= future <= timezone.now()


def stored(name: str, **values: Any) -> Call:
    created_at = values.pop("created_at", None)
    terms = {"operation": Call.Operation.APPROVE, "endpoint": "embedded", "arguments": {}, **values}
    call = Call.objects.create(token=name, **terms)
    if created_at:
        Call.objects.filter(pk=call.pk).update(created_at=created_at)
    return call


@pytest.mark.django_db
def test_what_is_unsettled_is_unknown_or_left_by_whoever_made_it() -> None:
    now, state = timezone.now(), Call.State
    long_ago, just_now = now - 5 * MINUTE - 2 * SECOND, now - 5 * MINUTE + MINUTE
    stored("unknown", state=state.UNKNOWN, sent_at=just_now)
    stored("left", state=state.SENT, sent_at=long_ago)
    stored("in flight", state=state.SENT, sent_at=just_now)
    stored("skewed", state=state.SENT, sent_at=now + MINUTE - 2 * SECOND)
    stored("future", state=state.SENT, sent_at=now + MINUTE + 30 * SECOND)
    stored("planned", state=state.PLANNED, created_at=just_now)
    stored("forgotten", state=state.PLANNED, created_at=long_ago)
    stored("told why", state=state.PLANNED, created_at=just_now, error="Held.")
    stored("of another step", state=state.PLANNED, created_at=long_ago, operation=Call.Operation.CREATE_HIT)
    stored("unknown hit", state=state.UNKNOWN, sent_at=just_now, operation=Call.Operation.CREATE_HIT)
    stored("done", state=state.DONE, sent_at=long_ago, finished_at=now)
    stored("refused", state=state.REFUSED, sent_at=long_ago, finished_at=now)
    found = set(unsettled().values_list("token", flat=True))
    assert found == {"unknown", "left", "future", "forgotten", "told why", "unknown hit"}


@pytest.mark.django_db
def test_a_call_is_taken_by_one_process_at_a_time() -> None:
    now, state = timezone.now(), Call.State
    free = {
        "planned": stored("planned", state=state.PLANNED),
        "unknown": stored("unknown", state=state.UNKNOWN, sent_at=now, attempts=2),
        "left": stored("left", state=state.SENT, sent_at=now - 5 * MINUTE - SECOND, attempts=1),
    }
    taken = {
        "in flight": stored("in flight", state=state.SENT, sent_at=now - 4 * MINUTE, attempts=1),
        "done": stored("done", state=state.DONE, sent_at=now, finished_at=now, attempts=1),
        "done long ago": stored("old", state=state.DONE, sent_at=now - HOUR, finished_at=now, attempts=1),
    }
    stale = Call.objects.get(token="unknown")
    assert {name: _claim(call) for name, call in free.items()} == dict.fromkeys(free, True)
    assert [(call.state, call.attempts) for call in free.values()] == [("sent", 1), ("sent", 3), ("sent", 2)]
    assert {name: _claim(call) for name, call in taken.items()} == dict.fromkeys(taken, False)
    assert _claim(stale) is False
    assert stale.attempts == 3


@pytest.mark.django_db
def test_a_refused_call_gets_another_chance_and_no_other_does() -> None:
    now = timezone.now()
    refused = stored("refused", state="refused", finished_at=now, attempts=4, error="No.")
    other = stored("other", state="refused", finished_at=now, attempts=4, error="No.")
    done = stored("done", state="done", finished_at=now)
    assert [journal.plan_again(call) for call in (refused, refused, done)] == [True, False, False]
    refused.refresh_from_db()
    assert (refused.state, refused.attempts, refused.error, refused.finished_at) == ("planned", 0, "", None)
    assert Call.objects.get(pk=other.pk).state == "refused"


@pytest.mark.django_db
def test_a_listing_is_kept_under_a_lock_of_its_own_transaction(monkeypatch: Any) -> None:
    hold = holds.begin("restored")
    depths, locked = [], QuerySet.select_for_update

    def watched(rows: QuerySet, **options: Any) -> QuerySet:
        depths.append(len(connection.savepoint_ids))
        return locked(rows, **options)

    monkeypatch.setattr(QuerySet, "select_for_update", watched)
    before = len(connection.savepoint_ids)
    holds.keep_listing(hold, endpoint="embedded", records=[], read_at=timezone.now())
    assert depths == [before + 1]
    assert list(Hold.objects.get().listings) == ["embedded"]


@pytest.mark.django_db
def test_a_listing_keeps_the_hits_that_nobody_here_knows() -> None:
    hit, now = make_hit(), timezone.now()
    records = [
        HITRecord(name, "Assignable", 3, created_at=now, expires_at=now, requester_annotation=note)
        for name, note in ((hit.hit_id, "known"), ("3MADE", "made after the backup"))
    ]
    kept = holds.keep_listing(
        holds.begin("restored"), endpoint=hit.hit_type.endpoint, records=records, read_at=now
    )
    assert kept.hits == {"made after the backup": "3MADE"}
    assert holds.listing(Hold.objects.get(), endpoint=hit.hit_type.endpoint) == kept


@pytest.mark.django_db
def test_while_sending_is_held_one_call_that_keeps_a_hit_open_waits() -> None:
    hit, expire = make_hit(), Call.Operation.EXPIRE
    waiting = stored("expire", state=Call.State.PLANNED, operation=expire, hit=hit)
    holds.begin("restored")
    assert market.move_expiration(hit, when=timezone.now() + HOUR, gateway=None) == waiting  # it is not asked


@pytest.mark.django_db
def test_bonuses_of_the_same_amount_explain_what_was_paid() -> None:
    one, other = (make_assignment(make_hit(), status="Submitted") for _ in range(2))

    def bonus(amount: str, **values: Any) -> Call:
        terms = {"assignment": one, "operation": Call.Operation.BONUS, "state": Call.State.DONE, **values}
        number = Call.objects.count()
        at = None if terms["state"] == Call.State.PLANNED else timezone.now()
        arguments = {"amount": amount, "reason": "Thanks"}
        return Call.objects.create(
            token=f"bonus:{number}",
            endpoint="embedded",
            hit=terms["assignment"].hit,
            arguments=arguments,
            finished_at=at,
            **terms,
        )

    call = bonus("1.00", state=Call.State.PLANNED)
    assert outcomes.booked(call) == 0
    for amount in ("0.50", "1.00", "1.0", "2.00"):
        bonus(amount)
    bonus("1.00", assignment=other)
    bonus("1.00", state=Call.State.REFUSED)
    bonus("1.00", operation=Call.Operation.APPROVE)
    assert outcomes.booked(call) == 2
    Call.objects.filter(pk=call.pk).update(state=Call.State.DONE, finished_at=timezone.now())
    assert outcomes.booked(call) == 2


@pytest.mark.django_db
def test_a_call_that_another_process_has_tried_since_is_not_taken() -> None:
    call = stored("unknown", state=Call.State.UNKNOWN, sent_at=timezone.now(), attempts=2)
    Call.objects.filter(pk=call.pk).update(attempts=3)
    assert _claim(call) is False
    assert (call.state, call.attempts) == ("unknown", 3)


@pytest.mark.django_db
def test_a_clock_that_was_set_back_changes_only_the_call_in_flight() -> None:
    now, state = timezone.now(), Call.State
    mine, _, done_since = (
        stored(name, state=state.SENT, sent_at=now + HOUR, attempts=1) for name in ("mine", "other", "done")
    )
    Call.objects.filter(pk=done_since.pk).update(state=state.DONE, finished_at=now)
    for call in (mine, done_since):
        journal._forget_future(call, now=now)
    at = dict(Call.objects.values_list("token", "sent_at"))
    assert at == {"mine": now, "other": now + HOUR, "done": now + HOUR}


@pytest.mark.django_db
@pytest.mark.parametrize(("operation", "is_kept"), [("approve", True), ("bonus", False)])
def test_only_a_decision_keeps_the_work_that_it_was_planned_with(operation: str, is_kept: bool) -> None:
    """The work a bonus is for may have been read long ago; that of a decision was read with it."""
    work = make_assignment(make_hit())
    call = stored("one", operation=Call.Operation[operation.upper()], assignment=work)
    journal._read_again(call)
    assert (call.assignment is work) is is_kept


@pytest.mark.django_db
def test_only_who_still_has_a_call_may_finish_it() -> None:
    now, state = timezone.now(), Call.State
    names = ("mine", "beside it", "taken by another", "done meanwhile")
    mine, _, taken, done = (stored(name, state=state.SENT, sent_at=now, attempts=1) for name in names)
    Call.objects.filter(pk=taken.pk).update(attempts=2)
    Call.objects.filter(pk=done.pk).update(state=state.DONE, finished_at=now)
    for call in (mine, taken, done):
        journal._finish(call, state.REFUSED, error="No.")
    assert list(Call.objects.order_by("pk").values_list("token", "state", "error")) == [
        ("mine", "refused", "No."),
        ("beside it", "sent", ""),
        ("taken by another", "sent", ""),
        ("done meanwhile", "done", ""),
    ]


@pytest.mark.django_db
def test_a_restore_distrusts_what_was_planned_and_never_sent() -> None:
    now, state = timezone.now(), Call.State
    stored("planned", state=state.PLANNED)
    stored("sent before", state=state.PLANNED, sent_at=now - HOUR)
    stored("found refused", state=state.REFUSED, finished_at=now)
    journal.distrust_plans()
    at = dict(Call.objects.values_list("token", "sent_at"))
    assert now <= at.pop("planned") <= timezone.now()
    assert at == {"sent before": now - HOUR, "found refused": None}


@pytest.mark.django_db
def test_why_it_waits_is_said_of_a_planned_call_alone() -> None:
    read_before = stored("sent since", state=Call.State.PLANNED)
    Call.objects.filter(pk=read_before.pk).update(state=Call.State.SENT, sent_at=timezone.now(), attempts=1)
    holds.say_why(read_before)
    assert (read_before.state, read_before.error) == ("sent", "")


@pytest.mark.django_db
def test_only_a_planned_expiration_waits_for_the_hold_to_end() -> None:
    hit, expire, now = make_hit(), Call.Operation.EXPIRE, timezone.now()
    waiting = stored("waits", state=Call.State.PLANNED, operation=expire, hit=hit)
    stored("done", state=Call.State.DONE, operation=expire, hit=hit, finished_at=now)
    stored("extend", state=Call.State.PLANNED, operation=Call.Operation.EXTEND, hit=hit)
    holds.begin("restored")
    assert market.move_expiration(hit, when=now + HOUR, gateway=None) == waiting  # it is not asked


@pytest.mark.django_db
def test_a_bonus_is_recognised_by_its_amount() -> None:
    call = stored(
        "bonus",
        operation=Call.Operation.BONUS,
        assignment=make_assignment(make_hit(), status="Submitted"),
        arguments={"amount": "1.00", "reason": "Thanks"},
    )
    shown = SimpleNamespace(
        list_bonuses=lambda _: [SimpleNamespace(amount=Decimal(n)) for n in ("0.5", "1", "2")]
    )
    assert outcomes._n_paid(call, shown) == 1
