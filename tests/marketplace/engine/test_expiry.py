"""The HITs of a batch expire together."""

from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from marketplace.accounts import keys
from marketplace.engine import assignments, deadlines
from marketplace.engine.hits import move_expiry
from marketplace.models import Entry, NotificationSetting
from marketplace.money import audit, ledger
from marketplace.refusals import Refusal, WorkerRefusal
from tests.marketplace.batches.batches_made import hits, published, work


def test_what_nobody_took_is_released_and_what_is_open_stays_held(requester):
    batch, now = published(requester, max_assignments=2), timezone.now()
    first, second = hits(batch)
    assignments.accept(first, worker=keys.create_worker()[0], now=now)
    work(second, worker=keys.create_worker()[0], answer="-")
    later = now + timedelta(days=1, seconds=1)
    deadlines.sweep(now=now + timedelta(minutes=50))
    assert ledger.balance_of(requester).held_cents == 4 * 46
    batch.hit_type.hits.update(expires_at=now + timedelta(minutes=55))
    deadlines.sweep(now=now + timedelta(minutes=56))
    balance = ledger.balance_of(requester)
    assert (balance.available_cents, balance.held_cents) == (100_000 - 2 * 46, 2 * 46)
    assert audit.report()["is_sound"] is True
    deadlines.sweep(now=later)
    assert ledger.balance_of(requester).held_cents == 46
    assert audit.report()["is_sound"] is True


def test_expiry_happens_once(requester):
    batch = published(requester)
    for _ in range(2):
        deadlines.sweep(now=timezone.now() + timedelta(days=2))
    assert Entry.objects.filter(source="held", target="available").count() == 2
    assert set(batch.hit_type.hits.values_list("held_slots", "is_expired")) == {(0, True)}


def test_who_read_the_clock_right_before_the_end_gets_nothing_after_it(requester):
    batch, before = published(requester), timezone.now()
    deadlines.sweep(now=before + timedelta(days=2))
    with pytest.raises(WorkerRefusal, match="No more of this HIT"):
        assignments.accept(hits(batch)[0], worker=keys.create_worker()[0], now=before)
    assert ledger.balance_of(requester).held_cents == 0


@pytest.mark.parametrize(
    ("step", "held"),
    [(assignments.give_back, 0), (partial(assignments.submit, answer="-"), 46), (assignments.abandon, 0)],
)
def test_a_clock_read_right_before_the_end_holds_nothing_again(requester, step, held):
    batch, before = published(requester, max_assignments=3), timezone.now()
    assignment = assignments.accept(hits(batch)[0], worker=keys.create_worker()[0], now=before)
    after = before + timedelta(minutes=1)
    batch.hit_type.hits.update(expires_at=after)
    deadlines.sweep(now=after)
    step(assignment, now=before)
    assert ledger.balance_of(requester).held_cents == held
    assert audit.report()["is_sound"] is True


def test_a_longer_life_holds_the_money_again(requester):
    batch, now = published(requester), timezone.now() + timedelta(days=2)
    deadlines.sweep(now=now)
    move_expiry(hits(batch)[0], expires_at=now + timedelta(days=1), now=now)
    assert ledger.balance_of(requester).held_cents == 5 * 46
    assert audit.report()["is_sound"] is True


def test_only_the_same_millisecond_is_no_new_end(requester):
    batch, now = published(requester), timezone.now()
    (hit, *_), end = hits(batch), now + timedelta(hours=1)
    for at in (end, end + timedelta(milliseconds=1)):
        move_expiry(hit, expires_at=at, now=now)
    with pytest.raises(Refusal):
        move_expiry(hit, expires_at=end, now=now)


def test_a_thousand_expire_in_few_queries(requester, django_assert_max_num_queries):
    published(requester, table=b"picture,question\n" + b"1,2\n" * 1000, max_assignments=1)
    with django_assert_max_num_queries(40):
        deadlines.sweep(now=timezone.now() + timedelta(days=2))
    assert ledger.balance_of(requester).held_cents == 0
    assert audit.report()["is_sound"] is True


def test_who_is_told_of_events_hears_of_every_hit(requester):
    batch = published(requester)
    NotificationSetting.objects.create(
        hit_type=batch.hit_type, destination="-", transport="SQS", version="-", event_types=["HITExpired"]
    )
    deadlines.sweep(now=timezone.now() + timedelta(days=2))
    told = requester.events.values_list("body__HITId", flat=True)
    assert sorted(told) == sorted(hit.hit_id for hit in hits(batch))
    assert audit.report()["is_sound"] is True


def test_of_two_who_let_a_hit_expire_at_a_time_one_tells_of_it(requester):
    """Both have seen that it is due; the other waits for its row, and finds it expired."""
    batch = published(requester)
    NotificationSetting.objects.create(
        hit_type=batch.hit_type, destination="-", transport="SQS", version="-", event_types=["HITExpired"]
    )
    due = [hit.pk for hit in hits(batch)]
    for _ in range(2):
        deadlines._expire(due, now=timezone.now() + timedelta(days=2))
    told = requester.events.values_list("body__HITId", flat=True)
    assert sorted(told) == sorted(hit.hit_id for hit in hits(batch))


def test_work_that_is_open_is_decided_by_nobody_and_what_is_decided_only_once(requester):
    """The engine's own rule: the API refuses an open assignment before it asks."""
    (hit, *_), now = hits(published(requester)), timezone.now()
    is_open = assignments.accept(hit, worker=keys.create_worker()[0], now=now)
    decided = work(hits(published(requester))[0], worker=keys.create_worker()[0], answer="-")
    reject, approve = (
        partial(assignments.reject, now=now, feedback="-"),
        partial(assignments.approve, now=now),
    )
    for decide in (reject, approve):
        with pytest.raises(Refusal, match="with a status of: null"):
            decide(is_open)
    reject(decided)
    for decide in (reject, approve):
        with pytest.raises(Refusal, match="with a status of: Submitted"):
            decide(decided)
    assert audit.report()["is_sound"] is True
