"""A HIT type's notification specification: set, switched on and off, tried out."""

from dataclasses import dataclass
from datetime import datetime

from marketplace.models import HITType, NotificationSetting, Requester
from marketplace.notifications import destinations, events
from marketplace.refusals import Refusal


@dataclass(frozen=True, kw_only=True)
class Specification:
    """MTurk's NotificationSpecification."""

    destination: str
    transport: str
    version: str
    event_types: list[str]


def check(specification: Specification) -> None:
    """Raise Refusal InvalidTransportEndpoint unless notifications may be meant to go there."""
    if specification.transport not in NotificationSetting.Transport.values:
        raise Refusal(
            "InvalidTransportEndpoint", f"{specification.transport} is not available; use SQS or SNS."
        )
    destinations.check(specification.destination, transport=specification.transport)


def configure(hit_type: HITType, *, specification: Specification, is_active: bool | None) -> None:
    """Give the type a specification in place of any other; a first one is active unless told otherwise."""
    check(specification)
    values = {**vars(specification)} | ({} if is_active is None else {"is_active": is_active})
    NotificationSetting.objects.update_or_create(hit_type=hit_type, defaults=values)


def switch(hit_type: HITType, *, is_active: bool) -> None:
    """Switch the type's notifications on or off. Raises Refusal when it has no specification."""
    if not NotificationSetting.objects.filter(hit_type=hit_type).update(is_active=is_active):
        raise Refusal(
            "NotificationDoesNotExist", f"HITType {hit_type.type_id} has no notification specification."
        )


def test(requester: Requester, *, specification: Specification, event_type: str, now: datetime) -> None:
    """Have one event told that never happened. Raises Refusal InvalidTransportEndpoint."""
    check(specification)
    destinations.target_of(specification.destination)
    setting = NotificationSetting(**vars(specification))
    events.record_test(requester, setting=setting, event_type=event_type, at=now)
