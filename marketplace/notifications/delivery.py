"""Telling what has happened: at least once, in no promised order, never inside a request or a transaction.

A receiver reads MTurk's document of events, wrapped as a queue or a topic would wrap it.
"""

import hashlib
import json
import logging
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import urllib3
from django.conf import settings
from django.db.models import Count, F

from marketplace import ids
from marketplace.models import Event, Fault, NotificationSetting, Requester
from marketplace.notifications import specifications
from marketplace.refusals import Refusal

MOST_EVENTS = 50  # in one document
MOST_MESSAGES = 100  # in one run
MOST_WAITING = 10_000  # of one requester; beyond, the oldest are lost
MOST_ATTEMPTS = 8  # 10 s, 20 s, 40 s ... apart: given up after 21 minutes
FIRST_DELAY = timedelta(seconds=10)
LEASE = timedelta(seconds=60)  # what a crash leaves behind is tried again after this long
TIMEOUT = urllib3.Timeout(connect=3, read=5)
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Message:
    """One HTTP POST, or one line of a file."""

    body: str
    headers: dict[str, str] = field(default_factory=dict)


def deliver(*, now: datetime) -> int:
    """Send what is due at `now` (real time); return how many messages arrived. A silent host is asked once."""
    _drop_surplus()
    arrived, silent = 0, set[str]()
    for _ in range(MOST_MESSAGES):
        rows = _claim(now=now, without=silent)
        if not rows:
            break
        if _send(rows, now=now):
            Event.objects.filter(pk__in=[row.pk for row in rows]).delete()
            arrived += 1
        else:
            _put_off(rows, now=now)
            silent.add(rows[0].destination)
    return arrived


def _claim(*, now: datetime, without: Collection[str]) -> list[Event]:
    """Return the events of the next document, leased to us; empty when there are none or another was quicker."""
    due = Event.objects.filter(due_at__lte=now).exclude(destination__in=without)
    first = due.order_by("due_at", "id").first()
    if first is None:
        return []
    together = ["requester_id", "destination", "transport", "version", "document_id"]
    alike = due.filter(**{name: getattr(first, name) for name in together}).order_by("id")
    document_id = first.document_id or uuid.uuid4()
    wanted = list(alike.values_list("pk", flat=True)[:MOST_EVENTS])
    leased = Event.objects.filter(pk__in=wanted, due_at__lte=now).update(
        document_id=document_id, attempts=F("attempts") + 1, due_at=now + LEASE
    )
    rows = Event.objects.filter(pk__in=wanted, document_id=document_id) if leased else Event.objects.none()
    return list(rows.select_related("requester").order_by("id"))


def _send(rows: list[Event], *, now: datetime) -> bool:
    try:
        target = specifications.target_of(rows[0].destination)
        kind = _planned_fault(rows[0].requester)
        ordered = rows[::-1] if kind == Fault.Kind.REORDER else rows
        message = message_of(ordered, now=now)
        send = _post if specifications.is_web_address(target) else _append
        return all(send(target, message=message) for _ in range(2 if kind == Fault.Kind.DUPLICATE else 1))
    except (Refusal, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        logger.info("A notification for %s did not arrive: %s", rows[0].destination, error)
        return False


def _planned_fault(requester: Requester) -> str:
    """Use up a fault that a rehearsal has planned for a message and return its kind; empty when there is none."""
    is_rehearsal = bool(settings.MARKETPLACE_CONTROL_TOKEN)
    fault = Fault.objects.take_for_message(requester) if is_rehearsal else None
    return fault.kind if fault else ""


def _post(address: str, *, message: Message) -> bool:
    """Post without following any redirect: only the allowed host itself is ever called."""
    with urllib3.PoolManager() as pool:
        response = pool.request(
            "POST",
            address,
            body=message.body.encode(),
            headers=message.headers,
            redirect=False,
            retries=False,
            timeout=TIMEOUT,
            preload_content=False,
        )
        response.close()
    return 200 <= response.status < 300


def _append(target: str, *, message: Message) -> bool:
    """Add one line to a file; a relative name is one in the data folder."""
    path = Path(settings.DATA_DIR) / target
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{message.body}\n")
    return True


def _put_off(rows: list[Event], *, now: datetime) -> None:
    attempts = rows[0].attempts
    mine = Event.objects.filter(pk__in=[row.pk for row in rows])
    if attempts >= MOST_ATTEMPTS:
        logger.warning("Gave up %d events for %s.", len(rows), rows[0].destination)
        mine.delete()
    else:
        mine.update(due_at=now + FIRST_DELAY * 2 ** (attempts - 1))


def _drop_surplus() -> None:
    waiting = Event.objects.values("requester").annotate(number=Count("pk"))
    for row in waiting.filter(number__gt=MOST_WAITING):
        rows = Event.objects.filter(requester=row["requester"]).order_by("-id")
        oldest_kept = rows.values_list("pk", flat=True)[MOST_WAITING - 1]
        dropped, _ = Event.objects.filter(requester=row["requester"], pk__lt=oldest_kept).delete()
        logger.warning("Dropped %d events that nobody listened to.", dropped)


def message_of(rows: Sequence[Event], *, now: datetime) -> Message:
    """Wrap events of one document. At least one row; all of one requester, destination, transport and version."""
    if rows[0].transport == NotificationSetting.Transport.SNS:
        return _from_topic(rows[0], document=document(rows), now=now)
    return _from_queue(rows[0], document=document(rows))


def document(rows: Sequence[Event]) -> str:
    """The JSON all transports carry. Source: API reference, "Elements of a Notification Message"."""
    return json.dumps(
        {
            "EventDocVersion": rows[0].version,
            "EventDocId": str(rows[0].document_id),
            "CustomerId": customer_id(rows[0].requester),
            "Events": [row.body for row in rows],
        }
    )


def customer_id(requester: Requester) -> str:
    """Return the requester's number in MTurk's form, always the same for one account."""
    return "A" + ids.seeded(key=b"customer", message=str(requester.pk), length=13)


def _from_topic(row: Event, *, document: str, now: datetime) -> Message:
    """Source: Amazon SNS developer guide, "HTTP/HTTPS notification JSON format". Nothing is signed here."""
    body = {
        "Type": "Notification",
        "MessageId": str(row.document_id),
        "TopicArn": row.destination,
        "Message": document,
        "Timestamp": now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "SignatureVersion": "1",
        "Signature": "",
        "SigningCertURL": "",
        "UnsubscribeURL": "",
    }
    headers = {
        "Content-Type": "text/plain; charset=UTF-8",
        "x-amz-sns-message-type": "Notification",
        "x-amz-sns-message-id": str(row.document_id),
        "x-amz-sns-topic-arn": row.destination,
    }
    return Message(json.dumps(body), headers)


def _from_queue(row: Event, *, document: str) -> Message:
    """A Message structure of ReceiveMessage. Source: botocore's service model of SQS."""
    body: dict[str, Any] = {
        "MessageId": str(row.document_id),
        "ReceiptHandle": str(row.document_id),
        "MD5OfBody": hashlib.md5(document.encode(), usedforsecurity=False).hexdigest(),
        "Body": document,
    }
    return Message(json.dumps(body), {"Content-Type": "application/json"})
