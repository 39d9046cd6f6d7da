"""Notifications: what is asked for is told once it has happened, to a webhook or a file, until it arrives."""

import hashlib
import json
import time
from datetime import datetime, timedelta
from http.server import HTTPServer
from threading import Thread

import pytest
from django.core.management import call_command
from django.utils import timezone

from config.celery import app
from marketplace import clock
from marketplace.engine import deadlines
from marketplace.models import Event
from marketplace.notifications import delivery
from marketplace.tasks import keep_time
from tests.marketplace.notifications.notices import Receiver, kept, spec, told
from tests.services_site import a_worker, supervise

TOPIC = "arn:aws:sns:us-east-1:123456789012:lab"


@pytest.fixture
def receiver():
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    server.received, server.status = [], 200
    server.address = f"http://127.0.0.1:{server.server_address[1]}/sns"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def deliver(*, after=0):
    return delivery.deliver(now=timezone.now() + timedelta(seconds=after))


def test_the_life_of_a_hit_is_told_in_order(mturk, watched, new_worker, later):
    type_id, hit_id = watched(MaxAssignments=2, Title="Two")
    slow, first, second = [new_worker() for _ in range(3)]
    slow.accept(type_id, hit_id)
    later(seconds=3601)
    returned = first.accept(type_id, hit_id)
    first.give_back(returned)
    held = [worker.accept(type_id, hit_id) for worker in (first, second)]
    first.submit(held[0])
    second.submit(held[1])
    mturk.approve_assignment(AssignmentId=held[0])
    mturk.reject_assignment(AssignmentId=held[1], RequesterFeedback="No.")
    mturk.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=1)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    mturk.delete_hit(HITId=hit_id)
    assert [event for event, about in kept() if about == hit_id] == [
        "HITCreated",
        "AssignmentAccepted",
        "AssignmentAbandoned",
        "AssignmentAccepted",
        "AssignmentReturned",
        "AssignmentAccepted",
        "AssignmentAccepted",
        "AssignmentSubmitted",
        "AssignmentSubmitted",
        "HITReviewable",
        "AssignmentApproved",
        "AssignmentRejected",
        "HITExtended",
        "HITExpired",
        "HITReviewable",
        "HITDisposed",
    ]
    ids = [row.body.get("AssignmentId") for row in Event.objects.order_by("pk")]
    assert ids[-7:] == [None, held[0], held[1], None, None, None, None]


def test_a_hit_expires_once_and_again_once_it_was_reopened(mturk, watched):
    _, hit_id = watched(spec(events=["HITExpired", "HITExtended", "HITReviewable"]))
    now = clock.now()
    for moment in (now - timedelta(hours=2), now - timedelta(hours=1), now + timedelta(hours=1), now):
        mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=moment)
    over = ["HITExpired", "HITReviewable"]
    assert [event for event, _ in kept()] == [*over, "HITExtended", *over]


def test_work_that_ran_out_of_time_ended_then(watched, new_worker, later):
    type_id, hit_id = watched(spec(events=["AssignmentAccepted", "AssignmentAbandoned"]))
    new_worker().accept(type_id, hit_id)
    deadlines.sweep(now=later(seconds=86_400))
    accepted, abandoned = [hours(row.body) for row in Event.objects.order_by("pk")]
    assert round(abandoned - accepted, 3) == 1


def hours(event):
    return datetime.fromisoformat(event["EventTimestamp"]).timestamp() / 3600


def test_time_alone_is_told(targets, watched, new_worker, later):
    type_id, hit_id = watched(MaxAssignments=1, Title="One", AutoApprovalDelayInSeconds=3600)
    _, unsold = watched(MaxAssignments=1, Title="Two")
    worker = new_worker()
    worker.submit(worker.accept(type_id, hit_id))
    later(seconds=121 * 86_400)
    call_command("marketplace_notify")
    later(seconds=86_400)
    call_command("marketplace_notify")
    events = [event for line in told(targets) for event in json.loads(line["Body"])["Events"]]
    about = [row["EventType"] for row in events if row["HITId"] == hit_id]
    assert about == [
        "HITCreated",
        "AssignmentAccepted",
        "AssignmentSubmitted",
        "HITReviewable",
        "AssignmentApproved",
        "HITExpired",
        "HITDisposed",
    ]
    assert [row["EventType"] for row in events if row["HITId"] == unsold] == [
        "HITCreated",
        "HITExpired",
        "HITReviewable",
        "HITDisposed",
    ]
    approved = next(row for row in events if row["EventType"] == "AssignmentApproved")
    submitted = next(row for row in events if row["EventType"] == "AssignmentSubmitted")
    assert round(hours(approved) - hours(submitted), 3) == 1


def test_a_queue_receives_messages_of_a_queue(targets, watched, requester):
    _, hit_id = watched()
    mine = Event.objects.get()
    assert (deliver(), deliver(), Event.objects.count()) == (1, 0, 0)
    (line,) = told(targets)
    body = json.loads(line["Body"])
    assert line == {
        "MessageId": body["EventDocId"],
        "ReceiptHandle": body["EventDocId"],
        "MD5OfBody": hashlib.md5(line["Body"].encode()).hexdigest(),
        "Body": line["Body"],
    }
    assert body == {
        "EventDocVersion": "2014-08-15",
        "EventDocId": body["EventDocId"],
        "CustomerId": delivery.customer_id(requester),
        "Events": [mine.body],
    }
    assert (mine.body["EventType"], mine.body["HITId"]) == ("HITCreated", hit_id)


def test_a_topic_posts_as_a_topic_does(receiver, settings, watched):
    settings.MARKETPLACE_NOTIFICATION_TARGETS = {TOPIC: receiver.address}
    _, hit_id = watched(spec(TOPIC, transport="SNS", version="2006-05-05"))
    assert deliver() == 1
    ((path, headers, text),) = receiver.received
    body = json.loads(text)
    document = json.loads(body["Message"])
    assert (path, body["Type"], body["TopicArn"]) == ("/sns", "Notification", TOPIC)
    assert headers["x-amz-sns-message-type"] == "Notification"
    assert headers["x-amz-sns-topic-arn"] == TOPIC
    assert body["MessageId"] == headers["x-amz-sns-message-id"] == document["EventDocId"]
    assert (document["EventDocVersion"], document["Events"][0]["HITId"]) == ("2006-05-05", hit_id)
    assert {"SignatureVersion", "Signature", "SigningCertURL", "UnsubscribeURL", "Timestamp"} <= body.keys()


def test_an_address_stands_for_itself_if_its_host_is_allowed(receiver, settings, watched):
    settings.MARKETPLACE_WEBHOOK_HOSTS = ["127.0.0.1"]
    watched(spec(receiver.address))
    assert (deliver(), len(receiver.received)) == (1, 1)


def test_events_travel_together_and_only_those_asked_for(targets, watched, new_worker):
    type_id, hit_id = watched(spec(events=["AssignmentAccepted", "AssignmentSubmitted"]), MaxAssignments=5)
    for worker in [new_worker() for _ in range(2)]:
        worker.submit(worker.accept(type_id, hit_id))
    assert deliver() == 1
    (line,) = told(targets)
    names = [row["EventType"] for row in json.loads(line["Body"])["Events"]]
    assert names == ["AssignmentAccepted", "AssignmentSubmitted"] * 2


def test_many_events_are_cut_into_documents(targets, watched, monkeypatch, new_hit):
    monkeypatch.setattr(delivery, "MOST_EVENTS", 2)
    watched()
    for _ in range(4):
        new_hit()
    assert deliver() == 3
    assert [len(json.loads(line["Body"])["Events"]) for line in told(targets)] == [2, 2, 1]


def test_what_does_not_arrive_is_repeated_under_the_same_id(receiver, settings, watched):
    settings.MARKETPLACE_WEBHOOK_HOSTS = ["127.0.0.1"]
    receiver.status = 500
    watched(spec(receiver.address))
    assert (deliver(), Event.objects.get().attempts) == (0, 1)
    assert (deliver(after=8), Event.objects.get().attempts) == (0, 1)
    receiver.status = 200
    assert (deliver(after=12), Event.objects.count()) == (1, 0)
    assert len({json.loads(body)["MessageId"] for _, _, body in receiver.received}) == 1
    assert len(receiver.received) == 2


def test_a_silent_host_is_asked_once_in_a_run_and_given_up_in_the_end(receiver, settings, watched, targets):
    settings.MARKETPLACE_WEBHOOK_HOSTS = ["127.0.0.1"]
    receiver.status = 503
    watched(spec(receiver.address), Title="Silent")
    watched(spec(receiver.address, transport="SNS"), Title="Silent too")
    watched(Title="Listening")
    assert (deliver(), len(receiver.received), len(told(targets))) == (1, 1, 1)
    for number in range(1, 30):
        deliver(after=3600 * number)
    assert (len(receiver.received), Event.objects.count()) == (16, 0)


def test_a_redirect_is_not_followed(receiver, settings, watched):
    settings.MARKETPLACE_WEBHOOK_HOSTS = ["127.0.0.1"]
    receiver.status = 302
    watched(spec(receiver.address))
    assert (deliver(), [path for path, _, _ in receiver.received]) == (0, ["/sns"])


def test_a_host_no_longer_allowed_is_not_called(receiver, settings, watched):
    settings.MARKETPLACE_WEBHOOK_HOSTS = ["127.0.0.1"]
    watched(spec(receiver.address))
    settings.MARKETPLACE_WEBHOOK_HOSTS = []
    assert (deliver(), receiver.received) == (0, [])


def test_what_nobody_fetches_is_bounded(watched, new_hit, monkeypatch, settings):
    monkeypatch.setattr(delivery, "MOST_WAITING", 3)
    watched()
    hits = [new_hit() for _ in range(5)]
    settings.MARKETPLACE_NOTIFICATION_TARGETS = {}
    deliver()
    assert [hit_id for _, hit_id in kept()] == hits[-3:]


def test_planned_faults_repeat_and_reorder_messages(targets, control, mturk, watched, new_hit):
    watched()
    hits = [new_hit() for _ in range(2)]
    control("POST", "faults", {"kind": "reorder"})
    control("POST", "faults", {"kind": "duplicate"})
    assert mturk.get_hit(HITId=hits[0])["HIT"]["HITId"] == hits[0]
    assert deliver() == 1
    (line,) = told(targets)
    about = [row["HITId"] for row in json.loads(line["Body"])["Events"]]
    assert about[:2] == hits[::-1]
    new_hit()
    assert deliver() == 1
    first, second = told(targets)[1:]
    assert first == second
    assert control("GET", "faults") == []


@pytest.mark.processes
def test_a_celery_worker_tells(receiver, requester, transactional_db, tmp_path):
    Event.objects.create(
        requester=requester,
        destination=receiver.address,
        transport="SQS",
        version="2014-08-15",
        body={"EventType": "Ping"},
        due_at=timezone.now(),
    )
    with supervise(
        [a_worker(tmp_path, environment={"MARKETPLACE_WEBHOOK_HOSTS": "127.0.0.1"})], folder=tmp_path
    ):
        keep_time.delay()
        wait_until(lambda: Event.objects.count() == 0)
    assert len(receiver.received) == 1


def wait_until(is_so):
    deadline = time.monotonic() + 60
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.1)


def test_celery_knows_what_its_clock_starts(settings):
    app.loader.import_default_modules()
    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} <= app.tasks.keys()
