"""The back office: money in, keys and codes shown once, everything else to read."""

import re

import pytest
from botocore.exceptions import ClientError
from django.contrib.admin.models import LogEntry

from marketplace.accounts import keys
from marketplace.models import AccessKey, Balance, Entry, Worker


@pytest.fixture
def office(admin_client, settings):
    """The administrator's browser, on the app's host."""
    settings.APP_HOST = "127.0.0.1"
    admin_client.defaults["HTTP_HOST"] = "127.0.0.1"
    return admin_client


def act(office, model, action, pk):
    form = {"action": action, "_selected_action": [pk]}
    return office.post(f"/admin/marketplace/{model}/", form, follow=True).content.decode()


def cells(page):
    """Return what the page of secrets shows."""
    return re.findall(r"<td><code>(.*?)</code></td>", page)


def test_a_secret_travels_in_no_cookie_and_is_not_cached(office, requester):
    form = {"action": "make_key", "_selected_action": [requester.pk]}
    response = office.post("/admin/marketplace/requester/", form)
    assert (response.status_code, "no-store" in response["Cache-Control"]) == (200, True)
    assert "messages" not in response.cookies
    assert "AKID" not in office.get("/admin/marketplace/requester/").content.decode()


def test_a_revoked_key_is_refused_and_stays_so(office, mturk):
    assert mturk.get_account_balance()["AvailableBalance"] == "1000.00"
    key = AccessKey.objects.get()
    assert "Keys revoked: 1." in act(office, "accesskey", "revoke", key.pk)
    with pytest.raises(ClientError) as refused:
        mturk.get_account_balance()
    assert refused.value.response["Error"]["Code"] == "UnrecognizedClientException"
    office.post(f"/admin/marketplace/accesskey/{key.pk}/change/", {"is_active": "on"})
    key.refresh_from_db()
    assert key.is_active is False
    assert "Keys revoked: 0." in act(office, "accesskey", "revoke", key.pk)


def test_a_deposit_is_booked(office, requester):
    assert "Deposited $1000.00 each." in act(office, "requester", "deposit", requester.pk)
    assert Balance.objects.get().available_cents == 200_000
    assert (
        list(Entry.objects.values_list("source", "target", "cents"))
        == [("outside", "available", 100_000)] * 2
    )
    assert "2000.00" in office.get("/admin/marketplace/requester/").content.decode()


def test_a_key_is_shown_once_and_works(office, requester):
    page = act(office, "requester", "make_key", requester.pk)
    _, key_id, secret = cells(page)
    assert keys.secret_of(AccessKey.objects.get(key_id=key_id)) == secret
    for address in ("requester/", "accesskey/", f"accesskey/{key_id}/change/"):
        assert secret not in office.get(f"/admin/marketplace/{address}").content.decode()


def test_a_worker_is_added_with_a_code_shown_once(office):
    page = office.post("/admin/marketplace/worker/add/", {"is_active": "on"}, follow=True).content.decode()
    worker_id, code = cells(page)
    worker = Worker.objects.get(worker_id=worker_id)
    assert keys.check_code(worker, code=code)
    assert code not in office.get("/admin/marketplace/worker/").content.decode()


def test_a_new_code_replaces_the_old(office, db):
    worker, old = keys.create_worker()
    page = act(office, "worker", "new_code", worker.pk)
    shown, new = cells(page)
    assert shown == worker.worker_id
    worker.refresh_from_db()
    assert (keys.check_code(worker, code=new), keys.check_code(worker, code=old)) == (True, False)


@pytest.mark.parametrize("model", ["hit", "hittype", "assignment", "entry"])
def test_what_the_engine_writes_is_read_only(office, mturk, new_hit, new_worker, model):
    hit_id = new_hit()
    new_worker().accept(mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"])
    page = office.get(f"/admin/marketplace/{model}/")
    assert page.status_code == 200
    assert office.get(f"/admin/marketplace/{model}/add/").status_code == 403
    assert "Delete selected" not in page.content.decode()


def test_who_made_money_keys_and_codes_is_on_record(office, requester):
    act(office, "requester", "deposit", requester.pk)
    act(office, "requester", "make_key", requester.pk)
    key = AccessKey.objects.get()
    act(office, "accesskey", "revoke", key.pk)
    worker, _ = keys.create_worker()
    act(office, "worker", "new_code", worker.pk)
    told = LogEntry.objects.order_by("pk").values_list("user__username", "object_id", "change_message")
    assert list(told) == [
        ("admin", str(requester.pk), "Deposited $1000.00."),
        ("admin", str(requester.pk), f"Made the access key {key.pk}."),
        ("admin", key.pk, "Revoked."),
        ("admin", str(worker.pk), "Gave a new access code."),
    ]
