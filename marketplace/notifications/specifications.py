"""A HIT type's notification specification: set, switched, tried out; and where notifications may go.

They go to a webhook or a file, and only to one that the operator has allowed.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings

from marketplace.models import HITType, NotificationSetting, Requester
from marketplace.notifications import events
from marketplace.refusals import Refusal

SCHEMES = frozenset({"http", "https"})
# What a queue URL and a topic ARN look like. Source: Amazon SQS and SNS developer guides.
AWS_NAMES = {
    "SQS": re.compile(
        r"https://(sqs\.[a-z0-9-]+|[a-z0-9-]*\.?queue)\.amazonaws\.com/\d{12}/[A-Za-z0-9_-]{1,80}(\.fifo)?"
    ),
    "SNS": re.compile(r"arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}(\.fifo)?"),
}


@dataclass(frozen=True, kw_only=True)
class Specification:
    """MTurk's NotificationSpecification."""

    destination: str
    transport: str
    version: str
    event_types: list[str]


def check(specification: Specification) -> None:
    """Raise Refusal unless notifications may be meant to go there: to a queue or topic, even one not mapped yet."""
    if specification.transport not in NotificationSetting.Transport.values:
        raise Refusal(
            "InvalidTransportEndpoint", f"{specification.transport} is not available; use SQS or SNS."
        )
    if not AWS_NAMES[specification.transport].fullmatch(specification.destination):
        target_of(specification.destination)


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
    target_of(specification.destination)
    setting = NotificationSetting(**vars(specification))
    events.record_test(requester, setting=setting, event_type=event_type, at=now)


def target_of(destination: str) -> str:
    """Return the address or the file for a queue URL, topic ARN or address. Raises Refusal for any other.

    MARKETPLACE_NOTIFICATION_TARGETS maps destinations; an address stands for itself if its host is among
    MARKETPLACE_WEBHOOK_HOSTS, so that no requester can make this server call what only it can reach.
    """
    mapped: str | None = settings.MARKETPLACE_NOTIFICATION_TARGETS.get(destination)
    if mapped is not None:
        return mapped
    if _is_allowed(destination):
        return destination
    raise Refusal("InvalidTransportEndpoint", "This marketplace sends no notifications to that Destination.")


def is_web_address(target: str) -> bool:
    return target.partition("://")[0].lower() in SCHEMES


def _is_allowed(destination: str) -> bool:
    try:
        parts = urlsplit(destination)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in SCHEMES or not parts.hostname or "@" in parts.netloc or "\\" in destination:
        return False
    names = {parts.hostname, f"{parts.hostname}:{port}"}
    return bool(names & set(settings.MARKETPLACE_WEBHOOK_HOSTS))
