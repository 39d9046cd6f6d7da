"""Who visits is what the session says, whatever a process thought to know."""

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from marketplace.accounts import keys, sessions
from marketplace.engine import assignments
from marketplace.models import Block, Requester, Worker
from tests.marketplace.batches.batches_made import hits, published


def visited(browser):
    """The visit of a browser's next request, and how many statements it took."""
    from importlib import import_module

    from django.conf import settings

    request = RequestFactory().get("/")
    key = browser.client.cookies[settings.SESSION_COOKIE_NAME].value
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    with CaptureQueriesContext(connection) as captured:
        visit = sessions.visit(request)
        assert sessions.visit(request) is visit
    return visit, len(captured)


def test_a_session_is_known_from_its_second_page_on(new_worker):
    browser = new_worker()
    sessions.KNOWN.clear()
    (first, n_first), (second, n_second) = visited(browser), visited(browser)
    assert (first.worker, second.worker) == (browser.worker, browser.worker)
    assert (n_first, n_second) == (2, 1)
    assert (second.worker.worker_id, second.may_be_blocked) == (browser.worker.worker_id, False)


def test_a_session_is_known_where_it_was_signed_in(new_worker):
    account, code = keys.create_worker()
    browser = new_worker()
    browser.client.logout()
    sessions.KNOWN.clear()
    browser.client.post("/sign-in", {"worker_id": account.worker_id, "access_code": code})
    visit, n = visited(browser)
    assert (visit.worker, n) == (account, 1)


@pytest.mark.parametrize("how", ["deleted", "expired", "signed out"])
def test_who_left_is_nobody_though_the_process_knew_them(new_worker, how):
    browser = new_worker()
    visited(browser)
    if how == "deleted":
        Session.objects.all().delete()
    elif how == "expired":
        Session.objects.update(expire_date=timezone.now())
    else:
        browser.client.post("/sign-out")
    visit, _ = visited(browser)
    assert (visit.worker, visit.moments is not None) == (None, True)


def test_a_closed_account_is_nobody(new_worker):
    browser = new_worker()
    visited(browser)
    Worker.objects.update(is_active=False)
    assert visited(browser)[0].worker is None


def test_a_session_may_become_somebody_elses(new_worker):
    browser, other = new_worker(), keys.create_worker()[0]
    visited(browser)
    session = browser.client.session
    session[sessions.SESSION_KEY] = other.pk
    session.save()
    assert [visited(browser)[0].worker for _ in range(2)] == [other, other]


@pytest.fixture
def held(requester):
    """An open assignment of somebody, and the page of its HIT."""
    hit = hits(published(requester))[0]
    assignment = assignments.accept(hit, worker=keys.create_worker()[0], now=timezone.now())
    return assignment, f"/projects/{hit.hit_type.type_id}/tasks/{hit.hit_id}"


@pytest.mark.parametrize("thought", ["right", "wrong", "none"])
@pytest.mark.parametrize("holds", [True, False])
def test_what_is_read_with_a_visit_is_of_whoever_visits(new_worker, held, thought, holds):
    browser, (assignment, page) = new_worker(), held
    people = (browser.worker, assignment.worker)
    session = browser.client.session
    session[sessions.SESSION_KEY] = people[holds].pk
    session.save()
    sessions.KNOWN.clear()
    if thought != "none":
        sessions.KNOWN[session.session_key] = people[holds if thought == "right" else not holds].pk
    assert browser.client.get(page).status_code == (200 if holds else 404)


def test_whoever_is_signed_out_is_asked_to_sign_in(new_worker, held):
    browser = new_worker()
    browser.client.logout()
    assert browser.client.get(held[1])["Location"].startswith("/sign-in?")


def test_what_is_read_with_a_visit_is_read_again_once_something_was_due(held, client):
    assignment, page = held
    session = client.session
    session[sessions.SESSION_KEY] = assignment.worker.pk
    session.save()
    for _ in range(2):
        assert client.get(page, headers={"host": "localhost"}).status_code == 200
    type(assignment).objects.update(deadline=timezone.now())
    answer = client.get(page, headers={"host": "localhost"})
    assert (answer.status_code, answer["Location"]) == (
        302,
        f"/assignments/{assignment.assignment_id}?stay",
    )
    assignment.refresh_from_db()
    assert assignment.status == "Abandoned"


def test_a_block_is_seen_at_once(new_worker):
    browser = new_worker()
    visited(browser)
    Block.objects.create(
        requester=Requester.objects.create(name="Strict Lab"), worker=browser.worker, reason="-"
    )
    assert visited(browser)[0].may_be_blocked is True


def test_what_is_known_stays_bounded(new_worker, monkeypatch):
    monkeypatch.setattr(sessions, "MOST_KNOWN", 1)
    first, second = new_worker(), new_worker()
    for browser in (first, second, first):
        assert visited(browser)[0].worker == browser.worker
        assert len(sessions.KNOWN) <= 1
