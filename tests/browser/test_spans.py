"""Marking places in a text, by keys and by touch, on texts of several scripts."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from pytest_django import Settings
from pytest_playwright.pytest_playwright import CreateContextCallback

from surveys.models import MarkedSpan
from tests import driven
from tests.accessible import faults
from tests.builders import frame_query
from tests.factories import new_id
from tests.services_site import Site
from tests.surveys.protocols.test_spans import ARABIC, DOCUMENT, EMOJI, ITEMS

DOCUMENT_FOR_TOUCH = DOCUMENT.replace("most: 3", "most: 9")


@pytest.fixture
def address(site: Site, settings: Settings, tmp_path: Path) -> str:
    """Return where the study's page is opened by somebody new."""
    settings.MEDIA_ROOT = tmp_path
    questionnaire = driven.study(DOCUMENT_FOR_TOUCH, items=ITEMS, folder=tmp_path)
    query = frame_query(questionnaire) | {
        "assignmentId": new_id("A"),
        "workerId": new_id("W"),
        "turkSubmitTo": "",
    }
    return f"{site.app_url}/hits/{questionnaire.pk}/?{urlencode(query)}"


def begin(context: BrowserContext, address: str) -> Page:
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(address)
    page.locator("[data-begin]").click()
    return page


def text_of(page: Page) -> Locator:
    return page.locator(".item:not([hidden]) .output > blockquote")


def marked() -> dict[str, list[tuple[str, str]]]:
    """Return what is marked of each text, as the database cuts it out of the text that is stored."""
    found: dict[str, list[tuple[str, str]]] = {}
    for span in MarkedSpan.objects.select_related("rating__output__item"):
        output = span.rating.output
        text = output.item.payload["blocks"][span.column] if span.column else output.text
        found.setdefault(output.item.external_id, []).append((text[span.start : span.end], span.severity))
    return found


def choose(page: Page, *, kind: str, severity: str) -> None:
    dialog = page.locator("dialog[open]")
    dialog.get_by_label("What is wrong").select_option(kind)
    dialog.get_by_role("button", name=severity).click()


def test_by_keys_alone(new_context: CreateContextCallback, address: str) -> None:
    page = begin(new_context(viewport={"width": 1280, "height": 900}), address)
    keys = page.keyboard
    text_of(page).focus()
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight"):
        keys.press(key)
    expect(page.locator(".item:not([hidden]) .help[role=status]")).to_have_text("Taken: “на ковре\u0301”")
    for key in ("Enter", "ArrowDown", "ArrowDown", "Tab", "Tab", "Tab", "Enter"):
        keys.press(key)
    expect(text_of(page)).to_be_focused()
    expect(page.locator(".item:not([hidden]) .marks li")).to_have_count(1)
    assert faults(page) == []
    page.set_viewport_size({"width": 1280, "height": 900})

    page.locator("[data-go=next]").click()
    text_of(page).focus()
    for key in ("ArrowLeft", "Enter", "ArrowDown", "Tab", "Tab", "Enter"):  # from right to left
        keys.press(key)
    expect(page.locator(".item:not([hidden]) .marks li")).to_have_count(1)
    page.locator("[data-go=next]").click()
    page.get_by_role("button", name="There is nothing to mark").locator("visible=true").click()
    page.reload()
    expect(page.locator(".marks li")).to_have_count(2)
    page.get_by_role("button", name="There is nothing to mark").locator("visible=true").press("Enter")
    page.wait_for_url("**/mturk/externalSubmit")  # the receipt's page goes on by itself
    assert marked() == {"a": [("на ковре\u0301", "major")], "b": [("القطُّ", "minor")]}


def test_by_touch(new_context: CreateContextCallback, address: str) -> None:
    """On a phone all items stand on one page, below each other."""
    context = new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = begin(context, address)
    first, second, third = (page.locator(".item").nth(n) for n in range(3))
    words = first.locator(".output > blockquote .word")
    words.filter(has_text="сидел").tap()
    words.filter(has_text="на").tap()
    choose(page, kind="grammar", severity="Major")
    left_out = first.locator(".left-out .word").filter(has_text="mat")
    left_out.tap()
    left_out.tap()
    choose(page, kind="omission", severity="Minor")
    first.get_by_role("button", name="Remove: “сидел на”").tap()
    expect(first.locator(".marks li")).to_have_count(1)
    first.get_by_role("button", name="Undo").tap()
    expect(first.locator(".marks li")).to_have_count(2)

    words = second.locator(".output > blockquote .word")
    words.filter(has_text="على").tap()
    words.filter(has_text="السجادة").tap()
    choose(page, kind="grammar", severity="Minor")
    text = third.locator(".output > blockquote")
    select(text, EMOJI.encode("utf-16-le").index("👩".encode("utf-16-le")) // 2 + 1, 4)  # within a family
    third.get_by_role("button", name="Mark “").tap()
    choose(page, kind="grammar", severity="Major")
    expect(third.locator(".marks li")).to_have_count(1)
    page.locator("[data-go=submit]").tap()
    page.wait_for_url("**/mturk/externalSubmit")  # the receipt's page goes on by itself
    assert marked() == {
        "a": [("сидел на", "major"), ("mat", "minor")],
        "b": [(ARABIC[ARABIC.index("على") :], "minor")],
        "c": [("👩\u200d👩\u200d👧", "major")],
    }


def select(text: Locator, start: int, length: int) -> None:
    """Select so many UTF-16 units, as a device's own selection does."""
    text.evaluate(
        """(node, [start, length]) => {
          const range = document.createRange(), walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
          let at = 0, has = 0;
          for (let part = walk.nextNode(); part; part = walk.nextNode()) {
            const end = at + part.length;
            if (!has && start < end) range.setStart(part, start - at), (has = 1);
            if (start + length <= end) { range.setEnd(part, start + length - at); break; }
            at = end;
          }
          getSelection().removeAllRanges();
          getSelection().addRange(range);
        }""",
        [start, length],
    )
