"""Going from one HIT to the next, and the list's order and requirements."""

import re

import pytest
from playwright.sync_api import expect

from marketplace.models import Assignment
from marketplace.qualifications import requirements
from tests.marketplace.question_documents import QUESTION, html_question

HTML = """<crowd-form><h1>Task</h1><crowd-input name="a" label="Answer" value="yes"></crowd-input></crowd-form>"""
AUTO = "data-go-on"


def text(response):
    return response.content.decode()


@pytest.fixture
def kind(publish):
    """The HITTypeId of three HITs."""
    return publish(QUESTION, count=3).type_id


def accept(browser, kind, **form):
    browser.client.post(f"/projects/{kind}/tasks/accept_random", form)
    return Assignment.objects.latest("pk")


def test_the_switch_lives_as_long_as_the_session_says(kind, new_worker):
    browser = new_worker()
    assert 'name="accept_next" value="1">' in text(browser.client.get(f"/projects/{kind}/tasks"))
    row = accept(browser, kind, accept_next="1")
    assert 'name="accept_next" value="1" checked>' in text(browser.client.get(f"/projects/{kind}/tasks"))
    browser.submit(row.assignment_id)
    after = f"/assignments/{row.assignment_id}"
    assert AUTO in text(browser.client.get(after))
    assert AUTO not in text(browser.client.get(f"{after}?stay"))
    browser.client.post("/work/accept-next", {})
    assert AUTO not in text(browser.client.get(after))


def test_looking_back_later_does_not_go_on(kind, new_worker, later):
    browser = new_worker()
    row = accept(browser, kind, accept_next="1")
    browser.submit(row.assignment_id)
    later(seconds=61)
    assert AUTO not in text(browser.client.get(f"/assignments/{row.assignment_id}"))


def test_the_queue_comes_before_new_hits(kind, new_worker):
    browser = new_worker()
    first, second = (accept(browser, kind, accept_next="1") for _ in range(2))
    browser.submit(first.assignment_id)
    page = text(browser.client.get(f"/assignments/{first.assignment_id}"))
    (link,) = re.findall(r"<a[^>]*data-go-on[^>]*>", page)
    assert f"/projects/{kind}/tasks/{second.hit.hit_id}?assignment_id={second.assignment_id}" in link


def test_nothing_is_offered_that_could_not_be_accepted(publish, new_worker, new_hit):
    below = {"QualificationTypeId": "00000000000000000040", "Comparator": "LessThan", "IntegerValues": [1]}
    kind = publish(QUESTION, count=2, auto_approval_seconds=0, requirements=[requirements.complete(below)])
    browser = new_worker()
    row = accept(browser, kind.type_id)
    browser.submit(row.assignment_id)
    assert 'id="accept"' not in text(browser.client.get(f"/assignments/{row.assignment_id}"))


def test_one_hit_after_the_other_in_a_browser(sign_in, publish):
    page = sign_in(f"/projects/{publish(html_question(HTML), count=3).type_id}/tasks")
    page.get_by_label("Then the next HIT").check()
    page.get_by_role("button", name="Accept").click()
    for left in ("Open", "Submitted"):
        expect(page.get_by_label("Then the next HIT")).to_be_checked()
        send(page)
        page.wait_for_url("**/projects/**")
        assert Assignment.objects.filter(status=left).count() == {"Open": 1, "Submitted": 2}[left]
    page.get_by_label("Then the next HIT").uncheck()
    send(page)
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    assert Assignment.objects.filter(status="Submitted").count() == 3


def test_coming_back_to_a_page_accepts_nothing(sign_in, publish, worker_site):
    page = sign_in(f"/projects/{publish(html_question(HTML), count=3).type_id}/tasks")
    page.get_by_label("Then the next HIT").check()
    page.get_by_role("button", name="Accept").click()
    send(page)
    page.wait_for_url("**/projects/**")
    done = Assignment.objects.get(status="Submitted").assignment_id
    page.go_back()
    page.goto(f"{worker_site}/assignments/{done}?stay")
    page.reload()
    expect(page.get_by_role("link", name="Next in your queue")).to_be_visible()
    assert Assignment.objects.count() == 2


def send(page):
    with page.expect_navigation(url="**/assignments/*"):
        page.frame_locator("#task").get_by_role("button", name="Submit").click()


def order(response):
    return re.findall(r'tasks">(\w+)</a></h2>', text(response))


def test_the_list_is_sorted_as_asked(publish, client):
    publish(QUESTION, title="Dear", reward_cents=100)
    publish(QUESTION, title="Many", count=3, duration_seconds=7200)
    publish(QUESTION, title="Short", duration_seconds=60)
    client.defaults["HTTP_HOST"] = "localhost"
    sorted_by = {
        key: order(client.get(f"/?sort={key}")) for key in ("newest", "reward", "time", "hits", "junk")
    }
    assert sorted_by == {
        "newest": ["Short", "Many", "Dear"],
        "reward": ["Dear", "Short", "Many"],
        "time": ["Short", "Dear", "Many"],
        "hits": ["Many", "Short", "Dear"],
        "junk": ["Short", "Many", "Dear"],
    }


def test_pages_of_the_list_keep_search_and_order(publish, client):
    for number in range(26):
        publish(QUESTION, title=f"Look {number}")
    page = text(client.get("/?q=look&sort=time", headers={"host": "localhost"}))
    assert 'href="?page=2&amp;q=look&amp;sort=time"' in page


def test_requirements_are_shown_in_the_list(publish, new_worker):
    above = {"QualificationTypeId": "00000000000000000040", "Comparator": "GreaterThan", "IntegerValues": [9]}
    publish(QUESTION, requirements=[requirements.complete(above)])
    page = text(new_worker().client.get("/"))
    assert re.findall(r'<li class="unmet">(.*?)</li>', page) == [
        "Number of HITs approved: more than 9 · you do not have it"
    ]
