"""Telling the webhooks of a study that a batch is done, or that work waits for a person.

Every sweep asks the database what there is to tell, so nothing that happens has to think of it. Each event of each
webhook is one row, told until it has arrived: at least once, and under one id. It is sent outside of transactions, to
addresses that pictures may be fetched from (`studies/importing/fetching`), and no redirect is followed.
"""

import hashlib
import hmac
import json
import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import F, Max
from django.utils import timezone

from surveys.models import Batch, Decision, Delivery, Survey, Webhook, is_held
from surveys.studies.importing.fetching import ask, check_address
from surveys.studies.importing.pictures import PictureError

MOST_ATTEMPTS = 8
FIRST_DELAY = timedelta(seconds=30)  # then 2, 8, 32 minutes, 2 hours, 8 hours, a day and a half
LEASE = timedelta(minutes=2)  # what a crash leaves behind is tried again after this long
WAITS_EVERY = timedelta(hours=1)  # of one batch: work that comes in all day is no message each
AT_ONCE = 100  # in one run
BEFORE = "It was so before this webhook was set up."
WHAT = "A webhook's address"
Event = Delivery.Event
logger = logging.getLogger(__name__)


def add(survey: Survey, url: str, *, by: Any) -> Webhook:
    """Set a webhook up. Of what has happened before it tells nothing. PictureError if it is no address to call."""
    check_address(urlsplit(url), what=WHAT)
    webhook, _ = Webhook.objects.get_or_create(survey=survey, url=url, defaults={"created_by_id": by.pk})
    for event, batch, about in _happened(survey):
        _write(webhook, event=event, about=about, batch=batch, is_due=False)
    return webhook


def test(webhook: Webhook) -> Delivery:
    """Have a message sent that says nothing but that it came."""
    about = f"{Event.TEST}:{timezone.now().isoformat()}"
    return _write(webhook, event=Event.TEST, about=about, batch=None)


def notice() -> int:
    """Write down what there is to tell and was not told before; return how much."""
    n = 0
    for webhook in Webhook.objects.select_related("survey"):
        known = set(webhook.deliveries.values_list("about", flat=True))
        for event, batch, about in _happened(webhook.survey):
            if about not in known and not _too_soon(webhook, event, batch):
                _write(webhook, event=event, about=about, batch=batch)
                n += 1
    return n


def send_due() -> int:
    """Send what is due, each once by whoever claims it; return how much arrived."""
    due = Delivery.objects.filter(due_at__lte=timezone.now()).order_by("due_at", "pk")[:AT_ONCE]
    return sum(_sent(delivery) for delivery in due.select_related("webhook"))


def signature(secret: str, *, body: bytes, at: int) -> str:
    """Return the header that proves who sent a body, and when (seconds since 1970): old messages can be refused."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signed}"


def _happened(survey: Survey) -> Iterator[tuple[str, Batch, str]]:
    """Yield (event, batch, what it is known by) of all there is to tell of a study."""
    for batch in survey.batches.filter(status=Batch.Status.COMPLETE):
        yield Event.DONE, batch, f"{Event.DONE}:{batch.pk}"
    for batch in survey.batches.filter(status__in=Batch.UNDER_REVIEW):
        held = Decision.objects.filter(is_held("assignment"), assignment__hit__questionnaire__batch=batch)
        if newest := held.aggregate(newest=Max("pk"))["newest"]:
            yield Event.WAITS, batch, f"{Event.WAITS}:{batch.pk}:{newest}"


def _too_soon(webhook: Webhook, event: str, batch: Batch) -> bool:
    """Tell whether a message that work waits was written a moment ago."""
    since = timezone.now() - WAITS_EVERY
    earlier = webhook.deliveries.filter(
        event=event, about__startswith=f"{event}:{batch.pk}:", created_at__gt=since
    )
    return event == Event.WAITS and earlier.exists()


def _write(webhook: Webhook, *, event: str, about: str, batch: Batch | None, is_due: bool = True) -> Delivery:
    now = timezone.now()
    values = {
        "event": event,
        "body": json.dumps(_body(webhook, event, batch, at=now)),
        "due_at": now if is_due else None,
        "error": "" if is_due else BEFORE,
    }
    return Delivery.objects.get_or_create(webhook=webhook, about=about, defaults=values)[0]


def _body(webhook: Webhook, event: str, batch: Batch | None, *, at: datetime) -> dict[str, Any]:
    """Return what is told: nothing of any person."""
    body: dict[str, Any] = {"event": event, "at": at.isoformat(), "study": webhook.survey.slug, "batch": None}
    if batch:
        url = f"{settings.APP_URL}{batch.get_absolute_url()}"
        body["batch"] = {"id": batch.pk, "name": batch.name, "status": batch.status, "url": url}
    return body


def _sent(delivery: Delivery) -> bool:
    now = timezone.now()
    mine = Delivery.objects.filter(pk=delivery.pk, due_at=delivery.due_at)
    if not mine.update(due_at=now + LEASE, attempts=F("attempts") + 1):
        return False  # another process has it
    attempts = delivery.attempts + 1
    error = _post(delivery)
    done = Delivery.objects.filter(
        pk=delivery.pk, arrived_at=None
    )  # who was slower than LEASE may come too late
    if not error:
        return bool(done.update(due_at=None, arrived_at=timezone.now(), error=""))
    delay = FIRST_DELAY * 4 ** (attempts - 1)
    done.update(due_at=None if attempts >= MOST_ATTEMPTS else now + delay, error=error[:300])
    logger.info("Delivery %d did not arrive: %s", delivery.pk, error)
    return False


def _post(delivery: Delivery) -> str:
    """Return why it did not arrive, "" if it did."""
    body, at = delivery.body.encode(), int(timezone.now().timestamp())
    headers = {
        "Content-Type": "application/json",
        "Assent-Event": delivery.event,
        "Assent-Delivery": str(delivery.pk),
        "Assent-Signature": signature(delivery.webhook.secret, body=body, at=at),
    }
    parts = urlsplit(delivery.webhook.url)
    try:
        response = ask("POST", parts, address=check_address(parts, what=WHAT), body=body, headers=headers)
    except PictureError as error:
        return str(error)
    response.close()
    return "" if 200 <= response.status < 300 else f"{parts.hostname} answers with status {response.status}."
