"""Webhooks: each event told until it has arrived, signed, once for whoever listens well, and to nobody inside."""

import hashlib
import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Event, Thread
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from assent_client import is_signed
from surveys import sync
from surveys.models import Batch, Decision, Delivery, Webhook
from surveys.operations import webhooks
from surveys.studies.importing.pictures import PictureError
from tests.dripping import dripping
from tests.factories import make_published, submitted
from tests.people import client_of

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
PATIENCE_SECONDS = 8.0


class Listener:
    """A server that keeps what it is sent, and answers with `status`: at once, or when `answers` is set."""

    def __init__(self) -> None:
        self.status, self.got = 200, list[tuple[dict[str, str], bytes]]()
        self.location = "/elsewhere"
        self.answers, self.is_told = Event(), Event()
        self.answers.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append((dict(self.headers), body))
                outer.is_told.set()
                self.send_response(outer.status if outer.answers.wait(PATIENCE_SECONDS) else 504)
                self.send_header("Location", outer.location)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/told?by=assent"


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()
    thread = Thread(target=listener.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield listener
    listener.answers.set()
    listener.server.shutdown()
    listener.server.server_close()
    thread.join()


@pytest.fixture
def listener(settings: Settings) -> Iterator[Listener]:
    settings.FETCH_PRIVATE = True
    with listening() as listener:
        yield listener


@pytest.fixture
def hanging(listener: Listener) -> Iterator[Listener]:
    """A server that takes what it is sent and says nothing."""
    with listening() as hanging:
        hanging.answers.clear()
        yield hanging


@pytest.fixture
def batch() -> Batch:
    return make_published().batch


@pytest.fixture
def webhook(listener: Listener, batch: Batch) -> Webhook:
    return webhooks.add(batch.survey, listener.url, by=User.objects.create_user("ada"))


def complete(batch: Batch) -> None:
    Batch.objects.filter(pk=batch.pk).update(status="complete")


def hold(batch: Batch) -> Decision:
    """Hand in one more assignment that waits for a person."""
    assignment = submitted(batch.questionnaires.get())
    return Decision.objects.create(
        assignment=assignment, verdict="flag", reason="Odd.", decided_at=timezone.now()
    )


def later(by: timedelta) -> None:
    """Let so much time have passed for what is due."""
    for delivery in Delivery.objects.exclude(due_at=None):
        Delivery.objects.filter(pk=delivery.pk).update(due_at=delivery.due_at - by)


def test_a_batch_that_is_done_is_told_once_and_signed(
    listener: Listener, webhook: Webhook, batch: Batch
) -> None:
    complete(batch)
    for _ in range(2):
        sync.send_webhooks()
    [(headers, body)] = listener.got
    told = json.loads(body)
    assert (told["event"], told["study"], told["batch"]["id"]) == ("batch.done", batch.survey.slug, batch.pk)
    time, signed = (part.partition("=")[2] for part in headers["Assent-Signature"].split(","))
    made = hmac.new(webhook.secret.encode(), f"{time}.".encode() + body, hashlib.sha256).hexdigest()
    assert (signed, headers["Assent-Event"]) == (made, "batch.done")
    ours = {"signature": headers["Assent-Signature"], "secret": webhook.secret}
    assert is_signed(body, **ours)
    for other in (
        {"body": body + b" "},
        {"secret": "other"},
        {"signature": f"t={time},v1=0"},
        {"within": -1.0},
    ):
        assert not is_signed(**{"body": body, **ours, **other})
    delivery = Delivery.objects.get()
    assert (delivery.arrived_at is not None, delivery.due_at, delivery.attempts) == (True, None, 1)


def test_work_that_waits_is_told_and_not_each_time_anew(
    listener: Listener, webhook: Webhook, batch: Batch
) -> None:
    hold(batch)
    for _ in range(2):
        sync.send_webhooks()
    hold(batch)
    sync.send_webhooks()
    assert [json.loads(body)["event"] for _, body in listener.got] == ["work.waits"]
    Delivery.objects.update(created_at=timezone.now() - HOUR)
    sync.send_webhooks()
    assert len(listener.got) == 2


def test_nothing_that_was_so_before_is_told(listener: Listener, batch: Batch) -> None:
    complete(batch)
    webhooks.add(batch.survey, listener.url, by=User.objects.create_user("ada"))
    sync.send_webhooks()
    assert (listener.got, Delivery.objects.get().error) == ([], webhooks.BEFORE)


def test_what_does_not_arrive_is_tried_again_ever_later_and_given_up(
    listener: Listener, webhook: Webhook, batch: Batch
) -> None:
    listener.status = 500
    complete(batch)
    waits = []
    for _ in range(webhooks.MOST_ATTEMPTS + 1):
        sync.send_webhooks()
        due_at = Delivery.objects.get().due_at
        waits += [round((due_at - timezone.now()).total_seconds())] if due_at else []
        later(timedelta(days=9))
    assert waits == [30 * 4**n for n in range(7)]
    delivery = Delivery.objects.get()
    assert (len(listener.got), delivery.due_at, delivery.arrived_at) == (8, None, None)
    assert delivery.error == "127.0.0.1 answers with status 500."


def test_what_arrives_late_has_arrived(listener: Listener, webhook: Webhook, batch: Batch) -> None:
    listener.status = 503
    complete(batch)
    sync.send_webhooks()
    listener.status = 204
    sync.send_webhooks()
    assert len(listener.got) == 1
    later(HOUR)
    sync.send_webhooks()
    assert [(one.attempts, one.error, one.due_at) for one in Delivery.objects.all()] == [(2, "", None)]


def test_of_two_processes_one_sends(webhook: Webhook) -> None:
    seen_by_both = webhooks.test(webhook)
    assert [webhooks._claim(seen_by_both) for _ in range(2)] == [True, False]


def test_what_died_in_the_middle_is_sent_again(
    listener: Listener, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhooks.test(webhook)

    def die(deliveries: list[Delivery]) -> list[tuple[Delivery, str]]:
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(webhooks, "_tell", die)
        with pytest.raises(SystemExit):
            webhooks.send_due()
    assert webhooks.send_due() == 0
    later(webhooks.LEASE)
    assert webhooks.send_due() == 1


def test_what_has_arrived_meanwhile_has_arrived(
    listener: Listener, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = webhooks.test(webhook)

    def too_slow(deliveries: list[Delivery]) -> list[tuple[Delivery, str]]:
        Delivery.objects.filter(pk=slow.pk).update(due_at=None, arrived_at=timezone.now())
        return [(slow, "127.0.0.1 does not answer.")]

    monkeypatch.setattr(webhooks, "_tell", too_slow)
    assert webhooks.send_due() == 0
    assert (Delivery.objects.get().arrived_at is not None, Delivery.objects.get().due_at) == (True, None)


def test_who_hangs_delays_nobody(hanging: Listener, listener: Listener, batch: Batch) -> None:
    """The first of two is silent until the other one was told: one after the other they would wait for each other."""
    hanging.answers = listener.is_told
    for url in (hanging.url, listener.url):
        webhooks.test(webhooks.add(batch.survey, url, by=User(pk=None)))
    assert webhooks.send_due() == 2
    assert [one.error for one in Delivery.objects.all()] == ["", ""]


def test_who_hangs_is_not_waited_for(
    listener: Listener, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two messages one is tried, and the other not before the first has come to its end: its name is looked up."""
    monkeypatch.setattr(webhooks, "SECONDS", 0.2)
    webhook = webhooks.add(batch.survey, listener.url, by=User(pk=None))
    for _ in range(2):
        webhooks.test(webhook)
    is_known = Event()

    def look_up(*_: Any, **__: Any) -> str:
        is_known.wait(PATIENCE_SECONDS)
        return "127.0.0.1"

    monkeypatch.setattr(webhooks, "check_address", look_up)
    assert webhooks.send_due() == 0
    assert webhooks.send_due() == 0
    second, first = Delivery.objects.all()
    slow = "It does not answer within 0 seconds."
    assert [(one.attempts, one.error) for one in (first, second)] == [(1, slow), (0, "")]
    monkeypatch.setattr(webhooks, "SECONDS", PATIENCE_SECONDS)
    is_known.set()
    webhooks._speaking[webhook.pk].join()
    assert webhooks.send_due() == 1
    assert Delivery.objects.get(arrived_at=None).pk == first.pk


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (b"", b"HTTP/1.1 200 OK at last"),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        (b"HTTP/1.1 200 OK\r\nX: ", b"y"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_who_answers_letter_by_letter_is_left(
    listener: Listener, batch: Batch, monkeypatch: pytest.MonkeyPatch, first: bytes, then: bytes
) -> None:
    """No thread goes on listening, nor is what came till then an answer."""
    monkeypatch.setattr(webhooks, "SECONDS", 0.3)
    with dripping(first, then) as server:
        webhook = webhooks.add(batch.survey, server.url, by=User(pk=None))
        webhooks.test(webhook)
        assert webhooks.send_due() == 0
        webhooks._speaking[webhook.pk].join(PATIENCE_SECONDS)
        assert not webhooks._speaking[webhook.pk].is_alive()
        assert server.is_left.wait(PATIENCE_SECONDS)
    delivery = Delivery.objects.get()
    assert (delivery.arrived_at, delivery.attempts, delivery.error != "") == (None, 1, True)


def test_the_body_of_an_answer_is_not_waited_for(listener: Listener, batch: Batch) -> None:
    with dripping(b"HTTP/1.1 200 OK\r\n\r\n", b"and so on ") as server:
        webhooks.test(webhooks.add(batch.survey, server.url, by=User(pk=None)))
        assert webhooks.send_due() == 1
        assert server.is_left.wait(PATIENCE_SECONDS)


def test_a_redirect_to_this_machine_reaches_nothing(listener: Listener, batch: Batch) -> None:
    """A host outside sends on to one inside."""
    with listening() as inside:
        listener.status, listener.location = 302, inside.url
        webhooks.test(webhooks.add(batch.survey, listener.url, by=User(pk=None)))
        assert webhooks.send_due() == 0
        assert (len(listener.got), inside.got) == (1, [])
    assert Delivery.objects.get().error == "127.0.0.1 answers with status 302."


def test_who_fails_is_left_alone_for_a_run_and_others_are_told_all(
    hanging: Listener, listener: Listener, batch: Batch
) -> None:
    hanging.answers.set()
    hanging.status = 500
    for url in (hanging.url, listener.url):
        webhook = webhooks.add(batch.survey, url, by=User(pk=None))
        for _ in range(3):
            webhooks.test(webhook)
    assert webhooks.send_due() == 3
    assert (len(hanging.got), len(listener.got)) == (1, 3)


def test_who_has_failed_least_comes_first(
    listener: Listener, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "AT_ONCE", 1)
    monkeypatch.setattr(webhooks, "MOST_ROUNDS", 1)
    for name in ("old", "new"):
        webhooks.test(webhooks.add(batch.survey, f"{listener.url}&{name}", by=User(pk=None)))
    Delivery.objects.filter(webhook__url__endswith="old").update(attempts=1, due_at=timezone.now() - HOUR)
    assert webhooks.send_due() == 1
    assert Delivery.objects.get(arrived_at=None).webhook.url.endswith("old")


def test_no_redirect_is_followed(listener: Listener, webhook: Webhook) -> None:
    listener.status = 307
    webhooks.test(webhook)
    webhooks.send_due()
    assert (len(listener.got), Delivery.objects.get().arrived_at) == (1, None)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/x", "http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]/", "http://2130706433/",
     "ftp://lab.example/", "http://ada:pw@93.184.216.34/"],
)  # fmt: skip
def test_no_address_inside_is_told(batch: Batch, url: str) -> None:
    with pytest.raises(PictureError, match=r"private network|must"):
        webhooks.add(batch.survey, url, by=User(pk=None))
    webhook = Webhook.objects.create(survey=batch.survey, url=url)  # as of a name that has moved inside since
    webhooks.test(webhook)
    assert webhooks.send_due() == 0
    assert Delivery.objects.get().error != ""


def test_its_page_shows_the_secret_once_and_what_became_of_a_test(
    listener: Listener, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surveys.pages.study.webhooks.enqueue", lambda task: task())
    client, path = client_of("Researcher"), f"/studies/{batch.survey.slug}/webhooks/"
    first = client.post(path, {"url": listener.url})
    webhook = Webhook.objects.get()
    assert webhook.secret in first.content.decode()
    assert webhook.secret not in client.get(path).content.decode()
    assert client.post(path, {"url": listener.url}).status_code == 422
    client.post(f"{path}{webhook.pk}/test")
    assert json.loads(listener.got[0][1])["event"] == "test"
    assert "arrived" in client.get(path).content.decode()
    client.post(f"{path}{webhook.pk}/remove")
    assert (Webhook.objects.count(), Delivery.objects.count()) == (0, 0)


def test_the_page_refuses_an_address_inside(batch: Batch) -> None:
    page = client_of("Researcher").post(
        f"/studies/{batch.survey.slug}/webhooks/", {"url": "http://127.0.0.1:6379/"}
    )
    assert (page.status_code, "private network" in page.content.decode()) == (422, True)
    assert Webhook.objects.count() == 0


def test_another_studys_webhook_is_not_there(listener: Listener, webhook: Webhook) -> None:
    other = make_published().batch.survey
    client = client_of("Researcher")
    assert client.post(f"/studies/{other.slug}/webhooks/{webhook.pk}/remove").status_code == 404
    assert Webhook.objects.count() == 1
