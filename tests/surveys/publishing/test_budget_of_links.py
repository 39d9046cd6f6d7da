"""Budgets where people come by link: drafts keep costing, and nothing is lost where the budget says no."""

from decimal import Decimal

import pytest
from django.utils import timezone

from annotators.models import Assignment
from surveys.answering.allocation import NothingLeft
from surveys.models import AnnotationSlot, Batch
from surveys.publishing import budget, quota
from surveys.review import decisions, delivery
from surveys.review.surplus import surplus_of
from tests.link_people import answered, make_batch, make_person, run_out, skipped, take, take_number

pytestmark = pytest.mark.django_db
D = Decimal


def study(limit: str | None = None, **values) -> Batch:
    return make_batch(n_items=1, takes_links=True, reward=D("0.38"), budget=limit and D(limit), **values)


def paid(assignment: Assignment, batch: Batch) -> Assignment:
    decisions.record_decision(assignment, batch=batch)
    delivery.carry_out(assignment, gateway=None)
    assignment.refresh_from_db()
    return assignment


def test_free_place_is_given_to_the_last_cent():
    batch = study("0.38")
    take(batch, make_person())
    assert budget.money(batch).left == D("0.00")


def test_place_of_a_draft_is_not_given_twice_beyond_the_budget():
    batch = study("0.75")
    run_out(take(batch, make_person()))
    with pytest.raises(NothingLeft) as refused:
        take(batch, make_person())
    assert str(refused.value) == "There is nothing to do here at the moment. Please come back later."
    assert Assignment.objects.count() == 1


def test_a_number_is_not_given_beyond_the_budget():
    batch = study("0.75")
    run_out(take(batch, make_person()))
    with pytest.raises(NothingLeft):
        take_number(batch, 1, make_person())


def test_raised_budget_gives_the_place_away():
    batch = study("0.75")
    run_out(take(batch, make_person()))
    Batch.objects.update(budget=D("0.76"))
    take(batch, make_person())
    assert budget.money(Batch.objects.get()).left == D("0.00")


def test_skipped_item_is_wanted_again_once_the_budget_covers_it():
    batch = study("0.75")
    found = skipped(take(batch, make_person()))
    assert quota.reopen(found) is None
    Batch.objects.update(budget=D("0.76"))
    assert quota.reopen(found) is not None
    assert AnnotationSlot.objects.count() == 2


def test_late_answer_into_a_filled_place_is_kept_paid_and_surplus():
    batch, ann = study(), make_person()
    late = take(batch, ann)
    run_out(late)
    punctual = paid(answered(take(batch, make_person())), batch)
    assert take(batch, ann) == late  # who comes back finds their draft
    late = paid(answered(late), batch)
    assert (punctual.status, late.status) == ("Approved", "Approved")
    assert list(surplus_of(batch)) == [late]
    assert budget.money(batch).paid == D("0.76")


def test_late_answer_is_no_surplus_where_the_other_does_not_come():
    batch = study()
    late = take(batch, make_person())
    run_out(late)
    take(batch, make_person())
    paid(answered(late), batch)
    assert list(surplus_of(batch)) == []


def test_beside_a_marketplace_people_are_paid_on_top_of_the_places_held():
    batch = study("0.83", endpoint="embedded")  # one place held at $0.46
    with pytest.raises(NothingLeft):
        take(batch, make_person())
    Batch.objects.update(budget=D("0.84"))
    take(batch, make_person())


def test_an_answer_that_counts_is_not_wanted_again():
    batch = make_batch(n_items=1)
    assert quota.reopen(answered(take(batch, make_person()))) is None
    assert AnnotationSlot.objects.count() == 1


def test_whoever_reopens_a_place_second_adds_none(monkeypatch):
    """Both find the place not reopened yet; the second waits for the batch's lock and has to look again."""
    batch = make_batch(n_items=1)
    done = answered(take(batch, make_person()))
    Assignment.objects.update(status="Rejected", rejected_at=timezone.now())
    others, lock = iter([done]), budget.lock

    def wait(batch_pk):
        for other in others:
            assert quota.reopen(other) is not None
        return lock(batch_pk)

    monkeypatch.setattr(budget, "lock", wait)
    assert quota.reopen(done) is None
    assert AnnotationSlot.objects.filter(reopens__assignment=done).count() == 1
