"""The pages of a batch's money and of stopping it before axe-core, in every state; a budget raised by keyboard."""

from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotators.models import Call
from surveys.models import AuditEntry, Batch, Decision, Questionnaire
from tests.accessible import faults
from tests.builders import make_questionnaire
from tests.factories import make_assignment, make_draft, make_hit
from tests.factories import make_questionnaire as another

Visit = Callable[..., Page]
State = tuple[str, Page]


@pytest.fixture
def questionnaire(settings, tmp_path, site) -> Questionnaire:
    settings.MEDIA_ROOT = tmp_path
    return make_questionnaire(reward=Decimal("0.38"))


def work_on(questionnaire: Questionnaire) -> None:
    """One at work, one undecided, one paid with a bonus, one rejected."""
    _, _, paid, rejected = (
        make_assignment(questionnaire.hit, status=status)
        for status in ("Accepted", "Submitted", "Approved", "Rejected")
    )
    Decision.objects.create(
        assignment=rejected, verdict="reject", reason="None was right.", decided_at=timezone.now()
    )
    Call.objects.create(
        token="bonus:1", operation="SendBonus", endpoint="embedded", assignment=paid, amount=Decimal("0.24")
    )


def states(page: Page, questionnaire: Questionnaire) -> Iterator[State]:
    batch = questionnaire.batch
    path = reverse("batch", args=[batch.pk])
    page.goto(reverse("batch", args=[make_draft(batch.survey).pk]))
    yield "draft", page
    page.goto(path)
    yield "without budget", page
    work_on(questionnaire)
    for name, budget in (("with budget", "9.00"), ("held back", "2.30"), ("over", "1.00")):
        Batch.objects.filter(pk=batch.pk).update(budget=Decimal(budget))
        page.goto(path)
        yield name, page
    page.goto(reverse("batch_stop", args=[batch.pk]))
    yield "stop", page
    another(batch, items=[], hit=make_hit(expires_at=timezone.now()))
    Batch.objects.filter(pk=batch.pk).update(status="stopped")
    page.goto(path)
    yield "expiring", page


def test_pages_of_money(visit: Visit, questionnaire: Questionnaire) -> None:
    page = visit(reverse("batch", args=[questionnaire.batch_id]))
    found = {name: faults(shown) for name, shown in states(page, questionnaire)}
    names = ["draft", "without budget", "with budget", "held back", "over", "stop", "expiring"]
    assert found == {name: [] for name in names}


def test_a_budget_is_raised_by_keyboard_alone(visit: Visit, questionnaire: Questionnaire) -> None:
    page = visit(reverse("batch", args=[questionnaire.batch_id]))
    page.get_by_label("Set a budget, in dollars").focus()
    page.keyboard.type("12.50")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The budget is $12.50 now.")).to_be_visible()
    assert Batch.objects.get(pk=questionnaire.batch_id).budget == Decimal("12.50")
    assert AuditEntry.objects.get(kind="budget").actor.get_username() == "ada"
