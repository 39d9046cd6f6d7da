"""Telling the webhooks of a study that a batch is done, or that work waits for a person.

Every sweep asks the database what there is to tell, so nothing that happens has to think of it. Each event of each
webhook is one row, told until it has arrived: at least once, and under one id. It is sent outside of transactions, to
addresses that pictures may be fetched from (`studies/importing/fetching`), and no redirect is followed.

Webhooks are told beside each other, each in a thread, which knows no database: who is slow delays nobody, is waited
for SECONDS, and is left alone for the rest of a run.
"""

import hashlib
import hmac
import json
import logging
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import F, Max, OuterRef, Subquery
from django.utils import timezone

from surveys.models import Batch, Decision, Delivery, Survey, Webhook, is_held
from surveys.studies.importing.fetching import ask, check_address
from surveys.studies.importing.pictures import PictureError

MOST_ATTEMPTS = 8
FIRST_DELAY = timedelta(seconds=30)  # then 2, 8, 32 minutes, 2 hours, 8 hours, a day and a half
LEASE = timedelta(minutes=2)  # what a crash leaves behind is tried again after this long
WAITS_EVERY = timedelta(hours=1)  # of one batch: work that comes in all day is no message each
AT_ONCE = 20  # webhooks
MOST_ROUNDS = 5  # in one run; the next sweep goes on
SECONDS = 10.0  # for an answer
SLOW = "It does not answer within {seconds:.0f} seconds."
BEFORE = "It was so before this webhook was set up."
WHAT = "A webhook's address"
Event = Delivery.Event
logger = logging.getLogger(__name__)
# {a webhook: who tells it}. Where a name server is slow that takes longer than SECONDS; there is never a second one.
_speaking: dict[int, Thread] = {}


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
    n, failed = 0, set[int]()
    for _ in range(MOST_ROUNDS):
        if not (claimed := [one for one in _next(failed) if _claim(one)]):
            break
        for delivery, error in _tell(claimed):
            n += _note(delivery, error)
            failed |= {delivery.webhook_id} if error else set()
    return n


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


def _next(failed: set[int]) -> list[Delivery]:
    """Return what is due first of each of some webhooks, of those first that have failed least."""
    silent = failed | {pk for pk, thread in _speaking.items() if thread.is_alive()}
    due = Delivery.objects.filter(due_at__lte=timezone.now()).exclude(webhook__in=silent)
    of_same = due.filter(webhook=OuterRef("webhook")).order_by("attempts", "due_at", "pk").values("pk")[:1]
    firsts = due.filter(pk=Subquery(of_same)).order_by("attempts", "due_at", "pk")
    return list(firsts.select_related("webhook")[:AT_ONCE])


def _claim(delivery: Delivery) -> bool:
    """Take a delivery for this process; False if another has it."""
    mine = Delivery.objects.filter(pk=delivery.pk, due_at=delivery.due_at)
    return mine.update(due_at=timezone.now() + LEASE, attempts=F("attempts") + 1) == 1


def _tell(deliveries: list[Delivery]) -> list[tuple[Delivery, str]]:
    """Send each beside the others; return each with why it did not arrive, "" if it did."""
    errors = dict.fromkeys((one.pk for one in deliveries), SLOW.format(seconds=SECONDS))

    def tell(delivery: Delivery) -> None:
        errors[delivery.pk] = _post(delivery)

    until = time.monotonic() + SECONDS
    for delivery in deliveries:
        thread = _speaking[delivery.webhook_id] = Thread(target=tell, args=(delivery,), daemon=True)
        thread.start()
    for delivery in deliveries:
        _speaking[delivery.webhook_id].join(max(0.0, until - time.monotonic()))
    return [(delivery, errors[delivery.pk]) for delivery in deliveries]


def _note(delivery: Delivery, error: str) -> bool:
    """Write down what became of a delivery; tell whether it arrived."""
    now, attempts = timezone.now(), delivery.attempts + 1
    # Who was slower than LEASE may come too late.
    waiting = Delivery.objects.filter(pk=delivery.pk, arrived_at=None)
    if not error:
        return bool(waiting.update(due_at=None, arrived_at=now, error=""))
    delay = FIRST_DELAY * 4 ** (attempts - 1)
    waiting.update(due_at=None if attempts >= MOST_ATTEMPTS else now + delay, error=error[:300])
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
        address = check_address(parts, what=WHAT)
        until = time.monotonic() + SECONDS
        response = ask("POST", parts, address=address, until=until, body=body, headers=headers)
    except PictureError as error:
        return str(error)
    response.close()
    return "" if 200 <= response.status < 300 else f"{parts.hostname} answers with status {response.status}."
