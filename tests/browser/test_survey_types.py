"""Each survey type by link, from Start to the end: by keyboard alone and without JavaScript, on a desk and a phone."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect
from pytest_django import Settings
from pytest_playwright.pytest_playwright import CreateContextCallback

from surveys.answering.collection import given_answers
from surveys.models import AnnotationSlot
from surveys.protocols.registry import get_definition
from tests.accessible import faults
from tests.link_people import invite_one
from tests.link_study import make_link_batch, path_of
from tests.services_site import Site

FLAW = "incorrect_description"
SIZES = [(1280, 900), (375, 700)]
KEYS = {  # for one item: what is pressed, and the ratings it gives
    "evil-vqax": (
        ["1", "Enter", "y", "Enter", "1", "Enter", "y", "Enter", "1", "Enter", "2"],
        ["yes", FLAW, "yes", FLAW],
    ),
    "xai": (["1", "Enter", "2", "Enter", "3", "Enter", "4", "Enter", "5"], ["1", "2", "3", "4", "5"]),
    "vtt": (["5", "Enter", "4", "Enter", "2"], ["5", "4", "2"]),
}
LAST = {  # the ratings of who takes the last of each choice, and ticks nothing
    "evil-vqax": ["no", "", "no", ""],
    "evil-vcr": ["no", "", "no", ""],
    "evil-esnlive": ["no", "", "no", ""],
    "xai": ["5"] * 5,
    "vtt": ["1"] * 3,
}


@pytest.fixture(params=SIZES, ids=["desk", "phone"])
def size(request: pytest.FixtureRequest) -> dict[str, int]:
    width, height = request.param
    return {"width": width, "height": height}


@pytest.fixture
def app_url(site: Site, settings: Settings, tmp_path: Path) -> str:
    settings.MEDIA_ROOT = tmp_path
    return site.app_url


@pytest.fixture
def keyboard(new_context: CreateContextCallback, size: dict[str, int]) -> BrowserContext:
    context = new_context(viewport=size)
    context.set_default_timeout(15_000)
    return context


@pytest.fixture
def plain(new_context: CreateContextCallback, size: dict[str, int]) -> BrowserContext:
    context = new_context(viewport=size, java_script_enabled=False)
    context.set_default_timeout(15_000)
    return context


def make_link(key: str) -> str:
    return path_of(invite_one(make_link_batch(definition=get_definition(key), n_items=2)))


def stored() -> list[list[str]]:
    """The ratings of each annotation, output by output as shown, in the order they are asked."""
    slots = AnnotationSlot.objects.select_related("assignment", "batch__survey").order_by("number")
    return [
        [
            _plain(values[criterion.key])
            for values in answer.ratings.values()
            for criterion in slot.batch.definition.criteria
        ]
        for slot in slots
        for answer in given_answers(slot.assignment)
    ]


def _plain(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "+".join(value)


@pytest.mark.parametrize("key", KEYS)
def test_by_keyboard_alone(keyboard: BrowserContext, app_url: str, key: str) -> None:
    pressed, ratings = KEYS[key]
    page = keyboard.new_page()
    page.goto(app_url + make_link(key))
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Start")).to_be_focused()
    page.keyboard.press("Enter")
    for number in (1, 2):
        expect(page.locator("html.js h1")).to_have_text(f"Annotation {number}")  # until then no key works
        for press in [*pressed, "Enter"]:
            page.keyboard.press(press)
    expect(page.locator("h1")).to_have_text("Thank you")
    assert stored() == [ratings, ratings]


@pytest.mark.parametrize("key", ["xai", "vtt"])
def test_the_first_gap_has_the_focus(keyboard: BrowserContext, app_url: str, key: str) -> None:
    """Where an item shows one text. With two of them, the list of what is missing has it."""
    page = keyboard.new_page()
    page.goto(app_url + make_link(key))
    page.get_by_role("button", name="Start").click()
    groups = page.locator(".group:not(.optional)")
    groups.first.locator("input").last.check()
    expect(page.locator("#hit")).not_to_have_attribute("data-settles", "")  # until then a tap is none
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#errors li").first).to_be_visible()
    expect(groups.nth(1).locator("input").first).to_be_focused()


@pytest.mark.parametrize("key", LAST)
def test_without_javascript(plain: BrowserContext, app_url: str, key: str) -> None:
    page = plain.new_page()
    page.goto(app_url + make_link(key))
    page.get_by_role("button", name="Start").click()
    for number in (1, 2):
        expect(page.locator("h1")).to_have_text(f"Annotation {number}")
        groups = page.locator(".group:not(.optional)")
        for n in range(groups.count() - 1):
            groups.nth(n).locator("input").last.check()
        page.get_by_role("button", name="Submit").click()
        expect(page.locator("#errors li")).to_have_count(1)
        page.locator(".group:not(.optional)").last.locator("input").last.check()
        page.get_by_role("button", name="Submit").click()
    expect(page.locator("h1")).to_have_text("Thank you")
    assert stored() == [LAST[key], LAST[key]]


# A phone upright and on its side, and 200 % of 1280 x 800.
SCREENS = [(390, 844), (844, 390), (640, 400)]
HIGHEST_STEP = """() => {
    const item = document.querySelector(".item"), topOf = (node) => node.getBoundingClientRect().top;
    const marks = [item, ...item.querySelectorAll(":not(.skip) > .group, .skip, .report")].map(topOf);
    const tops = [...marks, topOf(item) + item.offsetHeight].sort((a, b) => a - b);
    return Math.max(...tops.slice(1).map((top, n) => top - tops[n])) / innerHeight;
}"""


@pytest.mark.parametrize("key", LAST)
def test_an_item_is_three_screens_high_at_most(
    new_context: CreateContextCallback, app_url: str, key: str
) -> None:
    """At 400 % a screen is 200 px: there it is a step, one question with what stands above it."""
    page = new_context(viewport={"width": 390, "height": 844}).new_page()
    page.goto(app_url + make_link(key))
    page.get_by_role("button", name="Start").click()
    page.locator("html.js #hit").wait_for()
    page.evaluate("() => document.querySelector('#instructions')?.removeAttribute('open')")
    too_high = []
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        screens = page.locator(".item").evaluate("item => item.offsetHeight / innerHeight")
        too_high += [(width, screens)] if screens > 3 else []
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 320, "height": 200})
    highest = page.evaluate(HIGHEST_STEP)
    assert (too_high, highest > 3) == ([], False)
    assert faults(page, ways=[("light", 844, 390), ("dark", 640, 400), ("light", 320, 200)]) == []
