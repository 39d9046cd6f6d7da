"""Where notifications really go: a webhook or a file, and only one that the operator has allowed."""

import re
from urllib.parse import urlsplit

from django.conf import settings

from marketplace.refusals import Refusal

SCHEMES = frozenset({"http", "https"})
# What a queue URL and a topic ARN look like. Source: Amazon SQS and SNS developer guides.
AWS_NAMES = {
    "SQS": re.compile(
        r"https://(sqs\.[a-z0-9-]+|[a-z0-9-]*\.?queue)\.amazonaws\.com/\d{12}/[A-Za-z0-9_-]{1,80}(\.fifo)?"
    ),
    "SNS": re.compile(r"arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}(\.fifo)?"),
}


def check(destination: str, *, transport: str) -> None:
    """Raise Refusal unless notifications may be meant for it: a queue or topic, also one nothing stands for yet."""
    if not AWS_NAMES[transport].fullmatch(destination):
        target_of(destination)


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
