"""Appeals, a worker's page and the audit trail, in every state, before axe-core; and an appeal without scripts."""

from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_playwright.pytest_playwright import CreateContextCallback

from annotators.models import Assignment, Call, Worker
from surveys import audit
from surveys.models import Appeal, Decision, Inclusion, Questionnaire
from surveys.review import decisions
from surveys.review.appeals import answer_appeal
from surveys.review.standing import change_standing
from tests.accessible import faults
from tests.appeals import appealed, rejected
from tests.builders import make_questionnaire
from tests.factories import make_worker, submitted
from tests.services_site import Site

Visit = Callable[..., Page]
State = tuple[str, Page]


@pytest.fixture
def questionnaire(settings, tmp_path, site) -> Questionnaire:
    cache.clear()
    settings.MEDIA_ROOT = tmp_path
    return make_questionnaire()


@pytest.fixture
def page(page: Page) -> Page:
    page.set_default_timeout(10_000)
    return page


def all_faults(states: Iterator[State]) -> dict[str, list[str]]:
    return {name: faults(page) for name, page in states}


# -- The worker's way -------------------------------------------------------------------------------------------------


def appeal_states(page: Page, app_url: str, questionnaire: Questionnaire) -> Iterator[State]:
    appeal, late = rejected(questionnaire), rejected(questionnaire, days_ago=31)
    page.goto(f"{app_url}/appeals/")
    yield "code", page
    page.get_by_label("Code").fill("not a code")
    page.get_by_role("button", name="Go on").click()
    yield "no code", page
    page.get_by_label("Code").fill(appeal.code.upper())
    page.get_by_role("button", name="Go on").click()
    yield "rejected", page
    page.get_by_role("button", name="Send").click()
    yield "nothing written", page
    page.get_by_label("What do you want us to know?").fill("I looked at every picture.\n\nTwice. " + "W" * 90)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Thank you, it was sent.")).to_be_visible()
    yield "sent", page
    page.goto(f"{app_url}/appeals/{late.code}/")
    yield "too late", page
    answer_appeal(
        Appeal.objects.get(pk=appeal.pk), outcome="upheld", answer="Two of five were right.", by=ada()
    )
    page.goto(f"{app_url}/appeals/{appeal.code}/")
    yield "answered", page
    overturned = rejected(questionnaire)
    decisions.overturn(overturned.assignment, by=ada(), reason="Our gold answer was wrong.")
    page.goto(f"{app_url}/appeals/{overturned.code}/")
    yield "overturned", page


def ada() -> User:
    return User.objects.get_or_create(username="ada")[0]


def test_appeals(page: Page, site: Site, questionnaire: Questionnaire) -> None:
    found = all_faults(appeal_states(page, site.app_url, questionnaire))
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert len(found) == 8


def test_an_appeal_needs_no_scripts_and_no_mouse(
    new_context: CreateContextCallback, site: Site, questionnaire: Questionnaire
) -> None:
    code = rejected(questionnaire).code
    page = new_context(java_script_enabled=False, viewport={"width": 360, "height": 740}).new_page()
    page.goto(f"{site.app_url}/appeals/")
    page.get_by_label("Code").focus()
    page.keyboard.type(code)
    page.keyboard.press("Enter")
    page.get_by_label("What do you want us to know?").focus()
    page.keyboard.type("I did look.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Thank you, it was sent.")).to_be_visible()
    assert Appeal.objects.get().text == "I did look."


# -- The researcher's -------------------------------------------------------------------------------------------------


def a_long_history(questionnaire: Questionnaire) -> Appeal:
    """A worker of whom everything there can be is known."""
    now, person, worker = timezone.now(), ada(), make_worker("A2EXAMPLEWORKER9")
    good = submitted(questionnaire, worker=worker.worker_id)
    flags = [{"kind": "too_fast", "sentence": "This took 9 s of active time; the median is 62 s."}]
    Decision.objects.create(assignment=good, verdict="approve", flags=flags, decided_at=now)
    Inclusion.objects.create(
        assignment=good, is_included=False, is_replaced=True, reason="Straight lines.", decided_at=now
    )
    Call.objects.create(
        token="bonus",
        operation="SendBonus",
        endpoint="embedded",
        assignment=good,
        amount=Decimal("0.60"),
        state="done",
        finished_at=now,
        arguments={"amount": "0.50", "reason": "Thank you for the comment."},
    )
    audit.record(audit.Kind.PAYMENT, "approve", assignment=good, rule_version="1:0123456789ab")
    change_standing(worker, to="watch", was="ok", reason="Very fast on two batches.", by=person)
    other = make_questionnaire(name="another")
    return appealed(other, worker=Worker.objects.get(pk=worker.pk), text="I looked.\n" + "Twice. " * 60)


def researcher_states(page: Page, questionnaire: Questionnaire, appeal: Appeal) -> Iterator[State]:
    assignment = appeal.assignment
    batch_pk = assignment.hit.questionnaire.batch_id
    page.goto("/admin/")
    yield "start", page
    page.goto(f"/batches/{batch_pk}/")
    yield "batch", page
    page.goto("/appeals/open/")
    yield "open appeals", page
    page.goto(f"/batches/{batch_pk}/assignments/{assignment.pk}/")
    yield "assignment", page
    page.get_by_label("Your answer; the worker reads it").fill(" ")
    page.get_by_role("button", name="The rejection stays").click()
    yield "no answer", page
    answer_appeal(appeal, outcome="upheld", answer="Two of five were right.", by=ada())
    page.get_by_label("Your answer; the worker reads it").fill("Sorry.")
    page.get_by_role("button", name="Overturn and pay").click()
    yield "answered meanwhile", page
    page.goto("/appeals/open/")
    yield "no open appeals", page
    page.goto(f"/workers/{assignment.worker_id}/")
    yield "worker", page
    page.get_by_label("Excluded").check()
    page.locator("#standing-reason").fill(" ")
    page.get_by_role("button", name="Change", exact=True).click()
    yield "no reason", page
    page.goto(f"/workers/{assignment.worker_id}/delete")
    yield "something in the way of a deletion", page
    Assignment.objects.filter(worker=assignment.worker_id).update(
        status="Approved", approved_at=timezone.now()
    )
    page.reload()
    yield "before a deletion", page
    page.goto(f"/batches/{questionnaire.batch_id}/audit/")
    yield "trail", page
    page.goto(f"/batches/{questionnaire.batch_id}/audit/?kind=bonus")
    yield "empty trail", page


def test_pages_about_people(visit: Visit, questionnaire: Questionnaire) -> None:
    page = visit("/admin/")
    found = all_faults(researcher_states(page, questionnaire, a_long_history(questionnaire)))
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert len(found) == 13
