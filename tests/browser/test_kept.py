"""Nothing typed is lost: the HIT behind a network that is cut, in a real browser."""

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Frame, Page, Playwright, Route, expect
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Response as Answer
from pytest_django import Settings

from annotators.models import Assignment
from surveys.models import Response
from tests.browser.test_hit_page import answer_all, wait_saved, wait_until
from tests.builders import make_questionnaire
from tests.cut_network import Cable
from tests.frame_market import FrameServer, Market
from tests.link_people import invite_one
from tests.link_study import make_link_batch, path_of
from tests.policy_data import NEVER
from tests.services_site import Site

LaunchArgs = dict[str, Any]
SAVED = re.compile(r"^Saved \d\d:\d\d$")
KEPT = "Saved on this device – retrying"
STORED = """() => new Promise((resolve) => {
    indexedDB.open("assent").onsuccess = ({ target }) => {
        const all = target.result.transaction("answers").objectStore("answers").getAll();
        all.onsuccess = () => resolve(all.result.length);
    };
})"""
AROUND_KEEPS = STORED.replace('"assent"', '"market"').replace('"answers"', '"kept"')
STALE = {"kept:1:a": '{"null":null}', "kept:2:b": '{"1/x":{}}', "kept:3:c": '{"1/x":{"at":1}}'}
# {name: {item and tab: record}}, one name for each assignment and key.
AS_IT_WAS_KEPT = """() => new Promise((resolve) => {
    indexedDB.open("market").onsuccess = ({ target }) => {
        const store = target.result.transaction("kept", "readwrite").objectStore("kept");
        store.getAll().onsuccess = ({ target }) => {
            const [{ assignment, key, name, record }] = target.result;
            localStorage.setItem(`kept:${assignment}:${key}`, JSON.stringify({ [name]: record }));
            store.clear();
        };
        store.transaction.oncomplete = () => resolve();
    };
})"""
AROUND = (Path("static/storage/store.js"), Path("static/marketplace/site/work.js"))


def around(*, seconds_left: int) -> str:
    """Return the scripts of the marketplace's page around the frame, with a clock that stands still."""
    return f"const secondsLeft = () => {seconds_left}; {' '.join(script.read_text() for script in AROUND)}"


@contextmanager
def mains(
    playwright: Playwright, launch: LaunchArgs, *, profile: Path
) -> Iterator[tuple[Browser, "subprocess.Popen[bytes]"]]:
    """Start a browser of our own on a profile, which can be ended as an empty battery ends one."""
    port = profile / "DevToolsActivePort"
    port.unlink(missing_ok=True)
    # Without a first window: one that is just being opened keeps whoever connects in that moment waiting for ever.
    alone = ["--headless=new", "--no-first-run", "--no-startup-window"]
    options = [*alone, "--remote-debugging-port=0", f"--user-data-dir={profile}"]
    process = subprocess.Popen(
        [launch["executable_path"], *launch["args"], *options], stderr=subprocess.DEVNULL
    )
    try:
        wait_for(port)
        browser = playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port.read_text().split()[0]}")
        browser.contexts[0].set_default_timeout(20_000)
        yield browser, process
    finally:
        process.kill()
        process.wait()


def wait_for(file: Path) -> None:
    until = time.monotonic() + 30
    while not (file.exists() and file.read_text()) and time.monotonic() < until:
        time.sleep(0.05)


@pytest.fixture
def cable(site: Site) -> Iterator[Cable]:
    cable = Cable(urlsplit(site.app_url).port or 80)
    yield cable
    cable.close()


@pytest.fixture
def market(
    site: Site, cable: Cable, settings: Settings, tmp_path: Path, context: BrowserContext
) -> Iterator[Market]:
    server = FrameServer()
    # This Chromium denies storage to frames of other sites.
    server.script = around(seconds_left=86_400)
    settings.MEDIA_ROOT = tmp_path
    settings.FRAME_ANCESTORS = [server.origin]
    embedded = settings.MTURK_ENDPOINTS["embedded"] | {"submit_origins": [server.origin]}
    settings.MTURK_ENDPOINTS = settings.MTURK_ENDPOINTS | {"embedded": embedded}
    questionnaire = make_questionnaire(n_items=2, review_policy=NEVER)
    market = Market(
        context, server, app_url=f"http://127.0.0.1:{cable.own_port}", questionnaire=questionnaire
    )
    context.set_default_timeout(20_000)
    yield market
    server.shutdown()
    server.server_close()


def choose(frame: Frame, n: int) -> None:
    frame.page.bring_to_front()
    frame.locator("#i1 label").nth(n).click()


def chosen(frame: Frame) -> str:
    return frame.locator("#i1 .group").first.locator("input:checked").first.get_attribute("value") or ""


def drafted() -> str:
    return Response.objects.get(position=1, worker__worker_id="A1WORKER").draft.get("answer", "")


def submit(frame: Frame) -> None:
    answer_all(frame)
    frame.locator("[data-steps] button").nth(1).click()
    frame.locator("[data-go=submit]").click()


def test_what_is_answered_in_a_cut_network_outlives_its_tab(market: Market, cable: Cable) -> None:
    page, frame = market.open()
    cable.cut()
    choose(frame, 1)
    expect(frame.locator("#state")).to_have_text(KEPT)
    expect(frame.locator("#news")).to_have_text(KEPT)
    answer = chosen(frame)
    frame.evaluate(
        "navigator.sendBeacon = () => false"
    )  # as with an empty battery: nothing is sent at the end
    market.context.route("**/draft", lambda route: route.abort())
    page.evaluate("records => Object.entries(records).forEach(([n, r]) => localStorage.setItem(n, r))", STALE)
    page.close()
    assert Response.objects.filter(draft={}).count() == 2
    cable.mend()
    _, frame = market.open()
    expect(frame.locator("#state")).to_have_text(KEPT)
    stranger = market.open(workerId="A2STRANGER", assignmentId="3STRANGER")[1]
    assert stranger.locator("#i1 input:checked").count() == 0
    market.context.unroute("**/draft")
    wait_saved(frame)
    assert (chosen(frame), drafted()) == (answer, answer)
    around = frame.page.main_frame
    wait_until(lambda: around.evaluate(AROUND_KEEPS) == 0, page=frame.page)
    assert around.evaluate("localStorage.length") == 0


def test_what_the_page_around_kept_is_there_after_the_battery_was_empty(
    market: Market, cable: Cable, tmp_path: Path, playwright: Playwright, browser_type_launch_args: LaunchArgs
) -> None:
    with mains(playwright, browser_type_launch_args, profile=tmp_path / "profile") as (browser, battery):
        market.context = browser.contexts[0]
        page, frame = market.open()
        cable.cut()
        choose(frame, 1)
        answer = chosen(frame)
        wait_until(lambda: page.evaluate(AROUND_KEEPS) == 1, page=page)
        battery.kill()
    cable.mend()
    with mains(playwright, browser_type_launch_args, profile=tmp_path / "profile") as (browser, _):
        market.context = browser.contexts[0]
        _, frame = market.open()
        wait_saved(frame)
        assert (chosen(frame), drafted()) == (answer, answer)


def test_what_an_older_page_kept_around_the_frame_is_shown_too(market: Market, cable: Cable) -> None:
    page, frame = market.open()
    cable.cut()
    choose(frame, 1)
    expect(frame.locator("#state")).to_have_text(KEPT)
    answer = chosen(frame)
    frame.evaluate("navigator.sendBeacon = () => false")
    page.evaluate(AS_IT_WAS_KEPT)
    assert (page.evaluate(AROUND_KEEPS), page.evaluate("localStorage.length")) == (0, 1)
    page.close()
    cable.mend()
    page, frame = market.open()
    wait_saved(frame)
    assert (chosen(frame), drafted()) == (answer, answer)
    assert page.evaluate("localStorage.length") == 0


def test_a_task_keeps_no_more_than_its_share_around_it(market: Market) -> None:
    page, frame = market.open()
    record = {"position": 1, "tab": "t", "text": "x" * 5_000_000}
    put = "record => window.kept.askAround({ keep: 'put', key: 'k', record })"
    with pytest.raises(PlaywrightError, match="QuotaExceededError"):
        frame.evaluate(put, record)
    assert page.evaluate(AROUND_KEEPS) == 0


def test_a_page_of_its_own_keeps_them_in_its_own_storage(
    site: Site, cable: Cable, settings: Settings, tmp_path: Path, context: BrowserContext
) -> None:
    settings.MEDIA_ROOT = tmp_path
    path, page = path_of(invite_one(make_link_batch(), "Ada")), context.new_page()
    page.goto(f"http://127.0.0.1:{cable.own_port}{path}")
    page.get_by_role("button", name="Start").click()
    page.locator(".group input").first.wait_for()
    cable.cut()
    page.locator(".group label").first.click()
    expect(page.locator("#state")).to_have_text(KEPT)
    address = page.url
    page.evaluate("navigator.sendBeacon = () => false")
    page.close()
    cable.mend()
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#state")).to_have_text(SAVED)
    expect(page.locator(".group input").first).to_be_checked()
    wait_until(lambda: page.evaluate(STORED) == 0, page=page)


def test_a_page_loaded_again_goes_on_from_what_it_sent_on_leaving(
    site: Site, settings: Settings, tmp_path: Path, page: Page
) -> None:
    """A browser hides the old page, which sends its last draft then, once the new one has arrived."""
    settings.MEDIA_ROOT = tmp_path
    page.goto(f"{site.app_url}{path_of(invite_one(make_link_batch(), 'Ada'))}")
    page.get_by_role("button", name="Start").click()
    labels, seconds = page.locator("#i1 .group").first.locator("label"), page.locator("[name=i1-seconds]")
    labels.nth(0).click()
    expect(page.locator("#state")).to_have_text(SAVED)
    before = float(seconds.input_value())
    page.wait_for_function(
        "before => document.querySelector('[name=i1-seconds]').value > before + 1", arg=before
    )
    version = Response.objects.get().draft_version
    page.reload()  # nothing was answered since, but there is time to tell
    wait_until(lambda: Response.objects.get().draft_version > version, page=page)
    labels.nth(1).click()
    expect(page.locator("#state")).to_have_text(SAVED)
    labels.nth(2).click()
    page.reload()  # and now there is an answer
    expect(labels.nth(2).locator("input")).to_be_checked()
    expect(page.locator("#state")).to_have_text(SAVED)
    labels.nth(0).click()
    expect(page.locator("#state")).to_have_text("Saving…")
    expect(page.locator("#state")).to_have_text(SAVED)
    expect(page.locator(".other")).to_have_count(0)
    first = labels.nth(0).locator("input")
    name = str(first.get_attribute("name")).removeprefix("i1-")
    assert Response.objects.get().draft[name] == first.input_value()


def test_a_page_made_before_the_last_answer_arrived_shows_it_all_the_same(
    site: Site, settings: Settings, tmp_path: Path, page: Page
) -> None:
    """Loaded again within a moment of an answer: the server makes the page, has the answer, then the page is shown."""
    settings.MEDIA_ROOT = tmp_path
    page.goto(f"{site.app_url}{path_of(invite_one(make_link_batch(), 'Ada'))}")
    page.get_by_role("button", name="Start").click()
    label = page.locator("#i1 .group").first.locator("label").first
    made_before = page.context.request.get(page.url).text()
    arrived: list[Answer] = []
    page.on("response", lambda answer: arrived.append(answer) if answer.url.endswith("draft") else None)

    def late(route: Route) -> None:
        while not any(answer.request.resource_type == "fetch" for answer in arrived):
            page.wait_for_timeout(50)
        page.wait_for_timeout(300)  # in which the old page forgets what has arrived
        route.fulfill(body=made_before, content_type="text/html; charset=utf-8")

    page.route(page.url, late, times=1)
    label.click()
    page.reload()
    expect(label.locator("input")).to_be_checked()
    expect(page.locator("#state")).to_have_text(SAVED)
    wait_until(lambda: page.evaluate(STORED) == 0, page=page)
    expect(page.locator(".other")).to_have_count(0)


def test_submitting_into_a_cut_network_is_tried_until_there_is_a_receipt(
    market: Market, cable: Cable
) -> None:
    _page, frame = market.open()
    cable.is_deaf = True  # the first attempt arrives, and its receipt does not
    submit(frame)
    expect(frame.locator("#retry")).to_contain_text("saved on this device")
    assert Assignment.objects.get().saved_at is not None
    cable.cut()
    frame.get_by_role("button", name="Try now").click()
    expect(frame.locator("#retry")).to_be_visible()
    cable.mend()
    frame.get_by_role("button", name="Try now").click()
    expect(frame.locator("h1")).to_have_text("Thank you")
    assert len(market.server.submitted) == 1


def test_of_two_tabs_the_newer_answers_are_shown_and_the_others_offered(market: Market) -> None:
    _, first = market.open()
    page, second = market.open()
    choose(first, 0)
    wait_saved(first)
    older = chosen(first)
    for n in (1, 2, 1):  # however often it is changed
        choose(second, n)
    newer = chosen(second)
    expect(second.locator("#state")).to_contain_text("changed in another tab")
    assert drafted() == older
    second = market.show(page)
    wait_saved(second)
    assert (chosen(second), drafted()) == (newer, newer)
    second.get_by_role("button", name="Show those instead").click()
    wait_until(lambda: drafted() == older, page=page)
    second.get_by_role("button", name="Keep what is shown").click()
    expect(second.locator(".other")).to_have_count(0)
    submit(second)
    expect(second.locator("h1")).to_have_text("Thank you")


def test_a_tab_is_offered_its_own_answer_though_the_other_went_on(market: Market) -> None:
    _, first = market.open()
    page, second = market.open()
    choose(first, 0)
    wait_saved(first)
    choose(second, 1)
    own = chosen(second)
    expect(second.locator("#state")).to_contain_text("changed in another tab")
    choose(first, 2)
    wait_until(lambda: drafted() == chosen(first), page=page)
    second = market.show(page)
    second.get_by_role("button", name="Show those instead").click()
    assert chosen(second) == own
    wait_until(lambda: drafted() == own, page=page)


def test_an_answer_that_its_tab_changed_is_not_dropped_for_what_it_was(market: Market) -> None:
    first_page, first = market.open()
    page, second = market.open()
    choose(first, 0)
    wait_saved(first)
    choose(second, 1)
    expect(second.locator("#state")).to_contain_text("changed in another tab")
    choose(first, 2)
    wait_until(lambda: drafted() == chosen(first), page=first_page)
    first = market.show(first_page)
    expect(first.locator(".other")).to_be_visible()
    choose(second, 0)
    changed = chosen(second)
    expect(second.locator("#state")).to_contain_text("Saved on this device only")
    page.close()
    first.get_by_role("button", name="Keep what is shown").click()
    expect(first.locator(".other")).to_have_count(0)
    first = market.show(first_page)
    expect(first.locator(".other")).to_be_visible()
    if chosen(first) != changed:  # where the page took long to come, what the server has counts as the newer
        first.get_by_role("button", name="Show those instead").click()
    assert chosen(first) == changed


def test_nothing_is_called_saved_once_the_time_is_over(market: Market) -> None:
    market.server.script = around(seconds_left=200)
    page, frame = market.open()
    choose(frame, 0)
    wait_saved(frame)
    expect(frame.locator("#time-left")).to_have_text("Less than 5 minutes left")
    page.evaluate("task.contentWindow.postMessage({ seconds: 2000 }, '*')")
    expect(frame.locator("#time-left")).to_be_hidden()
    page.evaluate("task.contentWindow.postMessage({ seconds: 0 }, '*')")
    expect(frame.locator("#time-left")).to_have_text("Time is over: go on from My work")
    before = drafted()
    choose(frame, 1)
    wait_until(lambda: drafted() == chosen(frame) != before, page=page)
    expect(frame.locator("#state")).to_have_text("Not submitted")
