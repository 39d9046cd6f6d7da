"""Many at once: no annotation is given twice, none is left lying, and nobody gets more than they may."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal

import pytest
from django.db import connection, connections, transaction
from django.db.models import Q
from django.utils import timezone

from annotators.models import Assignment, Channel, Worker
from surveys.answering.allocation import NothingLeft, NotYours
from surveys.models import AnnotationSlot, Batch, Questionnaire
from surveys.publishing import budget, quota
from tests.factories import open_for
from tests.link_people import make_batch, make_person, run_out, skipped, take, take_number

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(call: Callable[[Worker], Assignment], people: list[Worker]) -> list[Assignment | None]:
    def one(person: Worker) -> Assignment | None:
        try:
            return call(person)
        except (NothingLeft, NotYours):
            return None
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(one, people))


def test_ten_people_get_ten_different_annotations() -> None:
    batch = make_batch(n_items=5, copies=2)
    people = [make_person() for _ in range(10)]
    given = at_once(lambda person: take(batch, person), people)
    slots = AnnotationSlot.objects.filter(batch=batch).values_list("assignment", flat=True)
    assert sorted(slots) == sorted(a.pk for a in given if a)
    assert len(set(slots)) == 10


def test_one_number_goes_to_one_of_eight() -> None:
    batch = make_batch(n_items=1)
    given = at_once(lambda person: take_number(batch, 1, person), [make_person() for _ in range(8)])
    assert len([a for a in given if a]) == 1
    assert Assignment.objects.count() == 1


def test_one_person_in_eight_tabs_gets_one() -> None:
    batch, ann = make_batch(n_items=8), make_person()
    given = at_once(lambda person: take(batch, person, limit=1), [ann] * 8)
    assert len({a.pk for a in given if a}) == 1
    assert Assignment.objects.count() == 1


def test_one_that_ran_out_goes_to_one_of_eight() -> None:
    batch = make_batch(n_items=1)
    late = take(batch, make_person())
    run_out(late)
    given = at_once(lambda person: take(batch, person), [make_person() for _ in range(8)])
    assert len([a for a in given if a]) == 1
    assert AnnotationSlot.objects.filter(batch=batch).count() == 2


def test_two_people_with_two_tabs_each_do_all_of_it() -> None:
    batch = make_batch(n_items=6, copies=2)
    ann, bob = make_person(), make_person()
    numbers = {ann: [1, 2, 3, 4, 5, 6], bob: [7, 8, 9, 10, 11, 12]}
    for pair in zip(*numbers.values(), strict=True):
        wanted = dict(zip((ann, bob), pair, strict=True))
        at_once(lambda person, wanted=wanted: take_number(batch, wanted[person], person), [ann, bob] * 2)
    assert Assignment.objects.count() == 12
    assert {n: p.pk for p, ns in numbers.items() for n in ns} == dict(
        AnnotationSlot.objects.values_list("number", "assignment__worker")
    )


def test_postgresql_passes_over_what_another_is_taking() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    batch, ann = make_batch(n_items=2), make_person()
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT 1 FROM surveys_annotationslot WHERE number = 1 FOR UPDATE")
        given = at_once(lambda person: take(batch, person), [ann])
        cursor.execute("ROLLBACK")
    assert [a.annotation_slot.number for a in given if a] == [2]


def test_what_is_judged_after_all_waits_for_nobody_who_is_taking_its_place() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    batch = make_batch(n_items=1)
    mine = skipped(take(batch, make_person()))
    mine.responses.update(skip_reason="")

    def withdraw(_: Worker) -> Assignment:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '3s'")
            quota.withdraw(mine)
        return mine

    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT 1 FROM surveys_annotationslot WHERE number = 2 FOR UPDATE")
        at_once(withdraw, [mine.worker])
        cursor.execute("ROLLBACK")
    slots = AnnotationSlot.objects.filter(batch=batch)
    assert list(slots.order_by("number").values_list("number", flat=True)) == [1, 2]
    at_once(withdraw, [mine.worker])
    assert slots.get().number == 1


def test_passing_on_and_reopening_at_once_stop_nobody() -> None:
    batch = make_batch(n_items=1, copies=8)
    given = [take(batch, make_person()) for _ in range(8)]
    for late in given[:4]:
        run_out(late)
    comers = [make_person() for _ in range(4)]

    def act(person: Worker) -> Assignment | None:
        mine = next((one for one in given[4:] if one.worker_id == person.pk), None)
        return skipped(mine) if mine else take(batch, person)

    people = [
        person for pair in zip(comers, [one.worker for one in given[4:]], strict=True) for person in pair
    ]
    assert None not in at_once(act, people)
    wanted = AnnotationSlot.objects.filter(batch=batch, reopened_as=None)
    # Who comes after one was passed on is given that one, and what ran out is left.
    to_be_had = wanted.filter(Q(assignment=None) | Q(leased_until__lt=timezone.now()))
    assert (wanted.count(), to_be_had.count()) == (8, 4)


def test_link_and_marketplace_at_once_never_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The marketplace's worker holds the questionnaire before the one by link asks for the batch."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    batch = make_batch(
        n_items=1, copies=2, takes_links=True, endpoint="embedded", reward=Decimal("0.38"), budget=Decimal(50)
    )
    run_out(take(batch, make_person()))
    give, spending = quota.give, budget.spending
    has_questionnaire, has_batch = threading.Event(), threading.Event()

    def give_later(slot: AnnotationSlot, *, assignment: Assignment) -> bool:
        if assignment.channel == Channel.MARKETPLACE:
            has_questionnaire.set()
            has_batch.wait(2)
        return give(slot, assignment=assignment)

    @contextmanager
    def spending_seen(of: Batch) -> Iterator[None]:
        with spending(of):
            has_batch.set()
            yield

    monkeypatch.setattr(quota, "give", give_later)
    monkeypatch.setattr(budget, "spending", spending_seen)
    by_link, on_market = make_person(), make_person()

    def act(person: Worker) -> Assignment:
        if person == on_market:
            return open_for(Questionnaire.objects.get(), worker="AMARKET")
        has_questionnaire.wait(10)
        return take(batch, person)

    given = at_once(act, [by_link, on_market])
    assert len({a.pk for a in given if a}) == 2
