"""What a requester sees of submitted work where the operator lets it come late, as it did on MTurk (ParlAI#2957)."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from marketplace.models import HIT, Assignment

Status = Assignment.Status


def is_unseen(assignment: Assignment, *, now: datetime) -> bool:
    """Tell whether the work was submitted too short a time ago."""
    submitted_at = assignment.submitted_at
    is_late = submitted_at is not None and submitted_at > now - _lag()
    return assignment.status == Status.SUBMITTED and is_late and bool(_lag())


def seen(rows: QuerySet[Assignment], *, now: datetime) -> QuerySet[Assignment]:
    """Leave out the work that cannot be seen yet."""
    return rows.exclude(_unseen(now=now)) if _lag() else rows


def as_seen(hits: Iterable[HIT], *, now: datetime) -> list[HIT]:
    """Return the HITs, unseen work counted as still under way. One query more if there is a lag."""
    rows = list(hits)
    if not _lag():
        return rows
    late = (
        Assignment.objects.filter(_unseen(now=now), hit__in=rows)
        .values("hit_id")
        .annotate(number=Count("pk"))
    )
    numbers = {row["hit_id"]: row["number"] for row in late}
    for row in rows:
        row.submitted -= numbers.get(row.pk, 0)
        row.pending += numbers.get(row.pk, 0)
    return rows


def wholly_seen(hits: QuerySet[HIT], *, now: datetime) -> QuerySet[HIT]:
    """Leave out the HITs with work that cannot be seen yet."""
    if not _lag():
        return hits
    return hits.exclude(Exists(Assignment.objects.filter(_unseen(now=now), hit=OuterRef("pk"))))


def _lag() -> timedelta:
    return timedelta(seconds=settings.MARKETPLACE_VISIBILITY_LAG_SECONDS)


def _unseen(*, now: datetime) -> Q:
    return Q(status=Status.SUBMITTED, submitted_at__gt=now - _lag())
