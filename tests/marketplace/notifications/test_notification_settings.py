"""UpdateNotificationSettings and SendTestEventNotification: what they take, and what they refuse."""

import json

import pytest

from marketplace.models import Event, NotificationSetting
from marketplace.tasks import keep_time
from tests.marketplace.notifications.notices import kept, refused, spec, told

pytestmark = pytest.mark.usefixtures("targets")


@pytest.mark.parametrize(
    "destination",
    [
        "https://elsewhere.example/",
        "http://127.0.0.1:8000/control/reset",
        "https://hooks.example@127.0.0.1/",
        "https://hooks.example:bad/",
        "https://hooks.example\\@127.0.0.1/",
        "file:///etc/passwd",
        "ftp://hooks.example/",
        "arn:aws:sns:us-east-1:1:unknown",
        "told/queue.jsonl",
    ],
)
def test_other_destinations_are_refused(mturk, settings, destination):
    settings.MARKETPLACE_WEBHOOK_HOSTS = ["hooks.example"]
    call = {"Notification": spec(destination), "TestEventType": "Ping"}
    assert refused(mturk.send_test_event_notification, **call).endswith("InvalidTransportEndpoint")
    assert Event.objects.count() == 0


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"Transport": "Email"}, "AWS.MechanicalTurk.InvalidTransportEndpoint"),
        ({"Transport": "Pigeon"}, "ParameterValidationError"),
        ({"Version": "2017-01-17"}, "ParameterValidationError"),
        ({"EventTypes": []}, "ParameterValidationError"),
        ({"EventTypes": ["Ping"]}, "ParameterValidationError"),
        ({"EventTypes": ["HITEaten"]}, "ParameterValidationError"),
        ({"Destination": ""}, "ParameterValidationError"),
        ({"Destination": "https://hooks.example/" + "x" * 2048}, "ParameterValidationError"),
    ],
    ids=str,
)
def test_specifications_that_make_no_sense(mturk, new_hit, changes, code):
    type_id = mturk.get_hit(HITId=new_hit())["HIT"]["HITTypeId"]
    given = spec() | changes
    assert refused(mturk.update_notification_settings, HITTypeId=type_id, Notification=given) == code
    assert NotificationSetting.objects.count() == 0


@pytest.mark.parametrize(
    ("destination", "transport"),
    [
        ("https://sqs.eu-west-1.amazonaws.com/123456789012/other", "SQS"),
        ("https://queue.amazonaws.com/123456789012/other", "SQS"),
        ("arn:aws:sns:us-east-1:123456789012:other", "SNS"),
    ],
)
def test_a_queue_that_nothing_stands_for_may_be_set_but_not_tried(mturk, new_hit, destination, transport):
    type_id = mturk.get_hit(HITId=new_hit())["HIT"]["HITTypeId"]
    given = spec(destination, transport=transport)
    mturk.update_notification_settings(HITTypeId=type_id, Notification=given)
    call = {"Notification": given, "TestEventType": "Ping"}
    assert refused(mturk.send_test_event_notification, **call).endswith("InvalidTransportEndpoint")
    new_hit()
    assert (keep_time(), Event.objects.get().attempts) == (None, 1)


@pytest.mark.parametrize(
    ("destination", "transport"),
    [
        ("arn:aws:sns:us-east-1:123456789012:other", "SQS"),
        ("https://sqs.eu-west-1.amazonaws.com/123456789012/other", "SNS"),
        ("https://sqs.eu-west-1.amazonaws.com.evil.example/123456789012/other", "SQS"),
        ("https://elsewhere.example/123456789012/other", "SQS"),
        ("http://169.254.169.254/latest/meta-data", "SQS"),
    ],
)
def test_what_is_no_queue_or_topic_may_not_be_set(mturk, new_hit, destination, transport):
    type_id = mturk.get_hit(HITId=new_hit())["HIT"]["HITTypeId"]
    call = {"HITTypeId": type_id, "Notification": spec(destination, transport=transport)}
    assert refused(mturk.update_notification_settings, **call).endswith("InvalidTransportEndpoint")
    assert NotificationSetting.objects.count() == 0


def test_notifications_are_switched_off_and_on(mturk, watched, new_hit):
    type_id, _ = watched()
    mturk.update_notification_settings(HITTypeId=type_id, Active=False)
    new_hit()
    assert len(kept()) == 1
    mturk.update_notification_settings(HITTypeId=type_id, Notification=spec(events=["HITCreated"]))
    new_hit()
    assert len(kept()) == 1
    mturk.update_notification_settings(HITTypeId=type_id, Active=True)
    new_hit()
    assert len(kept()) == 2


def test_only_ones_own_types_and_only_with_a_specification(mturk, demo, watched, new_hit):
    type_id, _ = watched()
    other = mturk.get_hit(HITId=new_hit(Title="Other"))["HIT"]["HITTypeId"]
    said = [
        refused(mturk.update_notification_settings, HITTypeId=other, Active=True),
        refused(demo.update_notification_settings, HITTypeId=type_id, Active=False),
        refused(mturk.update_notification_settings, HITTypeId=type_id),
    ]
    assert [code.rpartition(".")[2] for code in said] == [
        "NotificationDoesNotExist",
        "HITTypeDoesNotExist",
        "ParameterValidationError",
    ]


def test_a_test_event_is_told_whatever_is_asked_for(mturk, targets):
    for event in ("Ping", "AssignmentSubmitted"):
        call = {"Notification": spec(events=["HITCreated"]), "TestEventType": event}
        mturk.send_test_event_notification(**call)
    keep_time()
    (line,) = told(targets)
    events = json.loads(line["Body"])["Events"]
    assert [(row["EventType"], "AssignmentId" in row) for row in events] == [
        ("Ping", False),
        ("AssignmentSubmitted", True),
    ]


def test_a_refused_call_tells_nothing(mturk, watched, new_hit):
    watched(spec(events=["HITExtended"]))
    hit_id = new_hit()
    extension = {"HITId": hit_id, "NumberOfAdditionalAssignments": 1, "UniqueRequestToken": "once"}
    mturk.create_additional_assignments_for_hit(**extension)
    refused(mturk.create_additional_assignments_for_hit, **extension)
    assert kept() == [("HITExtended", hit_id)]
