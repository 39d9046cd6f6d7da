"""Every page an annotator can meet, in every state, before axe-core: WCAG 2.2 AA."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django import Settings

from surveys.answering.invitations import revoke
from surveys.models import Batch
from surveys.protocols.registry import get_definition
from tests.accessible import faults
from tests.builders import frame_query
from tests.link_people import from_prolific, invite_one, make_panel
from tests.link_study import Visitor, make_link_batch, path_of
from tests.services_site import Site

State = tuple[str, Page]
TYPES = ["evil-vqax", "xai", "vtt"]


@pytest.fixture
def app_url(site: Site, settings: Settings, tmp_path: Path) -> str:
    settings.MEDIA_ROOT = tmp_path
    return site.app_url


@pytest.fixture
def page(page: Page) -> Page:
    page.set_default_timeout(10_000)
    return page


def all_faults(states: Iterator[State]) -> dict[str, list[str]]:
    return {name: faults(page) for name, page in states}


def choose_last(page: Page) -> None:
    """Answer everything, the last choice of each group, without stepping through."""
    page.evaluate(
        """() => {
            for (const group of document.querySelectorAll(".group:not(.optional)"))
                [...group.querySelectorAll("input")].at(-1).click();
        }"""
    )


def test_faults_are_found(page: Page) -> None:
    """Rules of 2.0, 2.1 and 2.2 are on, and widths are looked at."""
    page.set_content(
        """<html lang="en"><title>x</title><main><h1>x</h1><p style="color: #999; width: 500px">pale</p>
        <input autocomplete="nonsense" aria-label="x"><button style="width: 9px; height: 9px; padding: 0">a</button
        ><button style="width: 9px; height: 9px; padding: 0">b</button></main>"""
    )
    found = {fault.partition(" at ")[0].partition(": ")[2] for fault in faults(page)}
    assert found == {"color-contrast", "autocomplete-valid", "target-size", "148 px too wide"}


# -- HITs -------------------------------------------------------------------------------------------------------------


def hit_states(page: Page, address: str) -> Iterator[State]:
    page.goto(f"{address}?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
    yield "preview", page
    page.goto(address)
    yield "instructions", page
    page.locator("[data-begin]").click()
    page.locator("#i1 .group label").first.click()
    page.locator("#keys summary").evaluate("summary => summary.click()")
    page.evaluate("document.querySelectorAll('.skip').forEach(skip => (skip.open = true))")
    expect(page.locator("#state")).to_contain_text("Saved ")
    page.evaluate("scrollTo(0, 0)")  # axe takes a picture that the bar half covers for a small target
    yield "half", page
    page.locator("#i1 .group:not(.skip .group)").last.evaluate("(group) => group.scrollIntoView()")
    page.locator(".glance").click()
    yield "larger", page
    page.keyboard.press("Escape")
    page.evaluate("document.getElementById('hit').requestSubmit()")
    expect(page.locator("#errors")).to_be_visible()
    page.evaluate("scrollTo(0, 0)")  # axe takes a row that a bar half covers for a small target
    yield "errors", page
    choose_last(page)
    page.evaluate("document.getElementById('hit').requestSubmit()")
    page.wait_for_url("**/mturk/externalSubmit")
    page.goto(address)
    yield "receipt", page
    page.goto(address.replace("hitId=", "hitId=3OTHER"))
    yield "refused", page


@pytest.mark.parametrize("key", TYPES)
def test_hits(page: Page, app_url: str, site: Site, key: str) -> None:
    batch = make_link_batch(definition=get_definition(key), n_items=2, items_per_hit=2, endpoint="embedded")
    questionnaire = batch.questionnaires.get()
    query = frame_query(questionnaire) | {"turkSubmitTo": site.marketplace_url}
    found = all_faults(hit_states(page, f"{app_url}/hits/{questionnaire.pk}/?{urlencode(query)}"))
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert list(found) == ["preview", "instructions", "half", "larger", "errors", "receipt", "refused"]


# -- The quiz ---------------------------------------------------------------------------------------------------------


def quiz_states(page: Page, address: str) -> Iterator[State]:
    check = page.get_by_role("button", name="Check my answers")
    page.goto(address)
    yield "questions", page
    check.click()
    yield "missing", page
    choose_last(page)
    check.click()
    yield "one more try", page
    choose_last(page)
    check.click()
    yield "done", page


def test_quiz(page: Page, app_url: str) -> None:
    batch = make_link_batch(definition=get_definition("xai"), n_items=1, uses_quiz=True)
    address = f"{app_url}{path_of(invite_one(batch))}1/"
    found = all_faults(quiz_states(page, address))
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert list(found) == ["questions", "missing", "one more try", "done"]


# -- By link ----------------------------------------------------------------------------------------------------------


def link_states(page: Page, address: str, visitor: Visitor) -> Iterator[State]:
    page.goto(address)
    yield "first visit", page
    page.locator(".start summary").click()
    page.fill("#number", "x")
    page.get_by_role("button", name="Start").click()
    yield "no id", page
    page.goto(f"{address}1/")
    stale = visitor.open(1)
    yield "annotation", page
    page.evaluate("document.querySelectorAll('details').forEach(details => (details.open = true))")
    yield "all unfolded", page
    page.goto(f"{address}1/")
    page.locator("[data-go=submit]").click()
    expect(page.locator("#errors")).to_be_visible()
    page.evaluate("scrollTo(0, 0)")  # the bar at the top covers no half of a picture
    yield "errors", page
    visitor.answer(1, stale)
    choose_last(page)
    page.locator("[data-go=submit]").click()
    expect(page.locator("#overtaken")).to_be_visible()
    yield "overtaken", page
    page.goto(f"{address}1/")
    yield "answered", page
    visitor.skip(2)
    page.goto(f"{address}2/")
    yield "skipped", page
    visitor.open(3)
    page.goto(f"{address}?saved=2")
    yield "list", page
    page.goto(f"{address}99/")
    yield "not theirs", page
    visitor.answer(3)
    page.goto(f"{address}end?saved=3")
    yield "end", page
    Batch.objects.update(status="complete")
    page.goto(f"{address}1/")
    yield "closed", page
    page.goto(address)
    yield "closed list", page


def test_link_pages(page: Page, app_url: str) -> None:
    path = path_of(invite_one(make_link_batch()))
    found = all_faults(link_states(page, app_url + path, Visitor(path)))
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert len(found) == 13


def entry_states(page: Page, app_url: str) -> Iterator[State]:
    batch = make_link_batch()
    page.goto(f"{app_url}/links/sign-in/{batch.pk}/")
    yield "sign in", page
    page.get_by_role("button", name="Sign in").click()
    yield "sign in, empty", page
    page.fill("#name", "Ada")
    page.fill("#access_code", "wrong")
    page.get_by_role("button", name="Sign in").click()
    yield "sign in, refused", page
    expired = invite_one(batch, "A", expires_at=timezone.now() - timedelta(days=1))
    revoked = invite_one(batch, "B")
    revoke(revoked.invitation)
    for name, invited in (("expired", expired), ("revoked", revoked)):
        page.goto(app_url + path_of(invited))
        yield name, page
    panel = make_panel(batch)
    page.goto(f"{app_url}/panel/{panel.code}/")
    yield "panel without an id", page
    page.goto(f"{app_url}/panel/{panel.code}/?{urlencode(from_prolific())}")
    yield "panel", page
    visitor = Visitor(page.url.removeprefix(app_url))
    visitor.answer(1)
    page.goto(f"{page.url}end")
    yield "panel, end", page


def test_entries_and_ends(page: Page, app_url: str) -> None:
    found = all_faults(entry_states(page, app_url))
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert len(found) == 8
