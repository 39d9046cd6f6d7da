"""The bonus form in every state before axe-core, and paid by keyboard alone."""

from collections.abc import Callable, Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotators.models import Assignment, Call
from surveys.models import Questionnaire
from tests.accessible import faults
from tests.builders import make_questionnaire
from tests.factories import make_assignment

Visit = Callable[..., Page]


@pytest.fixture
def questionnaire(settings, tmp_path, site) -> Questionnaire:
    settings.MEDIA_ROOT = tmp_path
    return make_questionnaire()


@pytest.fixture
def done(questionnaire: Questionnaire) -> Assignment:
    return make_assignment(questionnaire.hit, status="Approved")


def path_of(assignment: Assignment) -> str:
    return reverse("assignment", args=[assignment.hit.questionnaire.batch_id, assignment.pk])


def fill(page: Page, *, reason: str) -> None:
    page.get_by_label("Bonus in dollars").fill("2.50")
    page.get_by_label("What it is for").fill(reason)
    page.get_by_role("button", name="Look at the bonus").click()


def states(page: Page, done: Assignment) -> Iterator[tuple[str, Page]]:
    yield "form", page
    fill(page, reason=" ")
    yield "refused", page
    fill(page, reason="You explained every answer with great care. Thank you!")
    yield "asked", page
    page.get_by_role("button", name="Change it").click()
    yield "changed", page
    page.get_by_role("button", name="Look at the bonus").click()
    page.get_by_role("button", name="Pay $3.00").click()
    Call.objects.update(state="unknown", error="Read timed out.")
    page.goto(path_of(done))
    yield "given", page


def test_the_bonus_form(visit: Visit, done: Assignment) -> None:
    page = visit(path_of(done))
    found = {name: faults(shown) for name, shown in states(page, done)}
    assert found == {"form": [], "refused": [], "asked": [], "changed": [], "given": []}


def test_a_bonus_is_given_by_keyboard_alone(visit: Visit, done: Assignment) -> None:
    page = visit(path_of(done))
    page.get_by_label("Bonus in dollars").focus()
    page.keyboard.type("2.50")
    page.keyboard.press("Tab")
    page.keyboard.type("Careful work.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Pay this bonus?")).to_be_visible()
    page.get_by_role("button", name="Pay $3.00").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The bonus is on its way.")).to_be_visible()
    assert Call.objects.get().arguments == {"amount": "2.50", "reason": "Careful work."}
