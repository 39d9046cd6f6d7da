"""A bonus is written down once per form, within the budget, with who gave it, and paid by the sweep."""

import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.models import Assignment, Call, Channel, Worker
from marketplace import models as marketplace
from surveys import sync
from surveys.models import AuditEntry, Batch, Questionnaire
from surveys.publishing import bonuses, budget
from tests.factories import make_assignment, make_published
from tests.market_site import Site, eager, in_parallel, site, wire
from tests.market_study import open_study, sync_study, work

__all__ = ["eager", "in_parallel", "site", "wire"]
pytestmark = pytest.mark.django_db
NONCE = uuid.UUID(int=7)


@pytest.fixture
def questionnaire() -> Questionnaire:
    return make_published()


@pytest.fixture
def done(questionnaire) -> Assignment:
    return make_assignment(questionnaire.hit, status="Approved")


@pytest.fixture
def person() -> User:
    return User.objects.create_user("Ada")


def give(assignment, person, *, amount: str = "2.50", nonce: uuid.UUID = NONCE) -> Call:
    return bonuses.give(
        Assignment.objects.get(pk=assignment.pk),
        amount=Decimal(amount),
        reason="Careful work.",
        nonce=nonce,
        by=person,
    )


def test_a_bonus_is_planned_with_its_fee_and_who_gave_it(done, person):
    call = give(done, person)
    assert (call.state, call.operation, call.amount) == ("planned", "SendBonus", Decimal("3.00"))
    assert call.token == f"bonus:{uuid.uuid5(NONCE, done.assignment_id).hex}"
    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.outcome, entry.actor, entry.assignment) == ("bonus", "give", person, done)
    assert (entry.reason, entry.details) == (
        "Careful work.",
        {"amount": "2.50", "with_fee": "3.00", "call": call.pk},
    )


def test_the_smallest_bonus_costs_two_cents(done, person):
    assert give(done, person, amount="0.01").amount == Decimal("0.02")


def test_a_token_is_short_enough_for_mturk(done):
    done.assignment_id = "A" * 64
    assert len(bonuses.token_of(done, nonce=uuid.uuid4())) <= 64


def test_a_form_sent_twice_is_one_bonus(done, person):
    first, again = give(done, person), give(done, person, amount="9.00")
    assert (again.pk, again.amount, Call.objects.count()) == (first.pk, Decimal("3.00"), 1)
    assert AuditEntry.objects.count() == 1


def test_two_forms_are_two_bonuses(done, person):
    give(done, person)
    give(done, person, nonce=uuid.UUID(int=8))
    assert [bonus.amount for bonus in bonuses.given(done)] == [Decimal("2.50"), Decimal("2.50")]


def test_a_bonus_beyond_the_budget_is_not_written_down(done, person, questionnaire):
    committed = budget.money(questionnaire.batch).committed
    Batch.objects.update(budget=committed + Decimal("2.99"))
    with pytest.raises(budget.OverBudget, match=r"^It could cost \$3\.00, but \$2\.99 "):
        give(done, person)
    assert (Call.objects.count(), AuditEntry.objects.count()) == (0, 0)
    Batch.objects.update(budget=committed + Decimal("3.00"))
    assert give(done, person).state == "planned"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"channel": Channel.LINK}, "This worker came by link"),
        ({"channel": Channel.PANEL}, "This worker came by link"),
        (
            {"status": "Accepted", "submitted_at": None},
            "A bonus can be paid once the assignment is submitted.",
        ),
    ],
)
def test_where_no_bonus_can_be_paid(done, person, changes, sentence):
    Assignment.objects.update(**changes)
    with pytest.raises(bonuses.CannotPay, match=f"^{sentence}"):
        give(done, person)
    assert (Call.objects.count(), AuditEntry.objects.count()) == (0, 0)


def test_whose_id_was_erased_cannot_be_paid(done, person):
    Worker.objects.update(purged_at=timezone.now())
    with pytest.raises(bonuses.CannotPay, match="id was erased"):
        give(done, person)


@pytest.mark.parametrize("status", ["Submitted", "Approved", "Rejected"])
def test_submitted_and_decided_work_can_have_one(questionnaire, person, status):
    assert give(make_assignment(questionnaire.hit, status=status), person).state == "planned"


def test_a_bonus_whose_task_was_lost_is_paid_by_the_sweep(site: Site, eager, person):
    questionnaire = open_study(site)
    work(site, questionnaire)
    sync_study(site, questionnaire)
    call = give(Assignment.objects.get(), person)
    sync.sweep()
    assert marketplace.Bonus.objects.count() == 0  # its own task may still be on its way
    Call.objects.filter(pk=call.pk).update(created_at=timezone.now() - timedelta(minutes=6))
    sync.sweep()
    sync.sweep()
    paid = marketplace.Bonus.objects.get()
    assert (paid.cents, paid.fee_cents, paid.reason) == (250, 50, "Careful work.")
    assert [bonus.state for bonus in bonuses.given(Assignment.objects.get())] == ["Paid"]


def test_a_bonus_without_answer_is_paid_once_by_the_sweep(site: Site, eager, person):
    questionnaire = open_study(site)
    work(site, questionnaire)
    sync_study(site, questionnaire)
    call = give(Assignment.objects.get(), person)
    site.wire.lose.add("SendBonus")
    sync.settle_call(call.pk)
    assert [bonus.state for bonus in bonuses.given(Assignment.objects.get())] == [
        "No answer came; the marketplace is asked whether it was paid"
    ]
    site.wire.heal()
    marketplace.Token.objects.all().delete()
    sync.sweep()
    assert (Call.objects.get(pk=call.pk).state, marketplace.Bonus.objects.count()) == ("done", 1)
    assert site.spent() == 46 + 300


def test_a_form_sent_twice_at_once_is_one_bonus(site: Site, in_parallel, person):
    questionnaire = open_study(site)
    work(site, questionnaire)
    sync_study(site, questionnaire)
    found = Assignment.objects.get()
    calls = in_parallel(*[lambda: give(found, person)] * 4)
    assert len({call.pk for call in calls}) == 1
    in_parallel(*[lambda: sync.settle_call(calls[0].pk)] * 4)
    assert (marketplace.Bonus.objects.count(), site.wire.calls["SendBonus"]) == (1, 1)
    assert AuditEntry.objects.filter(kind="bonus").count() == 1
