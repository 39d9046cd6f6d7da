"""An import in a real browser: its notes read as sentences, and what takes a while says so and is sent once."""

from pathlib import Path

from playwright.sync_api import Page, expect

from surveys.models import Item
from tests.accessible import faults
from tests.browser.conftest import Visit
from tests.browser.taken import DOCS
from tests.market_site import eager

__all__ = ["eager"]
FILE = DOCS / "tutorial" / "tips.csv"


def brought(visit: Visit, rows: bytes, *, width: int = 1280) -> Page:
    """Bring a file for two answers, and see its columns."""
    page = visit("/survey-types/new/", width=width)
    page.get_by_role("button", name="Begin with Two answers").click()
    page.get_by_role("button", name="Publish this survey type").click()
    page.get_by_label("Name of the new survey").fill("Tips")
    page.locator("[name=items]").set_input_files({"name": "tips.csv", "mimeType": "text/csv", "buffer": rows})
    page.get_by_role("button", name="Look before importing").click()
    return page


def test_a_note_about_columns_is_a_sentence(visit: Visit, tmp_path: Path, settings) -> None:
    settings.DATA_DIR = tmp_path
    page = brought(visit, b"a,b\nKeep warm?,Wear a hat.\n", width=390)
    note = page.locator("p.note")
    assert note.evaluate("node => getComputedStyle(node).display") == "block"
    assert faults(page) == []


def test_an_import_says_that_it_is_at_work_and_is_confirmed_once(
    visit: Visit, eager: None, tmp_path: Path, settings
) -> None:
    settings.DATA_DIR = settings.MEDIA_ROOT = tmp_path
    page = brought(visit, FILE.read_bytes())
    page.get_by_role("button", name="Look before importing").click()
    confirm = page.get_by_role("button", name="Confirm: import 6 items")
    confirm.wait_for()
    sent: list[str] = []
    page.on("request", lambda request: request.method == "POST" and sent.append(request.url))
    twice = """button => { button.click(); button.click();
        return [button.form.querySelector("[role=status]").textContent, button.getAttribute("aria-disabled")]; }"""
    assert confirm.evaluate(twice) == ["The items are being imported: all of them or none.", "true"]
    expect(page.get_by_text("Imported 6 items into")).to_be_visible()
    assert len(sent) == 1
    assert Item.objects.count() == 6
