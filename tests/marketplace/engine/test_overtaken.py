"""Somebody waits for a HIT's lock, and what they read before is not so any more once they have it."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from marketplace.accounts import keys
from marketplace.engine import assignments, hits
from marketplace.models import HIT, Assignment, Requester, Worker
from marketplace.site import frames
from tests.marketplace.engine.test_races import KIND, publish

pytestmark = pytest.mark.django_db(transaction=True)
NOW = timezone.now()


def overtaken(call: Callable[[], Any], *, by: Callable[[], Any]) -> Any:
    """Return what a call returns, or raises, that begins while `by` is done and not committed yet."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(call())
        except Exception as error:
            results.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    with transaction.atomic():
        by()
        thread.start()
        wait_until_it_waits()
    thread.join()
    return results[0]


def wait_until_it_waits() -> None:
    """SQLite's writers wait for the file, which nothing tells of: there it may as well begin after this."""
    if connection.vendor != "postgresql":
        return
    for _ in range(600):
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
            if cursor.fetchone():
                return
        time.sleep(0.05)
    raise AssertionError("Nobody waits.")


def worker() -> Worker:
    return keys.create_worker()[0]


@transaction.atomic
def take(hit: HIT, who: Worker) -> Assignment:
    locked = assignments.lock_next(hit.hit_type.type_id, worker=who, now=NOW)
    assert locked is not None
    return assignments.accept_locked(locked, worker=who, now=NOW)


def hand_in(assignment: Assignment) -> Assignment:
    form = {"assignmentId": [assignment.assignment_id], "workerId": [assignment.worker.worker_id]}
    return frames._record(form | {"answer": ["yes"]}, visitor="", now=NOW)


def test_whoever_waited_for_one_that_filled_has_the_next(requester: Requester) -> None:
    one, two = publish(requester), publish(requester)
    got = overtaken(lambda: take(one, worker()), by=lambda: take(one, worker()))
    assert got.hit == two
    assert list(HIT.objects.order_by("pk").values_list("pending", "is_open")) == [(1, False), (1, False)]


def test_whoever_waited_for_one_with_room_has_it_too(requester: Requester) -> None:
    one, _ = publish(requester, max_assignments=3), publish(requester)
    got = overtaken(lambda: take(one, worker()), by=lambda: take(one, worker()))
    assert (got.hit, HIT.objects.get(pk=one.pk).pending) == (one, 2)


def test_what_opens_meanwhile_is_found(requester: Requester) -> None:
    """The statement that waited has not seen it: it is asked for once more."""
    one, two = publish(requester), publish(requester)
    held = take(one, worker())

    def exchange() -> None:
        assert take(one, worker()).hit == two
        assignments.give_back(held, now=NOW)

    assert overtaken(lambda: take(one, worker()), by=exchange).hit == one


def test_two_that_hand_in_at_once_are_both_counted(requester: Requester) -> None:
    hit = publish(requester, max_assignments=2)
    one, other = (assignments.accept(hit, worker=worker(), now=NOW) for _ in range(2))
    assert overtaken(lambda: hand_in(one), by=lambda: hand_in(other)) == one
    assert HIT.objects.values_list("pending", "submitted").get() == (0, 2)


def test_what_was_taken_back_and_given_to_another_is_not_handed_in(requester: Requester) -> None:
    hit = publish(requester)
    held = assignments.accept(hit, worker=worker(), now=NOW)

    def take_back() -> None:
        assignments.give_back(held, now=NOW)
        assignments.accept(hit, worker=worker(), now=NOW)

    refusal = str(overtaken(lambda: hand_in(held), by=take_back))
    assert refusal in {
        "This assignment is not open any more.",
        "This assignment now belongs to another worker.",
    }
    assert list(Assignment.objects.order_by("pk").values_list("status", flat=True)) == ["Returned", "Open"]


def test_a_hit_that_changes_its_type_meanwhile_takes_what_is_handed_in(requester: Requester) -> None:
    hit = publish(requester)
    held = assignments.accept(hit, worker=worker(), now=NOW)
    other = hits.hit_type_for(requester, values=replace(KIND, title="Other"), now=NOW)
    got = overtaken(lambda: hand_in(held), by=lambda: hits.set_type(hit, hit_type=other, now=NOW))
    assert (got, got.hit.hit_type) == (held, other)
    assert HIT.objects.values_list("submitted", flat=True).get() == 1


def test_an_account_that_opens_again_meanwhile_has_an_assignment(
    requester: Requester, monkeypatch: pytest.MonkeyPatch
) -> None:
    hit, who, insert = publish(requester), worker(), assignments.insert_if
    Worker.objects.update(is_active=False)

    def then_opened(*row: Any, **values: Any) -> bool:
        is_written = insert(*row, **values)
        Worker.objects.update(is_active=True)
        return is_written

    monkeypatch.setattr(assignments, "insert_if", then_opened)
    assert assignments.accept(hit, worker=who, now=NOW) == Assignment.objects.get()
