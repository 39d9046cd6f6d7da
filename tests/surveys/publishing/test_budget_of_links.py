"""Budgets where people come by link: drafts keep costing, and nothing is lost where the budget says no."""

from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.models import Assignment
from surveys.answering import allocation
from surveys.answering.allocation import NothingLeft
from surveys.models import AnnotationSlot, Batch, Replacement
from surveys.publishing import budget, quota
from surveys.review import analysis_use, decisions, delivery, due_work
from surveys.review.errors import CannotDecide
from surveys.review.surplus import surplus_of
from tests.link_people import (
    answered,
    make_batch,
    make_person,
    number_of,
    run_out,
    skipped,
    take,
    take_number,
)

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


@pytest.mark.parametrize("copies", [1, 2])
def test_who_leaves_stops_nobody_from_a_place_that_is_paid_for(copies: int):
    """The budget that is proposed is every place once; the draft of who left can still be handed in, and costs."""
    n_wanted = 4 * copies
    batch = make_batch(n_items=4, copies=copies, reward=D("0.38"), budget=D("0.38") * n_wanted)
    gone = take(batch, make_person())
    quota.let_go(batch, worker=gone.worker)
    numbers = [number_of(answered(take(batch, make_person()))) for _ in range(n_wanted - 1)]
    assert numbers == list(range(2, n_wanted + 1))
    with pytest.raises(NothingLeft, match="come back later"):
        take(batch, make_person())
    assert answered(take(batch, gone.worker)) == gone
    assert (budget.money(batch).left, quota.room(gone.hit.questionnaire).n_free) == (D("0.00"), 0)


def test_a_draft_that_costs_twice_holds_up_nobody_who_can_be_given_another_place():
    batch = make_batch(n_items=3, takes_links=True, reward=D("0.38"), budget=D("1.14"))
    run_out(take(batch, make_person()))
    bob = make_person()
    for number in (2, 3):
        assert allocation.suggest(batch, worker=bob) == number
        assert number_of(answered(take(batch, bob))) == number
    assert allocation.suggest(batch, worker=bob) is None
    with pytest.raises(NothingLeft, match="at the moment"):
        take(batch, bob)
    Batch.objects.update(budget=D("1.52"))
    assert allocation.suggest(Batch.objects.get(), worker=bob) == 1


def test_what_the_budget_does_not_cover_is_not_suggested_and_it_is_said_why():
    batch, bob = study("0.75"), make_person()
    run_out(take(batch, make_person()))
    with pytest.raises(NothingLeft, match="at the moment"):
        allocation.next_number(batch, worker=bob)
    Batch.objects.update(budget=D("0.76"))
    assert allocation.next_number(Batch.objects.get(), worker=bob) == 1


@pytest.mark.parametrize(("limit", "number"), [("0.83", None), ("0.84", 1)])
def test_beside_a_marketplace_only_what_the_budget_covers_is_suggested(limit: str, number: int | None):
    batch = study(limit, endpoint="embedded")
    assert allocation.suggest(batch, worker=make_person()) == number


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


def rejected(batch: Batch, person: User) -> Assignment:
    """Work that was rejected, and whose place was opened once more."""
    done = answered(take(batch, make_person()))
    decisions.reject(done, by=person, reason="Only letters.")
    delivery.carry_out(done, gateway=None)
    assert due_work.reopen(done.hit) == 1
    done.refresh_from_db()
    return done


@pytest.fixture
def person() -> User:
    return User.objects.create_user("carla", is_staff=True)


def test_an_overturned_rejection_costs_nothing_more_where_nobody_has_its_place(person: User):
    batch = study("0.38")
    done = rejected(batch, person)
    decisions.overturn(done, by=person, reason="We were wrong.")
    assert (AnnotationSlot.objects.count(), budget.money(batch).left) == (1, D("0.00"))
    assert due_work.reopen(done.hit) == 0


def test_an_overturned_rejection_costs_where_its_place_was_given_again(person: User):
    batch = study("0.75")
    done = rejected(batch, person)
    take(batch, make_person())
    with pytest.raises(CannotDecide):
        decisions.overturn(done, by=person, reason="We were wrong.")
    assert AnnotationSlot.objects.count() == 2
    Batch.objects.update(budget=D("0.76"))
    decisions.overturn(done, by=person, reason="We were wrong.")
    assert (AnnotationSlot.objects.count(), budget.money(Batch.objects.get()).left) == (2, D("0.00"))


def test_answers_used_again_take_back_the_place_that_nobody_has(person: User):
    batch = study("0.76")
    done = answered(take(batch, make_person()))
    analysis_use.exclude(done, by=person, reason="A bot?", replace=True)
    assert (due_work.reopen(done.hit), budget.money(batch).left) == (1, D("0.00"))
    analysis_use.include(done, by=person, reason="No bot.")
    assert (AnnotationSlot.objects.count(), budget.money(batch).left) == (1, D("0.38"))


def test_a_skipped_item_that_is_judged_after_all_takes_back_the_place_that_nobody_has():
    batch = study("0.76")
    done = skipped(take(batch, make_person()))
    assert AnnotationSlot.objects.filter(reopens__assignment=done).count() == 1
    done.responses.update(skip_reason="")
    answered(done)
    assert (AnnotationSlot.objects.count(), budget.money(batch).left) == (1, D("0.38"))


def test_a_place_that_a_marketplace_is_to_open_stays(person: User):
    batch = study(endpoint="embedded")
    done = rejected(batch, person)
    Replacement.objects.create(replaces=done, questionnaire=done.hit.questionnaire, opened_by="extend")
    decisions.overturn(done, by=person, reason="We were wrong.")
    assert AnnotationSlot.objects.filter(reopens__assignment=done, assignment=None).count() == 1


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
