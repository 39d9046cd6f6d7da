"""What a receiver reads: MTurk's document of events, wrapped as a queue or a topic would wrap it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from marketplace import ids
from marketplace.models import Event, NotificationSetting, Requester


@dataclass(frozen=True)
class Message:
    """One HTTP POST, or one line of a file."""

    body: str
    headers: dict[str, str] = field(default_factory=dict)


def message(rows: Sequence[Event], *, now: datetime) -> Message:
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
