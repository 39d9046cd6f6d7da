"""The HIT in a real browser, in a sandboxed frame of another site, as marketplaces show it."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Frame, Page, Route, expect
from pytest_django import Settings
from pytest_playwright.pytest_playwright import CreateContextCallback

from annotators.models import Assignment
from surveys.models import Batch, Questionnaire, Rating, Response
from surveys.protocols.conditions import Condition
from tests.builders import make_questionnaire
from tests.frame_market import FrameServer, Market
from tests.policy_data import NEVER
from tests.protocols import WITH_NONE
from tests.services_site import Site

SECRETS = ("#3r1e", "%233r1e", "16054198", "ground_truth", "ofa-x")


@pytest.fixture
def server() -> Iterator[FrameServer]:
    server = FrameServer()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def app_url(site: Site, server: FrameServer, settings: Settings, tmp_path: Path) -> str:
    settings.MEDIA_ROOT = tmp_path
    settings.FRAME_ANCESTORS = [server.origin]
    embedded = settings.MTURK_ENDPOINTS["embedded"] | {"submit_origins": [server.origin]}
    settings.MTURK_ENDPOINTS = settings.MTURK_ENDPOINTS | {"embedded": embedded}
    return site.app_url


@pytest.fixture
def questionnaire(app_url: str) -> Questionnaire:
    return make_questionnaire(n_items=2, review_policy=NEVER)


@pytest.fixture
def market(
    context: BrowserContext, server: FrameServer, app_url: str, questionnaire: Questionnaire
) -> Market:
    return Market(context, server, app_url=app_url, questionnaire=questionnaire)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def answer_all(frame: Frame) -> None:
    """Choose the last choice of every group, without stepping through."""
    for group in frame.query_selector_all(".group"):
        group.evaluate("group => [...group.querySelectorAll('input')].at(-1).click()")


def wait_saved(frame: Frame) -> None:
    expect(frame.locator("#state")).to_have_text(re.compile(r"^Saved \d\d:\d\d$"))


def wait_until(is_true: Callable[[], bool], *, page: Page, seconds: float = 8) -> None:
    """Wait for something that no element of the page shows."""
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, "It did not happen."
        page.wait_for_timeout(50)


# -- With JavaScript --------------------------------------------------------------------------------------------------


def test_whole_hit_with_the_keyboard_alone(market: Market) -> None:
    page, frame = market.open()
    frame.locator("[data-begin]").press("Enter")
    expect(frame.locator("#i1-title")).to_be_focused()
    press(page, "1", "Enter", "y", "Enter", "Enter", "n", "Enter", "2", "3", "Enter", "1", "Enter")
    expect(frame.locator("#i2")).to_be_visible()
    expect(frame.locator("#i1")).to_be_hidden()
    press(page, "2", "Enter", "1", "Enter", "Enter", "2", "Enter", "Enter", "3", "Enter")
    expect(frame.locator("h1")).to_have_text("Thank you")
    assert [sorted(fields) for fields in market.server.submitted] == [
        ["assignmentId", "nonce", "taskAnswers"]
    ]
    first, _second = Response.objects.order_by("position")
    ratings = Rating.objects.filter(response=first, output=first.shown["outputs"][0], score=1).values_list(
        "criterion", "value"
    )
    assert sorted(ratings) == [
        ("justifies", "yes"),
        ("preference", "preferred"),
    ]
    second_output = Rating.objects.filter(response=first, output=first.shown["outputs"][1])
    assert second_output.get(criterion="justifies").value == "no"
    assert list(second_output.filter(score=1).values_list("criterion", flat=True).order_by("criterion")) == [
        "shortcomings.confusing_sentence",
        "shortcomings.insufficient_justification",
    ]


def test_a_choice_never_moves_on_and_a_slip_is_put_right(market: Market) -> None:
    page, frame = market.open()
    answers, first, flaws = (frame.locator("#i1 .group").nth(n).locator("input") for n in range(3))
    frame.locator("#i1-title").focus()
    press(page, "1", "2")
    expect(answers.nth(1)).to_be_focused()
    press(page, "Enter", "y", "n")
    expect(first.last).to_be_checked()
    press(page, "Enter", "1", "Shift+Enter", "Shift+Enter")
    expect(answers.nth(1)).to_be_focused()
    press(page, "3", "Enter")
    expect(answers.nth(2)).to_be_checked()
    expect(flaws.first).to_be_checked()
    expect(frame.locator("#i1 .output").nth(1).locator("input").first).to_be_focused()
    frame.locator("[data-go=next]").click()
    expect(frame.locator("#i2-title")).to_be_focused()
    press(page, "Shift+Enter")
    expect(frame.locator("#i1-title")).to_be_focused()


WHOLE_WINDOW = "frame => frame.style = 'position: fixed; inset: 0; width: 100vw; height: 100vh; border: 0'"
BARS = "[...document.querySelectorAll('.bar, .move, .reminder')]"
STUCK = f"{BARS}.filter((bar) => getComputedStyle(bar).position === 'sticky')"
SHARE = f"{STUCK}.reduce((sum, bar) => sum + bar.offsetHeight, 0) / innerHeight"


def resize(page: Page, frame: Frame, width: int, height: int) -> None:
    """Make the window so large, and wait until the frame, which fills it, has seen that."""
    page.set_viewport_size({"width": width, "height": height})
    wait_until(lambda: bool(frame.evaluate(f"innerHeight === {height}")), page=page)


def test_what_is_judged_stays_in_view_on_a_phone(market: Market) -> None:
    page, frame = market.open()
    frame.frame_element().evaluate(WHOLE_WINDOW)
    shares = []
    for width, height in ((320, 200), (844, 390), (390, 844)):
        resize(page, frame, width, height)
        shares.append(0 < frame.evaluate(SHARE) <= 0.15)
    assert shares == [True, True, True]
    glance, last = frame.locator(".glance"), frame.locator("#i1 .output").first.locator(".checkbox")
    expect(glance).to_be_hidden()
    last.evaluate("(group) => group.scrollIntoView({ block: 'start' })")
    expect(glance.locator(".thumbnails img")).to_have_count(1)
    expect(glance.locator(".words > *")).to_have_text(
        [frame.locator("#i1 .asked").inner_text(), frame.locator("#i1 blockquote").first.inner_text()]
    )
    assert frame.locator("h1").inner_text() != ""  # still the page's heading for those who listen
    scrolled = frame.evaluate("scrollY")
    glance.click()
    larger = frame.get_by_role("dialog", name="What is judged")
    expect(larger.get_by_role("img")).to_have_attribute("alt", "Picture (Question 1)")
    expect(larger).to_contain_text(frame.locator("#i1 blockquote").first.inner_text())
    press(page, "1")
    assert frame.locator("#i1 input:checked").count() == 0
    larger.get_by_role("button", name="Actual size").click()
    expect(larger.get_by_role("button", name="Actual size")).to_have_attribute("aria-pressed", "true")
    press(page, "Escape")
    expect(larger).to_be_hidden()
    expect(glance).to_be_focused()
    assert frame.evaluate("scrollY") == scrolled
    enlarge = frame.get_by_role("button", name="Enlarge: Picture (Question 1)")
    enlarge.press("Enter")
    expect(larger).to_be_visible()
    larger.get_by_role("button", name="Close").click()
    expect(enlarge).to_be_focused()
    last.evaluate("(group) => group.scrollIntoView({ block: 'start' })")
    answer = frame.locator("#i1 .group").first.locator("label").nth(1)
    answer.locator("input").evaluate("(input) => input.click()")
    expect(glance.locator("b")).to_have_text(answer.inner_text())  # what an explanation is about
    resize(page, frame, 320, 200)
    last.evaluate("(group) => group.scrollIntoView({ block: 'start' })")
    expect(glance.locator(".words > *").last).to_be_visible()
    expect(glance.locator("b")).to_be_visible()
    frame.evaluate("Object.assign(document.querySelector('#state').dataset, { state: 'kept' })")
    frame.evaluate("document.querySelector('#state').textContent = 'Saved on this device – retrying'")
    assert frame.evaluate(SHARE) == 0  # with two lines in it, it goes away with the page


def test_reload_resumes_at_the_first_unfinished_item(market: Market) -> None:
    page, frame = market.open()
    frame.locator("#i1-title").focus()
    press(page, "1", "Enter", "y", "Enter", "Enter", "y", "Enter", "Enter", "2")
    frame.locator("[data-go=next]").click()
    frame.locator("#i2 .group").first.locator("label").nth(1).click()
    frame.fill("#id_comment", "Fine so far")
    wait_saved(frame)
    frame = market.show(page)
    expect(frame.locator("#i1")).to_be_hidden()
    expect(frame.locator("#i2")).to_be_visible()
    expect(frame.locator("[data-steps] button").first).to_have_attribute("aria-label", "Question 1, complete")
    expect(frame.locator("#i2 input:checked")).to_have_count(1)
    expect(frame.locator("#id_comment")).to_have_value("Fine so far")
    assert frame.locator("#i1 input:checked").count() == 4


def test_none_rules_out_the_others(market: Market) -> None:
    Batch.objects.update(snapshot=WITH_NONE.to_snapshot())
    _, frame = market.open()
    boxes = frame.locator("#i1 .checkbox").first.locator("input")
    boxes.nth(0).check()
    boxes.nth(3).check()
    expect(boxes.nth(0)).not_to_be_checked()
    boxes.nth(1).check()
    expect(boxes.nth(3)).not_to_be_checked()


def test_what_is_asked_follows_the_answers(market: Market) -> None:
    justifies, flaws = WITH_NONE.criteria
    asked = replace(flaws, asked_if=Condition("justifies", is_=("weak_no", "no")))
    Batch.objects.update(snapshot=replace(WITH_NONE, criteria=(justifies, asked)).to_snapshot())
    page, frame = market.open()
    lists, first = frame.locator("#i1 .checkbox"), frame.locator("#i1 .checkbox").first
    expect(lists.locator("visible=true")).to_have_count(0)
    frame.locator("#i1-title").focus()
    press(page, "1", "Enter", "n", "Enter")
    expect(first.locator("input").first).to_be_focused()
    expect(frame.locator("#asked")).to_have_text("One more question: What is wrong with it?")
    assert not frame.locator(".only-if").first.is_visible()
    press(page, "2", "Enter", "y", "Enter", "3")
    expect(lists.locator("visible=true")).to_have_count(1)
    done = frame.locator("[data-steps] button").first
    expect(done).to_have_attribute("aria-label", "Question 1, complete")
    first_scale = frame.locator("#i1 .output").first.locator("input[type=radio]")
    first_scale.first.check()
    expect(first).to_be_hidden()
    expect(done).to_have_attribute("aria-label", "Question 1, complete")
    first_scale.last.check()
    expect(first.locator("input").nth(1)).to_be_checked()  # nothing is lost while it is hidden
    first_scale.first.check()
    wait_saved(frame)
    frame = market.show(page)
    lists, first = frame.locator("#i1 .checkbox"), frame.locator("#i1 .checkbox").first
    first_scale = frame.locator("#i1 .output").first.locator("input[type=radio]")
    frame.locator("[data-go=back]").click()
    expect(first).to_be_hidden()
    first_scale.last.check()
    expect(first.locator("input").nth(1)).to_be_checked()  # nor by loading the page again
    first_scale.first.check()
    frame.locator("[data-go=next]").click()
    press(page, "1", "Enter", "y", "Enter", "y", "Enter", "1", "Enter")
    expect(frame.locator("h1")).to_have_text("Thank you")
    assert not Rating.objects.filter(criterion__startswith="shortcomings").exists()


def test_offline_is_said_and_saving_is_tried_again(market: Market) -> None:
    page, frame = market.open()
    page.route("**/draft", lambda route: route.abort())
    frame.locator("#i1 label").first.click()
    expect(frame.locator("#state")).to_have_text(re.compile("^Not saved: .* – retrying$"))
    assert frame.locator("#news").text_content() == frame.locator("#state").text_content()
    page.unroute("**/draft")
    wait_saved(frame)
    assert Response.objects.exclude(draft={}).count() == 1


def test_second_tab_is_told_that_it_is_behind(market: Market) -> None:
    _, first = market.open()
    _, second = market.open()
    first.page.bring_to_front()  # as for whoever looks at it; a tab behind draws, and clicks, once a second
    first.locator("#i1 label").first.click()
    wait_saved(first)
    second.page.bring_to_front()
    second.locator("#i1 label").nth(1).click()
    expect(second.locator("#state")).to_contain_text("changed in another tab")
    second.locator("#i1 label").nth(2).click()
    expect(second.locator("#state")).to_contain_text("changed in another tab")


def test_a_save_overtaken_by_the_same_page_is_not_another_tabs(market: Market) -> None:
    """Hidden in the middle of a save, the page sends what is newer at once, and that can arrive first."""
    page, frame = market.open()
    held: list[Route] = []
    page.route("**/draft", lambda route: route.continue_() if held else held.append(route))
    frame.locator("#i1 label").first.click()
    wait_until(lambda: bool(held), page=page)
    frame.locator("#i1 label").nth(1).click()
    frame.evaluate(
        """() => {
            Object.defineProperty(document, "visibilityState", { value: "hidden" });
            document.dispatchEvent(new Event("visibilitychange"));
        }"""
    )
    wait_until(lambda: Response.objects.exclude(draft_version=0).exists(), page=page)
    held[0].continue_()
    wait_saved(frame)


def test_leaving_the_page_at_once_loses_nothing(market: Market) -> None:
    page, frame = market.open()
    frame.locator("#i1 label").first.click()
    page.goto("about:blank")
    wait_until(lambda: Response.objects.exclude(draft={}).exists(), page=page)
    expect(market.show(page).locator("#i1 input:checked")).to_have_count(1)


def test_time_counts_only_on_the_item_in_view(market: Market) -> None:
    _page, frame = market.open()
    frame.locator("#i1 label").first.click()
    expect(frame.locator("[name=i1-seconds]")).not_to_have_value("0.0")
    assert frame.locator("[name=i2-seconds]").input_value() == "0.0"


def test_next_picture_is_fetched_while_the_first_is_looked_at(market: Market) -> None:
    pictures: list[str] = []
    market.context.on("request", lambda r: "/pictures/" in r.url and pictures.append(r.url))
    page, frame = market.open()
    expect(frame.locator("#i2")).to_be_hidden()
    wait_until(lambda: len(pictures) == 2, page=page)


def test_drafts_are_saved_in_a_frame_without_an_origin(market: Market) -> None:
    market.server.sandbox = "allow-scripts allow-forms"
    _, frame = market.open()
    frame.locator("#i1 label").first.click()
    wait_saved(frame)


def test_errors_take_the_focus_and_lead_to_the_questions(market: Market) -> None:
    _, frame = market.open()
    frame.locator("#i1 label").first.click()
    frame.locator("[data-steps] button").nth(1).click()
    frame.locator("[data-go=submit]").click()
    expect(frame.locator("#errors")).to_be_focused()
    expect(frame.locator("#errors li")).to_have_count(7)
    frame.locator("#errors li a").last.click()
    target = frame.locator("#i2-preference-1")
    expect(target).to_be_focused()
    target.check()
    expect(frame.locator("#errors li")).to_have_count(6)
    assert target.locator("xpath=ancestor::fieldset").get_attribute("aria-invalid") is None


def test_keys_can_be_switched_off(market: Market) -> None:
    page, frame = market.open()
    frame.locator("#keys summary").click()
    frame.get_by_label("Use these keys").uncheck()
    frame.locator("#i1-title").focus()
    press(page, "1", "y", "?")
    assert frame.locator("#i1 input:checked").count() == 0


def test_second_submit_of_an_old_tab_shows_the_receipt(market: Market) -> None:
    _, old = market.open()
    _, new = market.open()
    for frame in (new, old):
        frame.page.bring_to_front()
        answer_all(frame)
        frame.locator("[data-steps] button").nth(1).click()
        frame.locator("[data-go=submit]").click()
    expect(old.get_by_role("heading", name="Your answers are saved")).to_be_visible()
    expect(old.get_by_role("button", name="Send again")).to_be_visible()
    assert len(market.server.submitted) == 1


# -- Preview, no JavaScript -------------------------------------------------------------------------------------------


def test_preview_has_nothing_to_answer_or_submit(market: Market) -> None:
    page, frame = market.open(assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE", workerId="")
    posts: list[str] = []
    page.on("request", lambda request: request.method == "POST" and posts.append(request.url))
    expect(frame.get_by_text("This is a preview.")).to_be_visible()
    press(page, "Tab", "1", "y", "Enter")
    assert frame.locator("input:enabled, button:enabled:visible, form").count() == 0
    assert frame.locator("input:checked").count() == 0
    assert posts == []
    assert Assignment.objects.count() == 0


def test_hit_by_finger_takes_a_tap_for_each_answer(
    new_context: CreateContextCallback, server: FrameServer, app_url: str, questionnaire: Questionnaire
) -> None:
    """On a phone a first answer brings the next question to the top; a correction moves nothing."""
    phone = new_context(viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce")
    market = Market(phone, server, app_url=app_url, questionnaire=questionnaire)
    page = phone.new_page()
    page.goto(market.url())
    page.locator("[data-begin]").tap()
    tops = []
    required = page.locator(".group:not(.optional)")
    for n in range(required.count()):
        tops.append(round(required.nth(n).bounding_box()["y"]))
        required.nth(n).locator("label").first.tap()
        expect(page.locator("#hit")).not_to_have_attribute("data-settles", "")  # until then a tap is none
    before = page.evaluate("scrollY")
    required.last.locator("label").last.tap()
    assert page.evaluate("scrollY") == before
    assert [top for top in tops if not 50 < top < 600] == []
    page.locator("[data-go=submit]").tap()
    wait_until(lambda: Assignment.objects.filter(saved_at__isnull=False).exists(), page=page)


@pytest.fixture
def plain_market(
    new_context: CreateContextCallback, server: FrameServer, app_url: str, questionnaire: Questionnaire
) -> Market:
    context = new_context(java_script_enabled=False)
    return Market(context, server, app_url=app_url, questionnaire=questionnaire)


def test_hit_works_without_javascript(plain_market: Market) -> None:
    page, frame = plain_market.open()
    frame.frame_element().evaluate(WHOLE_WINDOW)
    resize(page, frame, 320, 200)
    assert frame.evaluate(SHARE) == 0  # nothing that has scrolled away is in the bar
    groups = frame.locator(".group")
    for n in range(groups.count() - 1):
        groups.nth(n).locator("input").last.check()
    frame.fill("#id_comment", "No script here")
    frame.get_by_role("button", name="Submit").click()
    expect(frame.locator("#errors li")).to_have_count(1)
    assert frame.locator(".group input:checked").count() == 11
    page.goto("about:blank")
    page.go_back()  # the frame goes on where it was, too
    frame = page.frames[1]
    expect(frame.locator("#errors li")).to_have_count(1)
    expect(frame.locator("#id_comment")).to_have_value("No script here")
    frame.locator("#i2-preference-1").check()
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_role("button", name="Send to the marketplace").click()
    expect(frame.locator("h1")).to_have_text("Thank you")
    assert plain_market.server.submitted[0]["comment"] == ["No script here"]
    assert Assignment.objects.get().saved_at is not None


# -- Looks ------------------------------------------------------------------------------------------------------------


def test_targets_are_large_enough_for_a_finger(market: Market) -> None:
    _page, frame = market.open()
    small = frame.evaluate(
        """() => [...document.querySelectorAll('.choices label, button, summary')]
        .filter(node => node.offsetParent && node.getBoundingClientRect().height < 44).map(node => node.outerHTML)"""
    )
    assert small == []


def test_a_thin_picture_is_as_wide_as_a_finger(market: Market) -> None:
    page, frame = market.open()
    page.bring_to_front()
    reached = frame.evaluate(
        """() => {
            const picture = document.querySelector("#i1 .enlarge img");
            picture.style.width = "8px";
            picture.scrollIntoView({ block: "center" });
            const { x, y } = picture.getBoundingClientRect();
            const isReached = (at) => Boolean(document.elementFromPoint(at, y + 1)?.closest(".enlarge"));
            return [-20, -16, 4, 24, 28].map((by) => isReached(x + by));
        }"""
    )
    assert reached == [False, True, True, True, False]


def test_no_traffic_tells_gold_or_systems(market: Market) -> None:
    seen: list[str] = []
    market.context.on("request", lambda r: seen.append(f"{r.url} {r.post_data or ''}"))
    market.context.on(
        "response", lambda r: seen.append("" if "image" in r.headers["content-type"] else r.text())
    )
    _, frame = market.open()
    frame.locator("#i1 label").first.click()
    wait_saved(frame)
    answer_all(frame)
    frame.locator("[data-steps] button").nth(1).click()
    frame.locator("[data-go=submit]").click()
    expect(frame.locator("h1")).to_have_text("Thank you")
    assert [(word, text[:200]) for text in seen for word in SECRETS if word in text] == []
    assert any("/draft" in text for text in seen)
    assert market.context.cookies() == []
