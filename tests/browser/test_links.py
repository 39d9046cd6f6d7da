"""People who come by link, in a real browser: in several tabs at once, by keyboard alone, without JavaScript."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Error, Locator, Page, expect
from pytest_django import Settings
from pytest_playwright.pytest_playwright import CreateContextCallback

from annotators.models import Assignment
from surveys.models import AnnotationSlot, AnswerRevision, Batch, Rating, Response
from tests.link_people import invite_one
from tests.link_study import make_link_batch, path_of
from tests.services_site import Site

PHONE = {"width": 375, "height": 700}
OVERTAKEN = "Nothing was overwritten"
SAVED = re.compile("^Saved")


@pytest.fixture
def app_url(site: Site, settings: Settings, tmp_path: Path) -> str:
    settings.MEDIA_ROOT = tmp_path
    return site.app_url


@pytest.fixture
def batch(app_url: str) -> Batch:
    return make_link_batch()


@pytest.fixture
def link(app_url: str, batch: Batch) -> str:
    return app_url + path_of(invite_one(batch, "Ada"))


@pytest.fixture
def plain(new_context: CreateContextCallback) -> Page:
    context = new_context(java_script_enabled=False, viewport=PHONE)
    context.set_default_timeout(8000)
    return context.new_page()


@pytest.fixture
def open_tabs(new_context: CreateContextCallback) -> Callable[[str], list[Page]]:
    """A function that opens two tabs of one person at an address."""

    def tabs(address: str) -> list[Page]:
        context = new_context()
        context.set_default_timeout(10_000)
        pages = [context.new_page() for _ in range(2)]
        for page in pages:
            page.goto(address)
        return pages

    return tabs


def scores_of(number: int) -> list[str]:
    ratings = Rating.objects.filter(response__assignment__annotation_slot__number=number)
    return list(ratings.order_by("pk").values_list("value", flat=True))


def choose(page: Page, *values: str) -> None:
    for group, value in zip(page.locator(".output .group").all(), values, strict=True):
        group.locator(f"input[value='{value}']").check()
        expect(page.locator("#hit")).not_to_have_attribute("data-settles", "")  # until then a tap is none


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until `target` has the focus, as somebody without a mouse does."""
    for _ in range(80):
        if target.evaluate("node => node === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail("The focus did not get there.")


# -- At once ----------------------------------------------------------------------------------------------------------


def send(tab: Page, value: str) -> None:
    """Give every criterion the score `value` and submit; return before the answer is there."""
    tab.evaluate(
        """value => {
            document.documentElement.isOld = true;
            document.querySelectorAll(`.output input[value="${value}"]`).forEach(input => input.click());
            setTimeout(() => document.getElementById("hit").requestSubmit(), 20);
        }""",
        value,
    )


def arrive(tab: Page) -> None:
    """Wait for the next page. The page's own policy forbids to wait by a script in it."""
    for _ in range(400):
        with suppress(Error):  # between two pages there is nothing to ask
            if tab.evaluate("() => !document.documentElement.isOld && document.readyState === 'complete'"):
                return
        tab.wait_for_timeout(50)
    pytest.fail("The next page did not come.")


def start(tab: Page) -> None:
    tab.evaluate(
        """() => {
            document.documentElement.isOld = true;
            setTimeout(() => document.querySelector(".start").submit(), 20);
        }"""
    )


def is_working(tab: Page) -> bool:
    return tab.locator("#hit").count() == 1


def test_two_people_with_two_tabs_each_at_once(open_tabs: Callable[[str], list[Page]], app_url: str) -> None:
    """Every tab gives scores of its own, so that what is stored tells which of them it came from."""
    batch = make_link_batch(n_items=6)
    people = ["Ada", "Bob"]
    addresses = [app_url + path_of(invite_one(batch, name)) for name in people]
    tabs = [tab for address in addresses for tab in open_tabs(address)]
    values = dict(zip(tabs, "5432", strict=True))
    given: list[tuple[str, str]] = []  # (annotation id, score) as the tabs were told they were saved
    for tab in tabs:
        start(tab)
    for tab in tabs:
        arrive(tab)
    for _ in range(12):
        working = [tab for tab in tabs if is_working(tab)]
        if not working:
            break
        numbers = {tab: re.search(r"/(\d+)/", tab.url.rpartition("/links/")[2])[1] for tab in working}
        for tab in working:
            send(tab, values[tab])
        for tab in working:
            arrive(tab)
            if OVERTAKEN in tab.content():
                tab.goto(addresses[tabs.index(tab) // 2])
                tab.locator(".start button").click() if tab.locator(".start").count() else None
            else:
                given.append((numbers[tab], values[tab]))
    assert [is_working(tab) for tab in tabs] == [False] * 4
    stored = {str(slot.number): scores_of(slot.number) for slot in AnnotationSlot.objects.all()}
    assert stored == {number: [value] * 3 for number, value in sorted(given)}
    assert len(given) == 6  # no tab was told that it had saved what another had saved
    holders = AnnotationSlot.objects.values_list("number", "assignment__worker__invitations__name")
    assert {name for _, name in holders} == set(people)
    assert (AnswerRevision.objects.count(), Assignment.objects.filter(saved_at=None).count()) == (0, 0)


def test_second_tab_is_shown_what_the_first_saved(context: BrowserContext, link: str) -> None:
    first, second = two_tabs(context, link)
    choose(second, "1", "1", "1")
    expect(second.locator("#state")).to_have_text(re.compile("^Saved "))
    first.bring_to_front()  # as for whoever looks at it; a tab behind draws, and clicks, once a second
    choose(first, "5", "4", "3")
    first.locator("[data-go=submit]").click()
    expect(first.locator("h1")).to_have_text("Annotation 2")
    second.bring_to_front()
    second.locator("[data-go=submit]").click()
    expect(second.locator("#overtaken")).to_contain_text(OVERTAKEN)
    expect(second.locator(".output input:checked").first).to_have_value("5")
    assert scores_of(1) == ["5", "4", "3"]
    second.get_by_role("button", name="Replace them with what I have just sent").click()
    expect(second.get_by_text("Annotation 1 is saved.")).to_be_visible()
    assert scores_of(1) == ["1", "1", "1"]


def two_tabs(context: BrowserContext, link: str) -> tuple[Page, Page]:
    """The same annotation, twice."""
    tabs = context.new_page(), context.new_page()
    for tab in tabs:
        tab.goto(f"{link}1/")
    return tabs


def told_of_another(context: BrowserContext, link: str) -> tuple[Page, Page]:
    """The scores of the first tab are saved; the second has a comment, and is told that it came too late."""
    first, second = two_tabs(context, link)
    first.bring_to_front()
    choose(first, "5", "4", "3")
    expect(first.locator("#state")).to_have_text(SAVED)
    second.bring_to_front()
    second.locator("#id_comment").fill("Too dark.")
    expect(second.locator("#state")).to_contain_text("changed in another tab")
    return first, second


def send_all(tab: Page) -> None:
    tab.bring_to_front()
    choose(tab, "5", "4", "3")
    tab.locator("[data-go=submit]").click()
    expect(tab.locator("h1")).to_have_text("Annotation 2")


def test_what_an_incomplete_second_tab_sent_is_offered_until_it_is_left(
    context: BrowserContext, link: str
) -> None:
    first, second = told_of_another(context, link)
    second.reload()
    expect(second.locator("#id_comment")).to_have_value("Too dark.")
    expect(second.locator("#state")).to_have_text(SAVED)
    first.bring_to_front()
    first.locator("[data-go=submit]").click()
    expect(first.locator("h1")).to_have_text("Annotation 2")
    second.bring_to_front()
    second.locator("[data-go=submit]").click()
    expect(second.locator("#overtaken")).to_contain_text("was not complete")
    for _ in range(2):  # however often it is looked at
        second.goto(f"{link}1/")
        expect(second.locator(".other")).to_be_visible()
    expect(second.locator("#id_comment")).to_have_value("")
    second.get_by_role("button", name="Show those instead").click()
    expect(second.locator("#id_comment")).to_have_value("Too dark.")
    choose(second, "1", "4", "3")
    second.get_by_role("button", name="Save the changes").click()
    expect(second.get_by_text("Annotation 1 is saved.")).to_be_visible()
    assert scores_of(1) == ["1", "4", "3"]
    assert Assignment.objects.exclude(saved_at=None).get().comment == "Too dark."


def test_what_is_shown_again_with_its_gaps_outlives_its_page(context: BrowserContext, link: str) -> None:
    first, second = two_tabs(context, link)
    second.locator("#id_comment").fill("Too dark.")
    expect(second.locator("#state")).to_have_text(SAVED)
    send_all(first)
    second.bring_to_front()
    second.locator("[data-go=submit]").click()
    second.get_by_role("button", name="Show what I have just sent").click()
    expect(second.locator("#state")).to_have_text("Changed, not saved yet")
    expect(second.locator("#id_comment")).to_have_value("Too dark.")
    second.once("dialog", lambda dialog: dialog.accept())
    second.goto(f"{link}1/")
    expect(second.locator("#id_comment")).to_have_value("Too dark.")
    choose(second, "1", "4", "3")
    second.get_by_role("button", name="Save the changes").click()
    expect(second.get_by_text("Annotation 1 is saved.")).to_be_visible()
    assert Assignment.objects.exclude(saved_at=None).get().comment == "Too dark."
    second.goto(f"{link}1/")
    expect(second.locator("#id_comment")).to_have_value("Too dark.")


def test_a_draft_of_a_tab_that_never_sent_it_is_offered(context: BrowserContext, link: str) -> None:
    """It has arrived, and another tab, which was told, handed its own answers in all the same."""
    first, second = two_tabs(context, link)
    second.locator("#id_comment").fill("Too dark.")
    expect(second.locator("#state")).to_have_text(SAVED)
    second.close()
    first.bring_to_front()
    choose(first, "5", "4", "3")
    expect(first.locator("#state")).to_contain_text("changed in another tab")
    first.locator("[data-go=submit]").click()
    expect(first.locator("h1")).to_have_text("Annotation 2")
    first.goto(f"{link}1/")
    first.get_by_role("button", name="Show those instead").click()
    expect(first.locator("#id_comment")).to_have_value("Too dark.")


def test_a_tab_that_overtook_another_keeps_its_text_though_it_never_sends_it(
    context: BrowserContext, link: str
) -> None:
    first, second = told_of_another(context, link)
    for _ in range(2):
        second.reload()
        expect(second.locator(".other")).to_be_visible()
        expect(second.locator("#state")).to_have_text(SAVED)
    second.close()
    first.bring_to_front()
    first.locator("[data-go=submit]").click()
    expect(first.locator("h1")).to_have_text("Annotation 2")
    first.goto(f"{link}1/")
    first.get_by_role("button", name="Show those instead").click()
    expect(first.locator("#id_comment")).to_have_value("Too dark.")
    first.get_by_role("button", name="Keep what is shown").click()
    expect(first.locator(".other")).to_have_count(0)


def type_into_second(first: Page, second: Page, text: str = "Too dark.") -> None:
    """The first tab has a score; the second, which does not know, is told to reload."""
    first.bring_to_front()
    first.locator(".output input[value='5']").first.check()
    expect(first.locator("#state")).to_have_text(SAVED)
    refuse(second, text)


def refuse(tab: Page, text: str) -> None:
    tab.bring_to_front()
    tab.locator("#id_comment").fill(text)
    expect(tab.locator("#state")).to_contain_text("changed in another tab")


def test_a_second_tab_is_offered_its_own_text_though_the_first_went_on(
    context: BrowserContext, link: str
) -> None:
    first, second = two_tabs(context, link)
    type_into_second(first, second)
    first.bring_to_front()
    first.locator(".output .group").nth(1).locator("input[value='4']").check()
    expect(first.locator("#state")).to_have_text("Saving…")
    expect(first.locator("#state")).to_have_text(SAVED)
    second.bring_to_front()
    second.reload()
    expect(second.locator(".output input:checked")).to_have_count(2)
    second.get_by_role("button", name="Show those instead").click()
    expect(second.locator("#id_comment")).to_have_value("Too dark.")
    second.get_by_role("button", name="Keep what is shown").click()
    expect(second.locator(".other")).to_have_count(0)  # nor what the first had before it went on
    expect(second.locator("#state")).to_have_text(SAVED)


def test_the_text_of_a_second_tab_is_offered_once_the_first_was_handed_in(
    context: BrowserContext, link: str
) -> None:
    first, second = two_tabs(context, link)
    type_into_second(first, second)
    second.close()
    send_all(first)
    first.goto(f"{link}1/")
    first.get_by_role("button", name="Show those instead").click()
    expect(first.locator("#id_comment")).to_have_value("Too dark.")


def test_the_texts_of_two_other_tabs_are_offered_in_turn(context: BrowserContext, link: str) -> None:
    first, second = two_tabs(context, link)
    third = context.new_page()
    third.goto(f"{link}1/")
    type_into_second(first, second, "Too dark.")
    refuse(third, "Too bright.")
    second.close()
    third.close()
    send_all(first)
    first.goto(f"{link}1/")
    comment, swap = first.locator("#id_comment"), first.get_by_role("button", name="Show those instead")
    leave = first.get_by_role("button", name="Keep what is shown")
    expect(first.locator(".other")).to_contain_text("Further ones: 1.")
    leave.dblclick()  # decides on one of them
    expect(first.locator(".other")).not_to_contain_text("Further ones")
    swap.click()
    expect(comment).to_have_value("Too dark.")
    leave.click()
    expect(first.locator(".other")).to_have_count(0)
    first.once("dialog", lambda dialog: dialog.accept())
    first.goto(f"{link}1/")
    expect(comment).to_have_value("Too dark.")  # shown and not handed in yet
    expect(first.locator(".other")).to_have_count(0)


def test_a_text_that_its_tab_went_on_with_is_not_dropped_for_what_it_was(
    context: BrowserContext, link: str
) -> None:
    first, second = two_tabs(context, link)
    type_into_second(first, second)
    send_all(first)
    first.goto(f"{link}1/")
    expect(first.locator(".other")).to_be_visible()
    refuse(second, "Too dark, and blurred.")
    expect(second.locator("#state")).to_contain_text("Saved on this device only")
    second.close()
    first.bring_to_front()
    first.get_by_role("button", name="Keep what is shown").click()
    expect(first.locator(".other")).to_have_count(0)
    first.reload()
    first.get_by_role("button", name="Show those instead").click()
    expect(first.locator("#id_comment")).to_have_value("Too dark, and blurred.")


def test_what_was_shown_before_is_still_offered_after_a_reload(context: BrowserContext, link: str) -> None:
    first, second = two_tabs(context, link)
    type_into_second(first, second)
    second.reload()
    expect(second.locator("#id_comment")).to_have_value("Too dark.")
    expect(second.locator("#state")).to_have_text(SAVED)
    first.close()
    for text, n_chosen in (("", 1), ("Too dark.", 0), ("", 1)):
        second.get_by_role("button", name="Show those instead").click()
        expect(second.locator("#state")).to_have_text("Saving…")
        expect(second.locator("#state")).to_have_text(SAVED)
        second.reload()
        expect(second.locator(".other")).to_be_visible()
        expect(second.locator("#id_comment")).to_have_value(text)
        expect(second.locator(".output input:checked")).to_have_count(n_chosen)
    second.get_by_role("button", name="Keep what is shown").click()
    second.reload()
    expect(second.locator("#state")).to_have_text("Saved")
    expect(second.locator(".other")).to_have_count(0)


def test_what_was_shown_before_outlives_a_reload_before_anything_was_sent(
    context: BrowserContext, link: str
) -> None:
    first, second = two_tabs(context, link)
    type_into_second(first, second)
    second.reload()
    expect(second.locator("#state")).to_have_text(SAVED)
    first.close()
    second.get_by_role("button", name="Show those instead").click()
    second.reload()
    expect(second.locator("#id_comment")).to_have_value("")
    expect(second.locator("#state")).to_have_text(SAVED)
    second.get_by_role("button", name="Show those instead").click()
    expect(second.locator("#id_comment")).to_have_value("Too dark.")


def test_who_hands_in_over_another_tab_is_offered_what_that_had_at_last(
    context: BrowserContext, link: str
) -> None:
    first, second = two_tabs(context, link)
    second.locator("#id_comment").fill("Too")
    expect(second.locator("#state")).to_have_text(SAVED)
    first.bring_to_front()
    choose(first, "5", "4", "3")
    expect(first.locator("#state")).to_contain_text("changed in another tab")
    second.bring_to_front()
    second.locator("#id_comment").fill("Too dark.")
    expect(second.locator("#state")).to_have_text("Saving…")
    expect(second.locator("#state")).to_have_text(SAVED)
    second.close()
    first.bring_to_front()
    first.locator("[data-go=submit]").click()
    expect(first.locator("h1")).to_have_text("Annotation 2")
    first.goto(f"{link}1/")
    first.get_by_role("button", name="Show those instead").click()
    expect(first.locator("#id_comment")).to_have_value("Too dark.")


def test_the_next_one_is_shown_from_its_top(new_context: CreateContextCallback, link: str) -> None:
    page = new_context(viewport=PHONE).new_page()
    page.goto(f"{link}1/")
    choose(page, "5", "4", "3")
    page.locator("[data-go=submit]").scroll_into_view_if_needed()
    assert page.evaluate("scrollY") > PHONE["height"]
    page.locator("[data-go=submit]").click()
    expect(page.locator("h1")).to_have_text("Annotation 2")
    expect(page.locator("h1")).to_be_in_viewport()
    assert page.evaluate("scrollY") == 0


def test_changed_answers_are_not_saved_before_they_are_sent(page: Page, link: str) -> None:
    page.goto(f"{link}1/")
    choose(page, "5", "4", "3")
    page.locator("[data-go=submit]").click()
    expect(page.locator("#state")).to_have_text("Annotation 1 is saved")
    page.goto(f"{link}1/")
    drafts: list[str] = []
    page.on("request", lambda request: request.method == "POST" and drafts.append(request.url))
    page.locator(".output input[value='1']").first.check()
    expect(page.locator("#state")).to_have_text("Changed, not saved yet")
    page.wait_for_timeout(700)  # longer than a draft waits
    assert drafts == []
    page.get_by_role("button", name="Save the changes").click()
    expect(page.get_by_text("Annotation 1 is saved.")).to_be_visible()
    assert scores_of(1) == ["1", "4", "3"]


def test_a_link_that_is_taken_back_keeps_what_was_chosen(page: Page, link: str, batch: Batch) -> None:
    page.goto(f"{link}1/")
    batch.invitations.update(revoked_at=batch.created_at)
    choose(page, "5", "4", "3")
    page.locator("[data-go=submit]").click()
    expect(page.locator("h1")).to_have_text("This link was withdrawn")
    expect(page.locator("main")).to_contain_text("is kept as a draft")
    assert sorted(Response.objects.get().draft.values()) == ["3", "4", "5"]


# -- The keyboard -----------------------------------------------------------------------------------------------------


def test_keyboard_alone_on_a_phone_sized_screen(new_context: CreateContextCallback, link: str) -> None:
    page = new_context(viewport=PHONE).new_page()
    page.goto(link)
    tab_to(page, page.get_by_role("button", name="Start"))
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Annotation 1")
    tab_to(page, page.locator("#instructions summary"))
    page.keyboard.press("Enter")
    tab_to(page, page.locator("[data-begin]"))
    page.keyboard.press("Enter")
    for key in ("5", "Enter", "4", "Enter", "2", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("h1")).to_have_text("Annotation 2")
    tab_to(page, page.locator(".skip summary"))
    page.keyboard.press("Enter")
    tab_to(page, page.locator("#i1-skip-1"))
    page.keyboard.press("Space")
    tab_to(page, page.locator("button[name=skip]"))
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Annotation 3")
    tab_to(page, page.locator("#number"))
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Annotation 1")
    tab_to(page, page.locator(".output input:checked").first)
    page.keyboard.press("ArrowDown")
    tab_to(page, page.get_by_role("button", name="Save the changes"))
    page.keyboard.press("Enter")
    expect(page.locator("h2#mine + ol li")).to_have_text(
        [
            re.compile("Annotation 1 answered"),
            re.compile("Annotation 2 skipped"),
            re.compile("Annotation 3 open"),
        ]
    )
    assert (scores_of(1), scores_of(2)) == (["4", "4", "2"], [])


# -- Without JavaScript -----------------------------------------------------------------------------------------------


def test_everything_works_without_javascript(plain: Page, link: str) -> None:
    plain.goto(link)
    plain.get_by_role("button", name="Start").click()
    plain.locator(".output input[value='5']").first.check()
    plain.get_by_role("button", name="Submit").click()
    expect(plain.locator("#errors li")).to_have_count(2)
    expect(plain.locator(".output input:checked")).to_have_count(1)
    choose(plain, "5", "4", "2")
    plain.get_by_role("button", name="Submit").click()
    expect(plain.locator("#state")).to_have_text("Annotation 1 is saved")
    plain.locator(".skip summary").click()
    plain.get_by_label("A text is missing").check()
    plain.get_by_role("button", name="Skip", exact=True).click()
    expect(plain.locator("h1")).to_have_text("Annotation 3")
    choose(plain, "1", "1", "1")
    plain.get_by_role("button", name="Submit").click()
    expect(plain.locator("h1")).to_have_text("Thank you")
    plain.get_by_role("link", name="Your list").click()
    plain.get_by_role("link", name="Annotation 1").click()
    plain.locator(".output input[value='3']").first.check()
    plain.get_by_role("button", name="Save the changes").click()
    assert [scores_of(n) for n in (1, 2, 3)] == [["3", "4", "2"], [], ["1", "1", "1"]]


def test_without_javascript_one_comes_back_to_what_was_missing(plain: Page, link: str) -> None:
    plain.goto(f"{link}1/")
    plain.locator(".output input[value='5']").first.check()
    plain.locator(".skip summary").click()
    plain.get_by_role("button", name="Skip", exact=True).click()
    missing = plain.locator("#errors li")
    expect(missing).to_have_text(["Why can’t it be judged?"])
    plain.get_by_role("link", name="Your list").click()
    plain.go_back()
    expect(missing).to_have_count(1)
    plain.reload()
    expect(missing).to_have_count(1)
    expect(plain.locator(".output input:checked")).to_have_value("5")
    plain.get_by_role("button", name="Submit").click()
    expect(missing).to_have_count(2)
    choose(plain, "5", "4", "2")
    plain.get_by_role("button", name="Submit").click()
    expect(plain.locator("#state")).to_have_text("Annotation 1 is saved")
    assert scores_of(1) == ["5", "4", "2"]


def test_enter_without_javascript_submits_and_never_skips(plain: Page, link: str) -> None:
    plain.goto(f"{link}1/")
    choose(plain, "5", "4", "2")
    plain.locator(".skip summary").click()
    plain.get_by_label("Another reason").check()
    plain.locator(".output input[value='5']").first.press("Enter")
    expect(plain.locator("h1")).to_have_text("Annotation 2")
    assert scores_of(1) == ["5", "4", "2"]
