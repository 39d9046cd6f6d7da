"""Events of HITs and assignments, kept for telling in the transaction they happen in."""

from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from marketplace.models import HIT, Assignment, Event, NotificationSetting, Requester


def record(hit: HIT, *event_types: str, at: datetime, assignment: Assignment | None = None) -> None:
    """Keep those events for telling that the HIT's type asks for. Runs inside the caller's transaction."""
    setting: NotificationSetting | None = getattr(hit.hit_type, "notification", None)
    wanted = setting.event_types if setting and setting.is_active else []
    assignment_id = assignment.assignment_id if assignment else ""
    for event_type in event_types:
        if setting and event_type in wanted:
            body = _body(event_type, at=at, ids=(hit.hit_type.type_id, hit.hit_id, assignment_id))
            _keep(hit.requester, setting=setting, body=body)


def reviewable(hit: HIT, *, now: datetime) -> list[str]:
    """Return HITReviewable if that is what the HIT, which was not, has just become."""
    return ["HITReviewable"] if hit.status(now=now) == HIT.Status.REVIEWABLE else []


def record_test(requester: Requester, *, setting: NotificationSetting, event_type: str, at: datetime) -> None:
    """Keep an event that never happened, about ids that belong to nothing, whatever the setting asks for."""
    body = _body(event_type, at=at, ids=("3TESTTYPE", "3TESTHIT", "3TESTASSIGNMENT"))
    _keep(requester, setting=setting, body=body)


def _body(event_type: str, *, at: datetime, ids: tuple[str, str, str]) -> dict[str, Any]:
    """An Event structure. Source: API reference, "Notification Handling Using Amazon SNS", message payload."""
    moment = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    type_id, hit_id, assignment_id = ids
    body = {"EventType": event_type, "EventTimestamp": moment, "HITTypeId": type_id, "HITId": hit_id}
    return body | ({"AssignmentId": assignment_id} if event_type.startswith("Assignment") else {})


def _keep(requester: Requester, *, setting: NotificationSetting, body: dict[str, Any]) -> None:
    Event.objects.create(
        requester=requester,
        destination=setting.destination,
        transport=setting.transport,
        version=setting.version,
        body=body,
        due_at=timezone.now(),
    )
