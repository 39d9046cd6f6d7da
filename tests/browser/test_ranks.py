"""Ranking, and choosing the best and the worst, by keys alone, by touch, and without scripts."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from pytest_django import Settings
from pytest_playwright.pytest_playwright import CreateContextCallback

from surveys.models import Rating
from surveys.protocols.templates import templates
from tests import driven
from tests.accessible import faults
from tests.builders import frame_query
from tests.factories import new_id
from tests.services_site import Site

BEST_WORST = templates()["best-worst"].document
RANKING = templates()["ranking"].document
OWN_PLACES = RANKING.replace("  has_ties: true\n", "")


@pytest.fixture
def address(request: pytest.FixtureRequest, site: Site, settings: Settings, tmp_path: Path) -> str:
    """Return where somebody new opens a study of two items, each with three or four outputs."""
    settings.MEDIA_ROOT = tmp_path
    key = "best-worst" if "best_worst" in request.param else "ranking"
    rows = templates()[key].items.encode().splitlines(keepends=True)
    n = 4 if key == "best-worst" else 3
    questionnaire = driven.study(request.param, items=b"".join(rows[: 1 + 2 * n]), folder=tmp_path)
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


@pytest.mark.parametrize("address", [RANKING], indirect=True)
@pytest.mark.parametrize("size", [(390, 844), (844, 390)])
def test_all_places_of_a_ranking_stay_together_on_a_small_screen(
    new_context: CreateContextCallback, address: str, size: tuple[int, int]
) -> None:
    width, height = size
    phone = {"has_touch": True, "is_mobile": True, "viewport": {"width": width, "height": height}}
    page = begin(new_context(**phone), address)
    groups = page.locator(".ranked").first.locator(".group")
    for n in range(3):
        groups.nth(n).locator("label").first.tap()
        expect(page.locator("#hit")).not_to_have_attribute("data-settles", "")
        if n < 2:
            boxes = [group.bounding_box() for group in groups.all()]
            bar = page.locator(".bar").bounding_box()["height"]
            assert [bar <= box["y"] and box["y"] + box["height"] <= height for box in boxes] == [True] * 3
    assert page.locator(".item").nth(1).bounding_box()["y"] < height / 2  # the next item's turn


def places() -> list[list[str]]:
    """Return what was given to the outputs of each item, sorted."""
    found: dict[str, list[str]] = {}
    for rating in Rating.objects.select_related("output__item").order_by("value"):
        found.setdefault(rating.output.item.external_id, []).append(rating.value)
    return [found[item] for item in sorted(found)]


def checked(page: Page) -> list[str]:
    return [one.input_value() for one in page.locator(".item:not([hidden]) input:checked").all()]


def tap(page: Page, place: Locator) -> None:
    """Tap as somebody does who waits until the page stands still: until then a tap is none."""
    place.tap()
    expect(page.locator("#hit")).not_to_have_attribute("data-settles", "")


def groups(page: Page) -> Locator:
    return page.locator(".item:not([hidden]) .ranked .group:visible")


@pytest.mark.parametrize("address", [OWN_PLACES], indirect=True)
def test_a_ranking_by_keys_alone(new_context: CreateContextCallback, address: str) -> None:
    """A key gives a place; what had that place takes the one that was left."""
    page = begin(new_context(viewport={"width": 1280, "height": 900}), address)
    for go in ("next", "submit"):
        expect(groups(page)).to_have_count(3)
        for n, key in enumerate("231"):
            groups(page).nth(n).locator("input").first.focus()
            page.keyboard.press(key)
        assert checked(page) == ["2", "3", "1"]
        groups(page).nth(0).locator("input:checked").focus()
        page.keyboard.press("ArrowRight")
        assert sorted(checked(page)) == ["1", "2", "3"]
        assert checked(page) == ["3", "2", "1"]
        assert faults(page) == []
        page.set_viewport_size({"width": 1280, "height": 900})
        page.locator(f"[data-go={go}]").press("Enter")
    page.wait_for_url("**/mturk/externalSubmit")  # the receipt's page goes on by itself
    assert places() == [["1", "2", "3"], ["1", "2", "3"]]


@pytest.mark.parametrize("address", [BEST_WORST], indirect=True)
def test_the_best_and_the_worst_by_touch(new_context: CreateContextCallback, address: str) -> None:
    """One that is both is told beside the question, and nothing is lost."""
    page = begin(new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True), address)
    for item in page.locator(".item").all():
        for question in ("Which text is the best?", "Which is the worst?"):
            tap(page, item.get_by_role("radiogroup", name=question).locator("label").nth(0))
    assert faults(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("[data-go=submit]").tap()
    expect(
        page.get_by_text("The best one can’t be the worst as well").locator("visible=true").first
    ).to_be_visible()
    for item in page.locator(".item").all():
        tap(page, item.get_by_role("radiogroup", name="Which is the worst?").locator("label").nth(2))
    page.locator("[data-go=submit]").tap()
    page.wait_for_url("**/mturk/externalSubmit")  # the receipt's page goes on by itself
    assert places() == [["best", "other", "other", "worst"]] * 2


@pytest.mark.parametrize("address", [OWN_PLACES], indirect=True)
def test_a_ranking_without_scripts(new_context: CreateContextCallback, address: str) -> None:
    context = new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(address)
    for item in page.locator(".item").all():
        for n, group in enumerate(item.locator(".ranked .group").all()):
            group.locator(f"input[value='{min(n, 1) + 1}']").check(force=True)
    page.locator("button[type=submit]").last.click()
    expect(page.locator(".ranked .error").first).to_be_visible()
    for item in page.locator(".item").all():
        item.locator(".ranked .group").nth(2).locator("input[value='3']").check(force=True)
    page.locator("button[type=submit]").last.click()
    expect(page.locator(".ranked")).to_have_count(0)
    assert places() == [["1", "2", "3"], ["1", "2", "3"]]
