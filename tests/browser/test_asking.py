"""Consent, reports and pictures that are lost, in a real browser and in the marketplace's frame; with axe."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import BrowserContext, Frame, Page, Route, expect
from pytest_django import Settings
from pytest_playwright.pytest_playwright import CreateContextCallback

from surveys.models import Batch, Consent, Picture, ProblemReport, Questionnaire, Response
from surveys.studies import consent
from tests.accessible import faults
from tests.builders import frame_query, make_questionnaire
from tests.frame_market import FrameServer, Market
from tests.link_people import invite_one
from tests.link_study import make_link_batch, path_of
from tests.policy_data import NEVER
from tests.services_site import Site

WORDS = "We keep your answers.\n\n- for five years\n- under a random name"
RUSSIAN = "Мы храним ваши ответы пять лет."
THANKS = "Reported, with this question. Thank you! You can carry on."


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


@pytest.fixture
def plain_market(
    new_context: CreateContextCallback, server: FrameServer, app_url: str, questionnaire: Questionnaire
) -> Market:
    context = new_context(java_script_enabled=False)
    return Market(context, server, app_url=app_url, questionnaire=questionnaire)


def report(frame: Frame, text: str) -> None:
    frame.get_by_text("Report a problem with this question").first.click()
    frame.fill("#i1-problem", text)
    frame.get_by_role("button", name="Send the report").first.click()


# -- Consent ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sandbox", ["allow-scripts allow-forms allow-same-origin", "allow-scripts allow-forms"]
)
def test_a_worker_agrees_by_keyboard_in_a_frame_without_cookies(
    market: Market, questionnaire: Questionnaire, sandbox: str
) -> None:
    consent.write(questionnaire.batch.survey, WORDS, by=None)
    market.server.sandbox = sandbox
    page, frame = market.open()
    expect(frame.get_by_role("heading", name="Before you begin")).to_be_visible()
    frame.get_by_role("button", name="I have read this and agree").focus()
    page.keyboard.press("Enter")
    frame.wait_for_selector("#hit")
    assert Consent.objects.count() == 1
    assert [c for c in market.context.cookies() if c["name"] != "language"] == []


def test_without_scripts_a_worker_declines_reads_again_and_agrees(
    plain_market: Market, questionnaire: Questionnaire
) -> None:
    consent.write(questionnaire.batch.survey, WORDS, by=None)
    _, frame = plain_market.open()
    frame.get_by_role("button", name="I do not agree").click()
    expect(frame.get_by_role("heading", name="Thank you for reading")).to_be_visible()
    frame.get_by_role("link", name="Read it again").click()
    frame.get_by_role("button", name="I have read this and agree").click()
    expect(frame.locator("#hit")).to_have_count(1)


# -- Reports ----------------------------------------------------------------------------------------------------------


def test_a_report_leaves_the_answers_and_the_page_where_they_are(market: Market) -> None:
    _, frame = market.open()
    frame.locator("#i1 label").first.click()
    expect(frame.locator("#state")).to_have_text(re.compile(r"^Saved \d\d:\d\d$"))
    report(frame, "The picture is upside down.")
    expect(frame.locator("#i1-told")).to_have_text(THANKS)
    expect(frame.locator("#i1-problem")).to_have_value("")
    expect(frame.locator("#i1 input").first).to_be_checked()
    assert list(ProblemReport.objects.values_list("text", flat=True)) == ["The picture is upside down."]


def test_a_report_is_no_draft_and_its_keys_choose_nothing(market: Market) -> None:
    page, frame = market.open()
    frame.get_by_text("Report a problem with this question").first.click()
    frame.locator("#i1-problem").focus()
    page.keyboard.type("1 y ?")
    expect(frame.locator("#i1-problem")).to_have_value("1 y ?")
    expect(frame.locator("#state")).to_have_text("")
    assert frame.locator("#i1 .group input:checked").count() == 0
    assert Response.objects.exclude(draft={}).count() == 0


def test_a_report_that_does_not_arrive_says_so_and_stays(market: Market) -> None:
    page, frame = market.open()

    def cut(route: Route) -> None:
        route.abort() if route.request.method == "POST" else route.continue_()

    page.route("**/hits/**", cut)
    report(frame, "Too dark.")
    expect(frame.locator("#i1-told")).to_contain_text("Not sent")
    expect(frame.locator("#i1-problem")).to_have_value("Too dark.")
    page.unroute("**/hits/**")
    frame.get_by_role("button", name="Send the report").first.click()
    expect(frame.locator("#i1-told")).to_have_text(THANKS)


def test_without_scripts_a_report_takes_the_answers_along(plain_market: Market) -> None:
    _, frame = plain_market.open()
    frame.locator("#i1 .group input").first.check()
    report(frame, "Cut off.")
    expect(frame.locator("#i1-told")).to_have_text(THANKS)
    expect(frame.locator("#i1 .group input").first).to_be_checked()


def test_a_state_that_is_missing_is_told_beside_its_number(
    page: Page, site: Site, settings: Settings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    batch = make_link_batch(n_items=1)
    for gone in Picture.objects.filter(item__survey=batch.survey, position=1):
        gone.file.storage.delete(gone.file.name)
    page.goto(f"{site.app_url}{path_of(invite_one(batch))}1/")
    told, number = (
        page.locator(f".states li:first-child {part}").bounding_box() for part in (".missing", "figcaption")
    )
    assert told
    assert number
    assert told["y"] + told["height"] <= number["y"]


def test_without_scripts_enter_submits_and_reports_nothing(plain_market: Market) -> None:
    page, frame = plain_market.open()
    frame.locator("#i1 .group input").first.focus()
    page.keyboard.press("Enter")
    expect(frame.locator("#errors")).to_be_visible()
    expect(frame.locator("#i1-report")).not_to_have_attribute("open", "")


# -- Pictures that are lost -------------------------------------------------------------------------------------------


def test_a_picture_that_does_not_load_is_named_and_can_be_loaded_again(market: Market) -> None:
    page = market.context.new_page()
    market.server.address = market.url()
    page.route("**/pictures/**", lambda route: route.abort())
    frame = market.show(page)
    note = frame.locator("#i1 .missing")
    expect(note).to_contain_text("Picture (Question 1) can’t be loaded.")
    assert frame.locator("#i1 .look img").is_hidden()
    frame.locator("#i1 .group input").first.check()
    frame.get_by_label("Without it this can’t be judged").first.check()
    frame.evaluate("scrollTo(0, 0)")
    expect(frame.locator(".glance")).to_be_hidden()  # the answer is withdrawn
    frame.get_by_label("Without it this can’t be judged").first.uncheck()
    page.unroute("**/pictures/**")
    note.get_by_role("button", name="Load it again").click()
    expect(frame.locator("#i1 .look img")).to_be_visible()
    expect(note).to_have_count(0)


def test_the_pictures_of_the_next_annotation_are_there_before_it_is(
    page: Page, site: Site, settings: Settings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    batch = make_link_batch(n_items=2)
    address = site.app_url + path_of(invite_one(batch))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}1/")
    following = Picture.objects.filter(item__position=2)
    expected = {site.app_url + one.get_absolute_url() for one in following}
    page.wait_for_function("window.coming")
    page.wait_for_load_state("networkidle")
    assert expected <= set(asked)
    assert Response.objects.filter(item__position=2).count() == 0  # it is nobody's yet
    page.goto(f"{address}2/")
    page.wait_for_load_state("networkidle")
    assert page.locator("#coming").count() == 0  # nothing is left after it


def test_the_pictures_of_the_next_hit_are_there_before_it_is_accepted(
    page: Page, site: Site, settings: Settings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    first, second = make_questionnaire(n_items=1), make_questionnaire(n_items=1, name="other")
    Questionnaire.objects.filter(pk=second.pk).update(batch=first.batch, position=2)
    claims = {"turkSubmitTo": settings.MTURK_ENDPOINTS["embedded"]["submit_origins"][0]}
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site.app_url}/hits/{first.pk}/?{urlencode(frame_query(first) | claims)}")
    page.wait_for_function("window.coming")
    page.wait_for_load_state("networkidle")
    (following,) = Picture.objects.filter(item__slots__questionnaire=second)
    assert site.app_url + following.get_absolute_url() in asked
    assert Response.objects.filter(item=following.item).count() == 0


# -- What somebody likes ----------------------------------------------------------------------------------------------


def test_who_switched_the_keys_off_or_looks_closely_finds_it_so_again(
    page: Page, site: Site, settings: Settings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    address = f"{site.app_url}{path_of(invite_one(make_link_batch()))}1/"
    page.goto(address)
    page.locator("#keys summary").click()
    page.get_by_label("Use these keys").uncheck()
    page.locator(".enlarge").first.press("Enter")
    page.get_by_role("button", name="Actual size").click()
    page.goto(address)
    expect(page.locator("#keys input")).not_to_be_checked()
    page.locator(".enlarge").first.press("Enter")
    expect(page.get_by_role("button", name="Actual size")).to_have_attribute("aria-pressed", "true")


# -- Looks ------------------------------------------------------------------------------------------------------------


def states(page: Page, address: str, batch: Batch) -> Iterator[tuple[str, Page]]:
    page.goto(address)
    page.get_by_role("button", name="Start").click()
    yield "consent", page
    page.get_by_role("button", name="I do not agree").click()
    yield "declined", page
    page.get_by_role("link", name="Read it again").click()
    page.get_by_role("button", name="I have read this and agree").click()
    page.wait_for_selector("#hit")
    report(page.main_frame, "It is cut off.")
    expect(page.locator("#i1-told")).to_have_text(THANKS)
    page.evaluate("scrollTo(0, 0)")  # the bar at the foot stands on no choice
    yield "reported", page
    page.evaluate("document.querySelectorAll('details').forEach(details => (details.open = true))")
    yield "what was agreed to", page
    consent.write(batch.survey, "Another text.", translations={"ru": RUSSIAN}, by=None)
    page.goto(f"{page.url.split('?')[0]}?language=ru")
    yield "in Russian", page
    page.evaluate("document.documentElement.dir = 'rtl'")
    yield "right to left", page


def test_what_is_asked_and_reported_before_axe(
    page: Page, site: Site, settings: Settings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    batch = make_link_batch()
    consent.write(batch.survey, WORDS, by=None)
    address = site.app_url + path_of(invite_one(batch))
    found = {name: faults(state) for name, state in states(page, address, batch)}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert len(found) == 6


def test_an_item_whose_picture_does_not_load_can_be_passed_by(market: Market) -> None:
    page = market.context.new_page()
    market.server.address = market.url()
    page.route("**/pictures/**", lambda route: route.abort())
    frame = market.show(page)
    way = frame.get_by_label("Without it this can’t be judged")
    expect(way).to_have_count(2)
    page.unroute("**/pictures/**")
    frame.locator("#i1").get_by_label("Without it this can’t be judged").check()
    expect(frame.locator("#i1 .output")).to_have_count(2)
    assert frame.locator("#i1 .output").first.is_hidden()
    expect(frame.locator("#state")).to_have_text(re.compile(r"^Saved \d\d:\d\d$"))
    assert Response.objects.get(position=1).draft == {"skip-unseen": ["file:unseen"]}
    expect(frame.get_by_role("button", name="Question 1, complete")).to_be_visible()
    page.reload()
    frame = page.frame_locator("#task")
    expect(frame.locator("#i1").get_by_label("Without it this can’t be judged")).to_be_checked()
    frame.get_by_role("button", name="Question 1, complete").click()
    frame.locator("#i1").get_by_label("Without it this can’t be judged").uncheck()
    expect(frame.locator("#i1 .output").first).to_be_visible()
    expect(frame.get_by_role("button", name="Question 1, not complete")).to_be_visible()


IN_VIEW = """() => [...document.querySelectorAll(".states li")].map((state) => {
  const { top, bottom } = state.getBoundingClientRect(), bar = document.querySelector(".bar").getBoundingClientRect();
  return top >= bar.bottom && bottom <= innerHeight;
})"""


def test_a_sequence_stays_beside_its_questions_on_a_laptop(
    page: Page, site: Site, settings: Settings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{site.app_url}{path_of(invite_one(make_link_batch(n_items=1)))}1/")
    page.evaluate("document.querySelector('#instructions')?.removeAttribute('open')")
    seen = []
    for group in page.locator(".judge > .output > .group").all():
        group.evaluate("(node) => node.scrollIntoView({ block: 'end', behavior: 'instant' })")
        seen.append(page.evaluate(IN_VIEW))
    n_states = page.locator(".states li").count()
    assert seen == [[True] * n_states] * len(seen)
    assert len(seen) == 3


def test_the_size_of_an_enlarged_picture_is_remembered(
    page: Page, site: Site, settings: Settings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    page.goto(f"{site.app_url}{path_of(invite_one(make_link_batch(n_items=1)))}1/")
    pressed = []
    for _ in range(2):
        page.locator(".states .enlarge").first.click()
        size = page.get_by_role("button", name="Actual size")
        pressed.append(size.get_attribute("aria-pressed"))
        size.click()
        page.reload()
    assert pressed == ["false", "true"]
