"""Mails to researchers about what can't wait until they look: one mechanism, never twice about the same.

Every sweep asks the database what there is to warn of. What a mail is about is claimed before it is sent, so of two
processes one sends it; what could not be sent is free again and sent by a later sweep.
"""

import logging
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from surveys.models import Alarm, Appeal, Batch
from surveys.review import appeal_codes
from surveys.review.progress import LONGEST_WARNING, undecided, urgent, warning_time
from surveys.teams import sees

logger = logging.getLogger(__name__)

STANDING_FOR = timedelta(minutes=15)  # an error that is gone by then is none to be woken for
APPEAL_WAITS = timedelta(days=1)
CLAIMED_FOR = timedelta(minutes=10)
NOT_SENT = (
    OSError,
    ValueError,
)  # smtplib's errors are of the first kind, an address that is none is of the second
Kind = Alarm.Kind


@dataclass(frozen=True, slots=True)
class Notice:
    """One mail that may be due: about what of a batch, seen for how long at least, and what it says."""

    kind: Alarm.Kind
    batch: Batch
    about: tuple[str, ...]
    subject: str
    facts: dict[str, Any]
    seen_for: timedelta = timedelta(0)


def send_due() -> int:
    """Send what is due, one mail per batch and kind, and return how many were sent."""
    Alarm.objects.filter(kind=Kind.ERROR, batch__error="").delete()
    now = timezone.now()
    found = (*_deadlines(now), *_standing_errors(), *_old_appeals(now))
    return sum(_sent(notice) for notice in found)


def recipients(batch: Batch) -> list[str]:
    """Return who is warned of a batch: whoever made it and still sees it, and those named in the settings."""
    maker = batch.created_by
    is_there = maker and maker.is_active and maker.email and sees(maker, batch.survey)
    own = [maker.email] if maker and is_there else []
    return list(dict.fromkeys([*own, *settings.ALARM_RECIPIENTS]))


def _deadlines(now: datetime) -> Iterator[Notice]:
    """Warn once per warning time: of what is near its deadline, and of what will be before the next mail could be."""
    keys = undecided().filter(auto_approval_at__lte=now + LONGEST_WARNING).values("hit__questionnaire__batch")
    for batch in Batch.objects.filter(pk__in=keys).select_related("created_by", "survey"):
        ahead = warning_time(batch)
        coming = urgent(batch, now=now + ahead).order_by("auto_approval_at")
        known = _unsent(Kind.DEADLINE, coming.values_list("pk", "auto_approval_at"))
        if known and known[0][1] <= now + ahead:
            yield _deadline_notice(batch, known)


def _deadline_notice(batch: Batch, known: list[tuple[int, datetime]]) -> Notice:
    n = len(known)
    facts = {
        "n": n,
        "first": known[0][1],
        "last": known[-1][1],
        "path": reverse("assignments", args=[batch.pk]) + "?status=Submitted",
    }
    subject = f"{n} undecided assignment{'s' if n > 1 else ''} near the deadline"
    return Notice(Kind.DEADLINE, batch, tuple(str(pk) for pk, _ in known), subject, facts)


def _standing_errors() -> Iterator[Notice]:
    for batch in Batch.objects.exclude(error="").select_related("created_by", "survey"):
        about = f"{batch.pk}:{sha256(batch.error.encode()).hexdigest()[:16]}"
        facts = {"path": batch.get_absolute_url()}
        yield Notice(Kind.ERROR, batch, (about,), "The batch stands still", facts, seen_for=STANDING_FOR)


def _old_appeals(now: datetime) -> Iterator[Notice]:
    batch = "assignment__hit__questionnaire__batch"
    old = appeal_codes.waiting().filter(made_at__lte=now - APPEAL_WAITS, **{f"{batch}__is_simulated": False})
    rows = old.select_related(f"{batch}__created_by", f"{batch}__survey").order_by(batch, "made_at")
    by_batch = attrgetter("assignment.hit.questionnaire.batch")
    for found, appeals in groupby(rows, key=by_batch):
        yield from _appeal_notice(found, list(appeals))


def _appeal_notice(batch: Batch, appeals: list[Appeal]) -> Iterator[Notice]:
    known = _unsent(Kind.APPEAL, ((appeal.pk, appeal.made_at) for appeal in appeals))
    if known:
        n = len(known)
        facts = {"n": n, "first": known[0][1], "path": reverse("open_appeals")}
        subject = f"{n} appeal{'s' if n > 1 else ''} without an answer"
        yield Notice(Kind.APPEAL, batch, tuple(str(pk) for pk, _ in known), subject, facts)


def _unsent(kind: str, rows: Iterable[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Return of (key, time) those nobody was mailed about."""
    all_rows = list(rows)
    about = [str(pk) for pk, _ in all_rows]
    sent = Alarm.objects.filter(kind=kind, about__in=about, sent_at__isnull=False)
    known = set(sent.values_list("about", flat=True))
    return [row for row in all_rows if str(row[0]) not in known]


def _sent(notice: Notice) -> bool:
    to = recipients(notice.batch)
    claim = _claim(notice) if to else None
    if claim is None:
        return False
    try:
        _message(notice, to=to).send()
    except NOT_SENT as error:
        Alarm.objects.filter(claim=claim).update(claim=None, claimed_at=None)
        logger.warning(
            "No mail about batch %s, another try follows: %s", notice.batch.pk, type(error).__name__
        )
        return False
    Alarm.objects.filter(claim=claim).update(sent_at=timezone.now())
    return True


def _claim(notice: Notice) -> uuid.UUID | None:
    """Take what a mail is about, all of it or nothing; None where another process has taken some of it."""
    rows = [Alarm(kind=notice.kind, about=about, batch=notice.batch) for about in notice.about]
    Alarm.objects.bulk_create(rows, ignore_conflicts=True)
    now, claim = timezone.now(), uuid.uuid4()
    of_kind = Alarm.objects.filter(kind=notice.kind, about__in=notice.about, sent_at=None)
    is_free = Q(claimed_at=None) | Q(claimed_at__lt=now - CLAIMED_FOR)
    free = of_kind.filter(is_free, seen_at__lte=now - notice.seen_for)
    n_claimed = free.update(claim=claim, claimed_at=now)
    if n_claimed == len(notice.about):
        return claim
    Alarm.objects.filter(claim=claim).update(claim=None, claimed_at=None)
    return None


def _message(notice: Notice, *, to: list[str]) -> EmailMessage:
    name = " ".join(notice.batch.name.split())
    facts = {
        **notice.facts,
        "batch": name,
        "survey": " ".join(notice.batch.survey.name.split()),
        "address": settings.APP_URL + notice.facts["path"],
    }
    body = render_to_string(f"operations/alarms/{notice.kind}.txt", facts)
    return EmailMessage(f"[Assent] {name}: {notice.subject}", body, to=to)
