"""Failed sign-ins are counted per worker id and per address."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from marketplace.accounts import keys
from marketplace.models import Assignment, FailedSignIn


def sign_in(worker_id, code="WRONG", *, address="10.0.0.1", **headers):
    client = Client(headers={"host": "localhost", **headers}, REMOTE_ADDR=address)
    return client.post("/sign-in", {"worker_id": worker_id, "access_code": code}).status_code


@pytest.fixture
def known(db):
    worker, code = keys.create_worker()
    return worker.worker_id, code


def test_after_ten_failures_even_the_right_code_has_to_wait(known):
    assert [sign_in(known[0], address=f"10.0.0.{n}") for n in range(11)] == [422] * 10 + [429]
    assert sign_in(*known) == 429
    FailedSignIn.objects.update(failed_at=timezone.now() - timedelta(minutes=15))
    assert sign_in(*known) == 302


def test_other_workers_are_not_held_up(known):
    other, code = keys.create_worker()
    for _ in range(10):
        sign_in(known[0])
    assert sign_in(other.worker_id, code) == 302


def test_an_address_has_a_limit_of_its_own(known):
    assert {sign_in(f"A{n:013}") for n in range(50)} == {422}
    assert (sign_in(*known), sign_in(*known, address="10.0.0.2")) == (429, 302)


def test_a_sign_in_that_works_clears_the_workers_failures_only(known):
    for _ in range(9):
        sign_in(known[0])
    assert sign_in(*known) == 302
    assert [sign_in(known[0]) for _ in range(11)] == [422] * 10 + [429]
    assert FailedSignIn.objects.filter(address="10.0.0.1").count() == 19


def test_old_failures_are_forgotten(known):
    sign_in(known[0])
    FailedSignIn.objects.update(failed_at=timezone.now() - timedelta(minutes=16))
    sign_in(known[0])
    assert FailedSignIn.objects.count() == 1


def test_the_address_before_a_trusted_proxy_counts(known, settings):
    forged = {"x-forwarded-for": "1.2.3.4, 10.9.9.9"}
    sign_in(known[0], **forged)
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    sign_in(known[0], **forged)
    assert list(FailedSignIn.objects.order_by("pk").values_list("address", flat=True)) == [
        "10.0.0.1",
        "10.9.9.9",
    ]


@pytest.mark.parametrize("path", ["/", "/sign-in", "/work", "/mturk/externalSubmit"])
def test_head_is_answered_like_get_and_changes_nothing(path, new_worker):
    client = new_worker().client
    assert client.head(path).status_code == client.get(path).status_code


def test_head_submits_nothing(mturk, new_hit, new_worker):
    kind = mturk.get_hit(HITId=new_hit())["HIT"]["HITTypeId"]
    browser = new_worker()
    assignment_id = browser.accept(kind)
    address = f"/mturk/externalSubmit?assignmentId={assignment_id}&answer=yes"
    assert browser.client.head(address).status_code == 400
    assert Assignment.objects.get().status == "Open"


def test_a_proxy_that_does_not_tell_who_comes_locks_nobody_out(known, settings):
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert {sign_in(f"A{n:013}") for n in range(50)} == {422}
    assert sign_in(*known) == 302
