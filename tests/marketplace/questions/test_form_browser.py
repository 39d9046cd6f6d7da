"""A QuestionForm HIT and a qualification test in a real browser, by keyboard alone, and under axe."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from marketplace.accounts import keys
from marketplace.engine import hits
from marketplace.models import Assignment, Qualification
from marketplace.qualifications import qualification_types
from tests.accessible import faults
from tests.marketplace.questions.form_documents import BIRDS, BIRDS_KEY, EXAMPLE, SECRET


@pytest.fixture
def address(live_server, requester, settings):
    address = f"http://localhost:{live_server.thread.port}"
    settings.MARKETPLACE_URL = address
    settings.CSRF_TRUSTED_ORIGINS = [address]
    return address


@pytest.fixture
def hit_type(requester):
    values = hits.TypeValues(
        title="Look at a street",
        description="Seven questions.",
        keywords="",
        reward_cents=38,
        duration_seconds=3600,
        auto_approval_seconds=3600,
        requirements=[],
    )
    hit_type = hits.hit_type_for(requester, values=values, now=timezone.now())
    offer = hits.Offer(question=EXAMPLE, max_assignments=1, lifetime=timedelta(days=1))
    hits.publish(hit_type, offer=offer, now=timezone.now())
    return hit_type


@pytest.fixture
def kind(requester):
    settings = qualification_types.Settings(
        description="Two of them.", status="Active", test=BIRDS, answer_key=BIRDS_KEY, test_seconds=600
    )
    return qualification_types.create(
        requester, name="Knows birds", keywords="", settings=settings, now=timezone.now()
    )


@pytest.fixture
def arrive(page, address):
    """A function that signs a new worker in and opens a page. Pictures from elsewhere are not fetched."""

    def arrive(path):
        page.route("https://lab.example/**", lambda route: route.abort())
        worker, code = keys.create_worker()
        page.goto(f"{address}/sign-in?next={path}")
        page.get_by_label("Worker id").fill(worker.worker_id)
        page.get_by_label("Access code").fill(code)
        page.locator("#sign-in button").click()
        page.wait_for_url(f"{address}{path}")
        return page

    return arrive


def tab_to(page, selector):
    """Press Tab until the element has the focus; return how many times."""
    for presses in range(1, 60):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return presses
    raise AssertionError(f"Tab does not reach {selector}.")


def go(page, name):
    """Click a button and wait until the page it leads to is there with its style."""
    with page.expect_navigation():
        page.get_by_role("button", name=name).click()


def press(page, *names):
    for name in names:
        page.keyboard.press(name)


def test_a_form_is_answered_by_keyboard_alone(arrive, hit_type):
    page = arrive(f"/projects/{hit_type.type_id}/tasks")
    tab_to(page, "#accept button")
    press(page, "Enter")
    expect(page.locator("#countdown")).to_have_text("00:59:59")
    tab_to(page, "#task > button")
    press(page, "Enter")
    expect(page.locator("#gaps li")).to_have_count(4)
    expect(page.locator("#q1")).to_be_focused()
    press(page, "ArrowDown", "ArrowDown")
    tab_to(page, "[name=q2]")
    press(page, "Space", "Tab", "Tab", "Space")
    tab_to(page, "#q3")
    page.keyboard.type("The w")
    tab_to(page, "#q5")
    page.keyboard.type("12")
    press(page, "Enter")
    expect(page.locator("#submitted")).to_be_visible()
    row = Assignment.objects.get()
    chosen = "".join(f"<SelectionIdentifier>{name}</SelectionIdentifier>" for name in ("cars", "trams"))
    assert "<SelectionIdentifier>gravel</SelectionIdentifier>" in row.answer
    assert f"<QuestionIdentifier>seen</QuestionIdentifier>{chosen}" in row.answer
    assert "<SelectionIdentifier>winter</SelectionIdentifier>" in row.answer
    assert "<FreeText>12</FreeText>" in row.answer
    assert (row.status, "<FreeText>None.</FreeText>" in row.answer) == ("Submitted", True)


def test_back_to_a_form_keeps_what_was_typed_and_the_time(arrive, hit_type):
    page = arrive(f"/projects/{hit_type.type_id}/tasks")
    go(page, "Accept")
    page.locator("#q3").select_option(index=1)
    chosen = page.locator("#q3").input_value()
    page.wait_for_timeout(2100)
    page.locator(".logo, header a").first.click()
    page.wait_for_load_state()
    page.go_back()
    expect(page.locator("#q3")).to_have_value(chosen)
    expect(page.locator("#countdown")).to_have_text(re.compile("00:59:(5[0-7]|[0-4].)"))


def test_a_qualification_test_is_taken_by_keyboard_alone(arrive, kind):
    page = arrive(f"/qualifications/{kind.type_id}")
    tab_to(page, "#request button")
    press(page, "Enter")
    expect(page.locator("#countdown")).to_have_text("00:09:59")
    assert SECRET not in page.content()
    tab_to(page, "[name=q1]")
    press(page, "Space")
    tab_to(page, "[name=q2]")
    press(page, "Space", "Tab", "Space", "Enter")
    expect(page.locator(".note").first).to_have_text(
        "Your result is 4721. The qualification with this value is yours."
    )
    assert Qualification.objects.get().value == 4721


def test_the_pages_are_accessible_and_fit(arrive, address, hit_type, kind):
    page = arrive(f"/projects/{hit_type.type_id}/tasks")
    seen = {"preview": faults(page)}
    go(page, "Accept")
    seen["work"] = faults(page)
    go(page, "Submit")
    seen["gaps"] = faults(page)
    page.goto(f"{address}/qualifications/{kind.type_id}")
    seen["before"] = faults(page)
    go(page, "Start the test")
    seen["test"] = faults(page)
    go(page, "Hand in")
    seen["test gaps"] = faults(page)
    page.goto(f"{address}/qualifications/{kind.type_id}")
    seen["under way"] = faults(page)
    assert {name: found for name, found in seen.items() if found} == {}


def test_the_end_of_the_time_is_told(arrive, address, kind):
    page = arrive(f"/qualifications/{kind.type_id}")
    page.clock.install()
    go(page, "Start the test")
    expect(page.locator("#time-note")).to_have_text("")
    page.clock.fast_forward("06:00")
    expect(page.locator("#time-note")).to_have_text("Less than five minutes are left.")
    page.clock.fast_forward("03:30")
    expect(page.locator("#time-note")).to_have_text("Less than a minute is left.")
    page.clock.fast_forward("00:31")
    expect(page.locator("#time-note")).to_have_text(
        "The time is over. What was not handed in does not count."
    )
    expect(page.locator("#countdown")).to_have_text("00:00:00")


def test_nothing_of_a_form_could_run(arrive, hit_type, violations):
    """Were a script to slip through, the page's policy would stop it."""
    page = arrive(f"/projects/{hit_type.type_id}/tasks")
    page.evaluate("""
        window.stopped = [];
        document.addEventListener("securitypolicyviolation", (event) => stopped.push(event.effectiveDirective));
        document.body.insertAdjacentHTML("beforeend", "<img src=x: alt='' onerror='window.ran = 1'>");
    """)
    page.wait_for_function("stopped.includes('script-src-attr')")
    assert page.evaluate("window.ran ?? null") is None
    assert len(violations) == 2, violations  # the picture's address, too, is none
    violations.clear()
