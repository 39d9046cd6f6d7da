"""Invitations: made by an administrator, shown once, used as often as they say."""

import csv
import io
import re
from datetime import timedelta

import pytest
from django.test import Client
from playwright.sync_api import expect

from marketplace import clock
from marketplace.accounts import invitations, keys
from marketplace.models import Invitation, Worker
from tests.accessible import faults

ADD = "/admin/marketplace/invitation/add/"
FORM = {"number": "2", "most_uses": "1", "days": "14", "note": "Spring class"}


@pytest.fixture
def office(admin_client, settings):
    settings.APP_HOST = "127.0.0.1"
    settings.MARKETPLACE_OPEN_SIGNUP = False
    admin_client.defaults["HTTP_HOST"] = "127.0.0.1"
    return admin_client


@pytest.fixture
def token(db):
    return invitations.create(number=1, most_uses=1, days=7, note="", now=clock.now())[0]


def visit(address, *, method="get", client=None):
    return getattr(client or Client(headers={"host": "localhost"}), method)(address)


def test_links_are_shown_once_and_let_people_in(office):
    page = office.post(ADD, FORM).content.decode()
    links = re.findall(r"http://localhost(/invitations/[\w-]{24})", page)
    assert len(links) == 2
    assert all(link not in office.get("/admin/marketplace/invitation/").content.decode() for link in links)
    welcome = visit(links[0], method="post")
    worker_id = re.search(r'id="new-worker-id">(.*?)<', welcome.content.decode()).group(1)
    code = re.search(r'id="new-access-code">(.*?)<', welcome.content.decode()).group(1)
    assert keys.check_code(Worker.objects.get(worker_id=worker_id), code=code)
    assert welcome["Cache-Control"] == "no-store"


def test_links_come_as_a_csv(office):
    response = office.post(ADD, FORM | {"csv": "1", "number": "3"})
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert [row["people"] for row in rows] == ["1", "1", "1"]
    assert [visit(row["link"].removeprefix("http://localhost")).status_code for row in rows] == [200] * 3
    assert "no-store" in response["Cache-Control"]


@pytest.mark.parametrize(
    "changes", [{"number": "0"}, {"number": "1001"}, {"most_uses": "0"}, {"days": "366"}]
)
def test_senseless_numbers_are_refused(office, changes):
    assert office.post(ADD, FORM | changes).status_code == 422
    assert Invitation.objects.count() == 0


def test_looking_does_not_use_a_link_up(token):
    for method in ("get", "head", "get"):
        assert visit(f"/invitations/{token}", method=method).status_code == 200
    assert Invitation.objects.get().used == 0


def test_a_link_is_used_up(token):
    address = f"/invitations/{token}"
    assert visit(address, method="post").status_code == 200
    again = visit(address, method="post")
    assert (again.status_code, Worker.objects.count()) == (410, 1)
    assert "This invitation was used up, withdrawn, or has expired." in again.content.decode()


def test_a_link_for_several_lets_in_so_many(db):
    (token,) = invitations.create(number=1, most_uses=3, days=7, note="", now=clock.now())
    statuses = [visit(f"/invitations/{token}", method="post").status_code for _ in range(4)]
    assert (statuses, Worker.objects.count()) == ([200, 200, 200, 410], 3)


def test_a_link_expires(token, later):
    later(seconds=timedelta(days=7).total_seconds())
    assert visit(f"/invitations/{token}", method="post").status_code == 410
    assert Worker.objects.count() == 0


def test_a_withdrawn_link_is_closed(office, token):
    row = Invitation.objects.get()
    form = {"action": "withdraw", "_selected_action": [row.pk]}
    assert (
        "Invitations withdrawn: 1."
        in office.post("/admin/marketplace/invitation/", form, follow=True).content.decode()
    )
    assert visit(f"/invitations/{token}", method="post").status_code == 410


def test_who_is_signed_in_does_not_use_a_link_up(token, new_worker):
    browser = new_worker()
    page = visit(f"/invitations/{token}", client=browser.client).content.decode()
    assert "You are a worker already" in page
    assert 'id="take"' not in page


def test_the_link_is_kept_as_a_digest(token):
    assert token not in str(Invitation.objects.values().get())
    # The address is a secret, so it does not go along to other sites.
    assert visit(f"/invitations/{token}")["Referrer-Policy"] == "same-origin"


def test_an_invitation_is_taken_up_in_a_browser(page, worker_site, token):
    page.goto(f"{worker_site}/invitations/{token}")
    seen = [faults(page)]
    page.get_by_role("button", name="Become a worker").press("Enter")
    expect(page.locator("#new-access-code")).to_be_visible()
    page.goto(f"{worker_site}/invitations/{token}")
    seen.append(faults(page))
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{worker_site}/invitations/{token}")
    expect(page.get_by_role("heading", name="This invitation cannot be used")).to_be_visible()
    assert [*seen, faults(page)] == [[]] * 3
