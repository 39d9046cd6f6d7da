"""The pages on which a person decides about work, in every state, before axe-core; and by keyboard alone."""

from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotators.models import Assignment
from surveys.models import Inclusion, Questionnaire, Replacement
from surveys.review import analysis_use, decisions
from tests.accessible import faults
from tests.builders import make_questionnaire
from tests.factories import submitted

Visit = Callable[..., Page]
State = tuple[str, Page]


@pytest.fixture
def questionnaire(settings, tmp_path, site) -> Questionnaire:
    settings.MEDIA_ROOT = tmp_path
    return make_questionnaire(rejects_automatically=False)


def decided(questionnaire: Questionnaire, *, n_correct: int, **facts: object) -> Assignment:
    assignment = submitted(questionnaire, n_correct=n_correct)
    decisions.record_decision(assignment, batch=questionnaire.batch)
    Assignment.objects.filter(pk=assignment.pk).update(**facts)
    assignment.refresh_from_db()
    return assignment


def path_of(assignment: Assignment) -> str:
    return reverse("assignment", args=[assignment.hit.questionnaire.batch_id, assignment.pk])


def states(page: Page, questionnaire: Questionnaire) -> Iterator[State]:
    now, person = timezone.now(), User.objects.get(username="ada")
    proposed = decided(questionnaire, n_correct=1)
    left_out = decided(questionnaire, n_correct=5, status="Approved", approved_at=now)
    analysis_use.exclude(left_out, by=person, reason="Only letters.", replace=True)
    rejected = decided(questionnaire, n_correct=0)
    decisions.reject(rejected, by=person, reason="None of it was right.")
    Assignment.objects.filter(pk=rejected.pk).update(status="Rejected", rejected_at=now)
    Replacement.objects.create(replaces=rejected, questionnaire=questionnaire, opened_by="extend")
    page.goto(reverse("assignments", args=[questionnaire.batch_id]))
    yield "list", page
    for name, assignment in (("proposed", proposed), ("left out", left_out), ("replaced", rejected)):
        page.goto(path_of(assignment))
        yield name, page
    page.goto(path_of(proposed))
    page.get_by_label("Why the answers are left out").fill(" ")
    page.get_by_role("button", name="Leave out").click()
    yield "refused", page


def test_pages_of_review(visit: Visit, questionnaire: Questionnaire) -> None:
    page = visit(reverse("assignments", args=[questionnaire.batch_id]))
    found = {name: faults(shown) for name, shown in states(page, questionnaire)}
    assert found == {"list": [], "proposed": [], "left out": [], "replaced": [], "refused": []}


def test_a_person_decides_by_keyboard_alone(visit: Visit, questionnaire: Questionnaire) -> None:
    proposed = decided(questionnaire, n_correct=1)
    page = visit(path_of(proposed))
    page.get_by_label("Why the answers are left out").focus()
    page.keyboard.type("Only letters.")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Collect them once more")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Left out. Only letters.")).to_be_visible()
    assert Inclusion.objects.get().is_replaced is False
