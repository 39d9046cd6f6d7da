"""The marketplace's time: real time plus an offset in the database, so that a rehearsal can pass days."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self

from django.db.models import F
from django.utils import timezone

from marketplace.models import ClockOffset
from statements import ByHand


def _first(column: str, rows: str) -> str:
    """Return SQL for the least value of a column that a partial index has in order.

    For a plain MIN, PostgreSQL that has not counted the rows yet reads all of the index; without one, SQLite's
    driver sees the type of the column, and makes a datetime of the text that is stored.
    """
    return f"(SELECT MIN({column}) FROM (SELECT {column} FROM {rows} ORDER BY {column} LIMIT 1) AS first)"  # noqa: S608


# The clock's offset and, by the ends of four partial indexes, the earliest moment of each kind at which something is
# due. Every request asks, some together with more, so it is written out: Django takes longer to compile it than it
# takes. The conditions are worded as those of the indexes are, without which SQLite would not use them.
SELECTED = [
    "(SELECT seconds FROM marketplace_clockoffset WHERE id = 1)",
    _first("deadline", "marketplace_assignment WHERE status = 'Open'"),
    _first("auto_approval_at", "marketplace_assignment WHERE status = 'Submitted'"),
    _first("expires_at", "marketplace_hit WHERE disposed_at IS NULL AND NOT is_expired"),
    _first("expires_at", "marketplace_hit WHERE disposed_at IS NULL"),
]
MOMENTS, N_MOMENTS = ", ".join(SELECTED), len(SELECTED)
TIME_AND_NEXT = ByHand(f"SELECT {MOMENTS}", width=N_MOMENTS)


@dataclass(frozen=True, slots=True)
class Moments:
    """What MOMENTS selects: how far the clock is ahead, and the moments as the database hands them out."""

    ahead: timedelta
    next_due: tuple[Any, ...]
    oldest_end: Any

    @classmethod
    def of(cls, row: Sequence[Any]) -> Self:
        seconds, *next_due, oldest_end = row
        return cls(timedelta(seconds=seconds or 0.0), tuple(next_due), oldest_end)


def moments() -> Moments:
    """Ask for the clock, and for when something is due next. One query."""
    return Moments.of(TIME_AND_NEXT.row())


def now() -> datetime:
    """Return the marketplace's time (aware, UTC). One query."""
    offset = ClockOffset.objects.values_list("seconds", flat=True).first() or 0.0
    return timezone.now() + timedelta(seconds=offset)


def advance(*, seconds: float) -> datetime:
    """Move the clock forward and return the new time. Raises ValueError on a step back."""
    if seconds < 0:
        raise ValueError("The clock only moves forward.")
    ClockOffset.objects.get_or_create(pk=1)
    ClockOffset.objects.update(seconds=F("seconds") + seconds)
    return now()
