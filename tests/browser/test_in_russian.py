"""What scripts say is in the page's language too: dialogs, state lines, what is asked of whoever leaves."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django import Settings
from pytest_playwright.pytest_playwright import CreateContextCallback

from surveys.models import Batch
from surveys.protocols.registry import get_definition
from tests.config.test_translations import said_by
from tests.link_people import invite_one
from tests.link_study import make_link_batch, path_of
from tests.services_site import Site
from tests.spoken import english_in


@pytest.fixture
def batch(site: Site, settings: Settings, tmp_path: Path) -> Batch:
    settings.MEDIA_ROOT = tmp_path
    return make_link_batch(definition=get_definition("evil-vqax"), n_items=4, items_per_hit=2)


@pytest.fixture
def page(new_context: CreateContextCallback, site: Site, batch: Batch) -> Iterator[Page]:
    context: BrowserContext = new_context(locale="ru-RU", viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.set_default_timeout(10_000)
    page.goto(site.app_url + path_of(invite_one(batch, "Аня")))
    yield page
    context.close()


def states(page: Page) -> Iterator[str]:
    yield "home"
    page.locator("form.start button.main").click()
    page.locator("html.js #hit").wait_for()
    yield "work"
    page.locator(".enlarge").first.click()
    yield "larger"
    page.keyboard.press("Escape")
    page.locator("#keys").evaluate("keys => (keys.open = true)")
    page.locator("#i1 .group").last.evaluate("group => group.scrollIntoView()")
    expect(page.locator(".glance")).to_be_visible()
    yield "glance"
    page.route("**/draft", lambda route: route.abort())
    page.locator("#i1 .group label").first.click()
    expect(page.locator("#state")).to_have_attribute("data-state", "kept")
    yield "kept"
    page.unroute("**/draft")
    expect(page.locator("#state")).to_have_attribute("data-state", "saved")
    yield "saved"
    page.locator(".report summary").first.click()
    page.locator(".report button").first.click()
    page.locator(".report .told:not(:empty)").first.wait_for()
    yield "reported"
    page.route("**/pictures/**", lambda route: route.abort())
    page.reload()
    page.locator(".missing").first.wait_for()
    yield "missing"
    page.unroute("**/pictures/**")
    page.route("**/1/", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    page.locator("[data-go=submit]").click()
    expect(page.locator("#retry")).to_be_visible()
    yield "retrying"
    page.unroute("**/1/")
    page.locator("#retry button").click()
    page.locator("#errors").wait_for()
    yield "errors"


def test_what_scripts_say_is_russian(page: Page, batch: Batch) -> None:
    study = f"{said_by(batch)}\nEnglish"
    found = {state: english_in(page.content(), of_study=study) for state in states(page)}
    assert found == {state: [] for state in found}
    assert len(found) == 10
