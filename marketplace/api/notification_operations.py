"""Operations about notifications of events."""

from collections.abc import Callable
from typing import Any

from marketplace.api.calls import Body, Call
from marketplace.api.errors import bad_value
from marketplace.engine import hits
from marketplace.notifications import specifications
from marketplace.notifications.specifications import Specification

VERSIONS = ("2006-05-05", "2014-08-15")  # the service model says the first, the API reference the second
TEST_ONLY = "Ping"
LONGEST_DESTINATION = 2048


def update_notification_settings(call: Call) -> Body:
    given, is_active = call.body.get("Notification"), call.body.get("Active")
    if given is None and is_active is None:
        raise bad_value("", "Notification", why="One of Notification and Active is needed")
    specification = _specification(given) if given is not None else None
    if specification and TEST_ONLY in specification.event_types:
        raise bad_value(TEST_ONLY, "EventTypes")
    hit_type = hits.find_hit_type(call.body["HITTypeId"], requester=call.requester)
    if specification:
        specifications.configure(hit_type, specification=specification, is_active=is_active)
    else:
        specifications.switch(hit_type, is_active=bool(is_active))
    return {}


def send_test_event_notification(call: Call) -> Body:
    specifications.test(
        call.requester,
        specification=_specification(call.body["Notification"]),
        event_type=call.body["TestEventType"],
        now=call.now,
    )
    return {}


def _specification(given: dict[str, Any]) -> Specification:
    if given["Version"] not in VERSIONS:
        raise bad_value(given["Version"], "Version")
    if not 1 <= len(given["Destination"]) <= LONGEST_DESTINATION:
        raise bad_value(given["Destination"], "Destination")
    if not given["EventTypes"]:
        raise bad_value("", "EventTypes")
    return Specification(
        destination=given["Destination"],
        transport=given["Transport"],
        version=given["Version"],
        event_types=sorted(set(given["EventTypes"])),
    )


OPERATIONS: dict[str, Callable[[Call], Body]] = {
    "UpdateNotificationSettings": update_notification_settings,
    "SendTestEventNotification": send_test_event_notification,
}
