"""Only who was quicker is asked again; any other fault of the database is heard."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError

from annotators.models import Assignment, Channel, Worker
from surveys.answering import allocation
from surveys.answering.allocation import NothingLeft, NotYours
from surveys.answering.orders import draw_responses
from surveys.models import Response
from tests import factories
from tests.link_people import make_batch, make_person, number_of, take, take_number

pytestmark = pytest.mark.django_db


def given_elsewhere(worker: Worker) -> None:
    """The same person is given the same HIT by another way, in this very moment."""
    hit = Assignment.objects.get(worker=worker).hit
    factories.make_assignment(hit, worker=worker, channel=Channel.LINK)


def broken(worker: Worker) -> None:
    """Something else is against the rules of the database."""
    Assignment.objects.filter(worker=worker).update(status="Approved")


def interfere(monkeypatch: pytest.MonkeyPatch, *, how: Callable[[Worker], None], times: int) -> list[Any]:
    tries: list[Any] = []

    def draw(questionnaire: Any, *, assignment: Assignment, **known: bool) -> Any:
        tries.append(assignment.pk)
        if len(tries) <= times:
            how(assignment.worker)
        return draw_responses(questionnaire, assignment=assignment, **known)

    monkeypatch.setattr(allocation, "draw_responses", draw)
    return tries


def test_who_was_overtaken_by_themselves_asks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = interfere(monkeypatch, how=given_elsewhere, times=1)
    ann = make_person()
    assert number_of(take(make_batch(n_items=2), ann)) == 1
    assert (len(tries), Assignment.objects.count(), Response.objects.count()) == (2, 1, 1)


def test_who_is_always_overtaken_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = interfere(monkeypatch, how=given_elsewhere, times=99)
    with pytest.raises(NothingLeft, match=r"^Somebody was quicker\. Please try again\.$"):
        take(make_batch(), make_person())
    assert (len(tries), Assignment.objects.count()) == (allocation.TRIES, 0)


def test_a_number_taken_by_another_way_shows_what_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    interfere(monkeypatch, how=given_elsewhere, times=1)
    with pytest.raises(NotYours, match=r"^Annotation 1 shows what you have seen already\.$"):
        take_number(make_batch(), 1, make_person())


@pytest.mark.parametrize("ask", [take, lambda batch, worker: take_number(batch, 1, worker)])
def test_another_fault_of_the_database_is_not_hidden(
    monkeypatch: pytest.MonkeyPatch, ask: Callable[..., Assignment]
) -> None:
    tries = interfere(monkeypatch, how=broken, times=1)
    with pytest.raises(IntegrityError, match="time"):
        ask(make_batch(), make_person())
    assert (len(tries), Assignment.objects.count()) == (1, 0)
