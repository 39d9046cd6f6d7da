"""Three protocols written in the builder by somebody who does not program, from a file of their own to a batch.

BUILDER_PICTURES=folder keeps what the pages looked like on a desk and on a phone.
"""

import csv
import io
import os
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from surveys.models import Batch, Output
from tests.accessible import faults
from tests.browser.conftest import Visit
from tests.browser.person import TEN_MINUTES, UNPRACTISED, Person
from tests.market_site import eager

__all__ = ["eager"]
PICTURES = os.environ.get("BUILDER_PICTURES", "")
SYSTEMS = tuple(f"llm 3.{n}" for n in range(1, 13))


@pytest.fixture(autouse=True)
def folder(eager: None, settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path


def file_of(name: str, header: list[str], rows: list[list[str]]) -> FilePayload:
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    return {"name": name, "mimeType": "text/csv", "buffer": text.getvalue().encode()}


def picture(page: Page, name: str) -> None:
    """Keep how a page looks in both widths, light and dark."""
    if not PICTURES:
        return
    for width, scheme in ((1280, "light"), (390, "light"), (390, "dark"), (1280, "dark")):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(400)
        page.screenshot(path=Path(PICTURES) / f"{name}-{width}-{scheme}.png", full_page=True)
        if page.locator("#page").count() and width == 390:
            page.locator("#page").scroll_into_view_if_needed()
            page.wait_for_timeout(300)
            page.screenshot(path=Path(PICTURES) / f"{name}-{width}-{scheme}-frame.png")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})


def frame_of(page: Page):
    return page.frame_locator("#page")


def begin(visit: Visit, template: str, *, name: str, key: str) -> Person:
    page = visit("/survey-types/")
    page.set_default_timeout(15000)
    person = Person(page)
    person.press("New survey type")
    person.press(f"Begin with {template}")
    person.write(page.get_by_label("Name", exact=True), name)
    person.write(page.get_by_label("Short name"), key)
    return person


def to_a_study(person: Person, file: FilePayload, *, name: str) -> None:
    """Publish the type, bring its items, and open a batch to people with a link."""
    page = person.page
    person.press("Publish this survey type")
    person.write(page.get_by_label("Name of the new survey"), name)
    person.bring(page.locator("[name=items]"), file)
    person.press("Look before importing")


def without_marketplace(person: Person) -> None:
    """Have people come by link, and see what that costs."""
    with person.page.expect_response(lambda response: response.request.method == "POST"):
        person.click(person.page.get_by_label("No marketplace"))
    person.page.wait_for_load_state("networkidle")


def open_batch(person: Person) -> Batch:
    page = person.page
    person.press("Confirm: import")
    without_marketplace(person)
    person.press("Publish")
    expect(page.locator(".status.open").first).to_be_visible()
    return Batch.objects.get()


def in_time(person: Person) -> None:
    """Somebody unpractised needs less than ten minutes; -s shows the count."""
    print(f"{person.clicks} clicks, {person.fields} fields, {person.keys} keys: {person.seconds:.0f} s")  # noqa: T201
    assert UNPRACTISED * person.seconds < TEN_MINUTES


def test_a_translation_with_marked_spans(visit: Visit) -> None:
    """Begun with plain scales: a column and marking in the text are added by buttons."""
    rows = [["1", "Der Zug hat Verspätung 🚆.", "mt-1", "The train is late 🚆."],
            ["1", "Der Zug hat Verspätung 🚆.", "mt-2", "القطار متأخر 🚆."],
            ["2", "Es schneit.", "mt-1", "Идёт снег."], ["2", "Es schneit.", "mt-2", "It snows."]]  # fmt: skip
    file = file_of("mt.csv", ["segment", "german", "engine", "translation"], rows)
    person = begin(visit, "One text, rated on scales", name="German into anything", key="german")
    page = person.page
    person.click(page.locator("#s-what-is-shown > summary"))
    person.write(page.get_by_label("Word before an item’s text"), "")
    person.press("Add a column")
    person.write(page.locator("#f-blocks-1-column"), "german")
    person.write(page.locator("#f-blocks-1-label"), "Original")
    person.click(page.locator("#s-questions > summary"))
    person.press("Add marking in the text")
    person.choose(page.locator("#f-criteria-3-spans-missing_in"), "german")
    expect(page.locator("#saved")).to_contain_text("saved")
    person.bring(page.locator("#items_file"), file)
    person.press("Show these items")
    frame = frame_of(page)
    expect(frame.get_by_text("The train is late").first).to_be_visible()
    frame.locator(".word", has_text="снег").first.wait_for(state="attached")
    page.evaluate("scrollTo(0, 0)")
    assert faults(page) == []
    picture(page, "spans-builder")
    to_a_study(person, file, name="German into anything")
    picture(page, "spans-columns")
    person.press("Look before importing")
    batch = open_batch(person)
    spans = batch.definition.criterion("errors").spans
    assert (spans.missing_in, [one.value for one in spans.severities]) == ("german", ["minor", "major"])
    assert Output.objects.count() == 4
    in_time(person)


def test_twelve_systems_two_at_a_time(visit: Visit) -> None:
    rows = [[f"{n}", f"What is {n} squared?", s, f"{s} says {n * n}."] for n in range(1, 12) for s in SYSTEMS]
    file = file_of("engines.csv", ["nr", "prompt", "llm", "said"], rows)
    person = begin(visit, "Many systems, two at a time", name="Twelve engines", key="engines")
    page = person.page
    picture(page, "arena-builder")
    to_a_study(person, file, name="Twelve engines")
    person.choose(page.get_by_label("llm", exact=False), "system")
    person.choose(page.get_by_label("said", exact=False), "explanation")
    person.press("Look before importing")
    picture(page, "arena-import")
    person.click(page.get_by_label("I accept these 12 warnings"))
    person.press("Confirm: import")
    without_marketplace(person)
    picture(page, "arena-launch")
    person.press("Publish")
    expect(page.locator(".status.open").first).to_be_visible()
    batch = Batch.objects.get()
    facts = batch.design
    assert (facts["shown"], facts["of_systems"], facts["parts"]) == (2, 12, 1)
    assert facts["most_met"] - facts["least_met"] <= 1
    in_time(person)


def test_the_best_and_the_worst_by_keyboard_alone(visit: Visit) -> None:
    """From the template of a ranking to best and worst of four, with a rubric and a condition; every step by keys."""
    page = visit("/survey-types/new/")
    page.set_default_timeout(15000)
    page.get_by_role("button", name="Begin with Several answers, ranked").press("Enter")
    page.locator("#s-questions > summary").press("Enter")
    by = page.locator("#f-preference-by")
    by.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#f-preference-worst_label")).to_have_value("Which is worst?")
    expect(page.locator("#f-preference-by")).to_be_focused()
    page.get_by_role("button", name="Add a scale").press("Enter")
    expect(page.locator("#f-criteria-1-label")).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Is it polite?")
    page.locator("#f-criteria-1-choices-1-description").press_sequentially("It insults")
    page.get_by_role("button", name="Add a text").press("Enter")
    page.locator("#f-criteria-2-asked_if-question").focus()
    page.keyboard.press("ArrowDown")
    page.get_by_role("checkbox", name="Not at all").press("Space")
    expect(page.locator("#n-problems")).to_be_empty()
    expect(frame_of(page).get_by_text("It insults").first).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    assert faults(page) == []
    picture(page, "best-worst-builder")


def test_what_contradicts_itself_is_read_at_once_beside_its_field(visit: Visit) -> None:
    page = visit("/survey-types/new/")
    page.set_default_timeout(15000)
    page.get_by_role("button", name="Begin with Two answers").click()
    page.locator("#s-questions > summary").click()
    page.locator("#f-preference-by").select_option("best_worst")
    beside = page.locator("#f-preference-by-p")
    expect(beside).to_contain_text("It is of 3 to 100 outputs, not of 2.")
    page.locator("#s-what-is-shown > summary").click()
    page.get_by_label("Outputs shown together").fill("4")
    expect(beside).to_be_hidden()


def test_items_typed_beside_are_kept_by_another_button(visit: Visit) -> None:
    page = visit("/survey-types/new/")
    page.get_by_role("button", name="Begin with Two answers").click()
    page.locator("#items").fill("nr,question,system,text\n1,Why?,m,Because.\n1,Why?,n,Never mind.\n")
    page.locator("#s-questions > summary").click()
    page.get_by_role("button", name="Add a text").click()
    expect(page.locator("#f-criteria-2-label")).to_have_value("In your words?")
    expect(frame_of(page).get_by_text("Never mind.").first).to_be_visible()
