"""How much of each worker's work a requester approved, as MTurk's batch file prints it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q

from marketplace.models import Assignment, Requester

SPANS = (None, 30, 7)  # days; None is ever
NEVER = ("0% (0/0)",) * len(SPANS)


def rates(requester: Requester, *, now: datetime) -> dict[int, tuple[str, ...]]:
    """Return {worker's key: (lifetime, last 30 days, last 7 days)}, each like `92% (109/119)`. One query."""
    counts: dict[str, Count] = {
        f"{status}_{days}": Count("pk", filter=_decided(status, days, now))
        for days in SPANS
        for status in ("approved", "rejected")
    }
    rows = Assignment.objects.filter(hit__requester=requester).order_by().values("worker").annotate(**counts)
    return {int(row["worker"]): tuple(_rate(row, days) for days in SPANS) for row in rows}


def _decided(status: str, days: int | None, now: datetime) -> Q:
    decided = Q(status=status.capitalize())
    if days is None:
        return decided
    return decided & Q((f"{status}_at__gte", now - timedelta(days=days)))


def _rate(row: Mapping[str, Any], days: int | None) -> str:
    approved = row[f"approved_{days}"]
    decided = approved + row[f"rejected_{days}"]
    percent = (200 * approved + decided) // (2 * decided) if decided else 0
    return f"{percent}% ({approved}/{decided})"
