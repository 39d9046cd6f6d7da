"""The builder in a real browser: the way of docs/builder.md, from a file of one's own to a published study.

Its pictures are taken here, as those of the first study are (`make tutorial`).
"""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from surveys.models import Batch, ProtocolDraft, ProtocolDraftVersion
from tests.accessible import faults
from tests.browser.conftest import Visit
from tests.browser.person import TEN_MINUTES, UNPRACTISED, Person
from tests.browser.taken import DOCS, Pictures
from tests.market_site import eager

__all__ = ["eager"]
FILE = DOCS / "tutorial" / "tips.csv"


@pytest.fixture
def pictures() -> Pictures:
    return Pictures("builder.json")


def frame_of(page: Page):
    return page.frame_locator("#page")


def settled(page: Page, version: int) -> None:
    """Wait until a version is kept and its page is drawn."""
    expect(page.locator("#saved")).to_contain_text(f"Version {version}, saved")


def held_saves(page: Page) -> list[Route]:
    """Hold the next save back, until the test lets it go on; those after it go on by themselves."""
    held: list[Route] = []
    page.locator("#builder").wait_for()
    page.route(page.url, lambda route: held.append(route), times=1)
    return held


def typed(page: Page) -> list[str]:
    fields = (
        page.get_by_label("Name", exact=True),
        page.get_by_label("Title"),
        page.get_by_label("Short name"),
    )
    return [field.input_value() for field in fields]


def begin(person: Person, pictures: Pictures) -> None:
    person.press("New survey type")
    pictures.take(person.page, "templates")
    person.press("Begin with Two answers, which is better?")


def word(person: Person) -> None:
    """Change what is asked, and see it on the page beside."""
    page = person.page
    person.write(page.get_by_label("Name", exact=True), "Which tip is better?")
    person.write(page.get_by_label("Title"), "Compare two tips for everyday life")
    person.write(page.get_by_label("Short name"), "tips")
    person.click(page.locator("#s-questions > summary"))
    person.write(page.locator("#f-criteria-1-label"), "Could you do what it says?")
    expect(frame_of(page).get_by_text("Could you do what it says?").first).to_be_visible()
    person.press("Add a checklist")
    person.write(page.locator("#f-criteria-2-label"), "What is wrong with it?")
    person.write(page.locator("#f-criteria-2-choices-1-label"), "It says nothing")
    person.write(page.locator("#f-criteria-2-choices-1-value"), "nothing")
    expect(frame_of(page).get_by_text("It says nothing").first).to_be_visible()


def try_items(person: Person, pictures: Pictures) -> None:
    page = person.page
    person.bring(page.locator("#items_file"), FILE)
    person.press("Show these items")
    expect(frame_of(page).get_by_text("How do I keep my hands warm").first).to_be_visible()
    page.evaluate("window.scrollTo(0, 0)")
    pictures.take(page, "builder")


def test_from_a_file_to_a_published_pairwise_study(
    visit: Visit, eager: None, pictures: Pictures, tmp_path: Path, settings
) -> None:
    settings.MEDIA_ROOT = tmp_path
    page = visit("/survey-types/")
    page.set_default_timeout(8000)
    person = Person(page)
    begin(person, pictures)
    word(person)
    try_items(person, pictures)
    person.press("Publish this survey type")
    person.write(page.get_by_label("Name of the new survey"), "Tips, plain or chatty")
    person.bring(page.locator("[name=items]"), FILE)
    person.press("Look before importing")
    pictures.take(page, "tips-columns")
    person.press("Look before importing")
    person.press("Confirm: import 6 items")
    person.click(page.get_by_label("No marketplace"))
    person.press("Publish 2 HITs for $16.00")
    expect(page.locator(".status.open").first).to_be_visible()
    pictures.take(page, "tips-published")
    assert (person.clicks, person.fields, person.files) == (11, 8, 2)  # as docs/builder.md says
    assert UNPRACTISED * person.seconds < TEN_MINUTES
    page.close()
    batch = Batch.objects.get()
    assert batch.definition.key == "tips"
    assert [criterion.label for criterion in batch.definition.criteria] == [
        "Could you do what it says?",
        "What is wrong with it?",
    ]
    assert pictures.shown == pictures.kept, "make tutorial takes the pictures again"


def test_what_is_typed_is_kept_marked_and_undone_by_keyboard(visit: Visit) -> None:
    page = visit("/survey-types/new/")
    page.get_by_role("button", name="Begin with One text").press("Enter")
    page.locator("#s-what-is-shown > summary").press("Enter")
    page.get_by_label("Outputs shown together").fill("none")
    expect(page.locator("#f-outputs_per_item-p")).to_contain_text("not 'none'", timeout=15000)
    assert faults(page) == []
    page.locator("#undo").press("Enter")
    expect(page.locator("#saved")).to_contain_text("Version 1, saved")
    assert page.locator("#f-outputs_per_item").input_value() == "1"


def test_who_comes_second_reads_so_and_finds_both(visit: Visit) -> None:
    page = visit("/survey-types/new/")
    page.get_by_role("button", name="Begin with One text").click()
    other = page.context.new_page()
    other.goto(page.url)
    page.get_by_label("Title").fill("From the first window")
    settled(page, 2)
    other.get_by_label("Title").fill("From the second window")
    other.get_by_role("link", name="look at both").click()
    expect(other.get_by_text("title: From the first window")).to_be_visible()
    expect(other.get_by_text("title: From the second window")).to_be_visible()
    assert faults(other) == []
    other.get_by_role("button", name="Go on with version 3").click()
    assert other.get_by_label("Title").input_value() == "From the second window"


def test_without_scripts_buttons_do_all_of_it(visit: Visit) -> None:
    page = visit("/survey-types/new/", scripts=False)
    page.get_by_role("button", name="Begin with One text").click()
    page.get_by_label("Title").fill("By plain posts")
    page.locator("#s-questions > summary").click()
    page.get_by_role("button", name="Add a text").click()
    assert page.get_by_label("Title").input_value() == "By plain posts"
    assert page.locator("#f-criteria-3-label").input_value() == "In your words?"
    assert ProtocolDraft.objects.get().current == 2


def test_the_page_beside_takes_no_key_from_who_types(visit: Visit) -> None:
    page = visit("/survey-types/new/")
    page.get_by_role("button", name="Begin with One text").click()
    page.get_by_label("Title").fill("")
    frame_of(page).locator("html.js").wait_for()
    page.get_by_label("Title").press_sequentially("One ")
    settled(page, 2)
    frame_of(page).locator("html.js h1", has_text="One").wait_for()
    page.keyboard.type("and two")
    assert page.get_by_label("Title").input_value() == "One and two"


def test_what_is_typed_while_a_save_is_under_way_is_sent_after_it(visit: Visit) -> None:
    page = visit("/survey-types/new/")
    page.get_by_role("button", name="Begin with One text").click()
    held = held_saves(page)
    page.get_by_label("Title").fill("First")
    expect(page.locator("#saved")).to_have_text("Saving…")
    page.get_by_label("Name", exact=True).fill("Second")
    page.locator("#s-questions > summary").click()
    page.get_by_role("button", name="Add a text").click()  # which waits for the answer
    page.get_by_label("Short name").fill("third")
    held.pop().continue_()
    expect(page.locator("#f-criteria-3-label")).to_have_value("In your words?")
    assert typed(page) == ["Second", "First", "third"]
    assert list(ProtocolDraftVersion.objects.values_list("number", "is_aside")) == [
        (1, False),
        (2, False),
        (3, False),
        (4, False),
    ]


def test_what_is_typed_before_the_script_is_there_is_kept(visit: Visit) -> None:
    page = visit("/survey-types/new/")
    scripts: list[Route] = []
    page.route("**/builder.js*", lambda route: scripts.append(route))
    page.get_by_role("button", name="Begin with One text").click(no_wait_after=True)
    page.get_by_label("Title").fill("Typed early")
    scripts.pop().continue_()
    settled(page, 2)
    assert "Typed early" in ProtocolDraft.objects.get().versions.get(number=2).document


def test_what_is_chosen_before_the_script_is_there_asks_what_depends_on_it(visit: Visit) -> None:
    page = visit("/survey-types/new/")
    scripts: list[Route] = []
    page.route("**/builder.js*", lambda route: scripts.append(route), times=1)
    page.get_by_role("button", name="Begin with Several answers, ranked").click(no_wait_after=True)
    page.locator("#s-questions > summary").click()
    page.locator("#f-preference-by").select_option("The best and the worst")
    scripts.pop().continue_()
    expect(page.locator("#f-preference-worst_label")).to_have_value("Which is worst?")


def test_what_is_typed_after_somebody_else_saved_is_kept_too(visit: Visit) -> None:
    page = visit("/survey-types/new/")
    page.get_by_role("button", name="Begin with One text").click()
    other = page.context.new_page()
    other.goto(page.url)
    page.get_by_label("Title").fill("From the first window")
    settled(page, 2)
    held = held_saves(other)
    other.get_by_label("Title").fill("From the second window")
    expect(other.locator("#saved")).to_have_text("Saving…")
    other.get_by_label("Name", exact=True).fill("Typed meanwhile")
    held.pop().continue_()
    expect(other.get_by_role("link", name="look at both")).to_have_attribute("href", re.compile("/4/$"))
    assert typed(other)[:2] == ["Typed meanwhile", "From the second window"]
    kept = ProtocolDraft.objects.get().versions.get(number=4)
    assert (kept.is_aside, "Typed meanwhile" in kept.document) == (True, True)


def test_a_name_is_changed_as_one_types_and_the_page_goes_on_following(visit: Visit) -> None:
    page = visit("/survey-types/new/")
    page.get_by_role("button", name="Begin with Two answers").click()
    page.locator("#s-questions > summary").click()
    page.locator("#f-criteria-1 > details.more > summary").click()
    name = page.locator("#f-criteria-1-key")
    name.fill("")
    name.press_sequentially("better_2", delay=120)  # on the way it is the preference’s
    page.locator("#s-instructions > summary").click()
    settled(page, 2)
    page.locator("#f-instructions-summary").fill("Read both answers.")
    settled(page, 3)
    expect(frame_of(page).get_by_text("Read both answers.").first).to_be_visible()
    expect(page.locator("#f-headline")).to_have_value("better_2")
    assert "headline: better_2" in ProtocolDraft.objects.get().versions.get(number=3).document
    expect(page.locator("#n-problems")).to_be_empty()


def test_what_is_chosen_among_follows_what_is_written(visit: Visit) -> None:
    page = visit("/survey-types/new/")
    page.get_by_role("button", name="Begin with Two answers").click()
    page.locator("#s-quiz > summary").click()
    page.get_by_role("button", name="Add a question").click()
    for n, (label, value) in enumerate([("Yes", "yes"), ("No", "no")], 1):
        page.locator(f"#f-quiz-1-choices-{n}-label").fill(label)
        page.locator(f"#f-quiz-1-choices-{n}-value").fill(value)
    page.locator("#f-quiz-1-feedback").fill("So it is.")
    right = page.locator("#f-quiz-1-answer")
    expect(right.locator("option")).to_have_text(["Yes", "No"])
    expect(right).to_have_value("yes")
    expect(page.locator("#n-problems")).to_be_empty()
    page.locator("#f-criteria-1-label").evaluate("node => node.closest('details.section').open = true")
    page.locator("#f-criteria-1-label").fill("Is it helpful?")
    main = page.locator("#f-headline option")
    expect(main).to_have_text(["Is it helpful?", "Which answer is better?"])


def test_what_is_to_be_mended_stays_in_sight_and_leads_there(visit: Visit) -> None:
    page = visit("/survey-types/new/")
    page.get_by_role("button", name="Begin with One text").click()
    page.locator("#s-what-is-shown > summary").click()
    page.get_by_label("Outputs shown together").fill("none")
    page.locator("#s-what-is-shown > summary").click()
    expect(page.locator("#still")).to_contain_text("This is version 1: the page stands still")
    page.locator(".discard").scroll_into_view_if_needed()
    hint = page.get_by_role("link", name="1 thing to mend")
    expect(hint).to_be_in_viewport()
    hint.click()
    expect(page.get_by_label("Outputs shown together")).to_be_focused()
    assert faults(page) == []
    page.get_by_label("Outputs shown together").fill("1")
    expect(page.locator("#still")).to_be_empty()
