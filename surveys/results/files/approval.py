"""How much of a worker's work was approved, as MTurk's batch file prints it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from annotators.models import Assignment


@dataclass(frozen=True, slots=True)
class Rate:
    """`approved` of `decided` assignments."""

    approved: int = 0
    decided: int = 0

    def __str__(self) -> str:
        """Return `92% (109/119)`, percent rounded to the nearest; `0% (0/0)` where nothing is decided."""
        percent = (200 * self.approved + self.decided) // (2 * self.decided) if self.decided else 0
        return f"{percent}% ({self.approved}/{self.decided})"


@dataclass(frozen=True, slots=True)
class ApprovalRates:
    lifetime: Rate = field(default_factory=Rate)
    last_30_days: Rate = field(default_factory=Rate)
    last_7_days: Rate = field(default_factory=Rate)


def approval_rates(endpoint: str) -> dict[str, ApprovalRates]:
    """Return every worker's rates with us on one endpoint, as of now, in one query."""
    now = timezone.now()
    counts = {
        name: condition
        for days, since in ((0, None), (30, now - timedelta(days=30)), (7, now - timedelta(days=7)))
        for name, condition in (
            (f"approved_{days}", _decided("Approved", "approved_at", since)),
            (f"rejected_{days}", _decided("Rejected", "rejected_at", since)),
        )
    }
    rows = (
        Assignment.objects.filter(worker__source=endpoint)
        .order_by()
        .values("worker__worker_id")
        .annotate(**{name: Count("pk", filter=condition) for name, condition in counts.items()})
    )
    return {
        row["worker__worker_id"]: ApprovalRates(*(_rate(row, days) for days in (0, 30, 7))) for row in rows
    }


def _decided(status: str, time_field: str, since: object) -> Q:
    condition = Q(status=status)
    return condition & Q(**{f"{time_field}__gte": since}) if since else condition


def _rate(row: Mapping[str, Any], days: int) -> Rate:
    approved = row[f"approved_{days}"]
    return Rate(approved, approved + row[f"rejected_{days}"])
