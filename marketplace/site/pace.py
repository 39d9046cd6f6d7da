"""How long HITs of a type take from accepting to submitting, and what that makes an hour, measured on the latest."""

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from django.db.models import F, Subquery

from marketplace.models import Assignment, HITType

LOOKED_AT = 5000  # assignments of all types, the latest: a list is no place to read a year
FEWEST = 5  # below, a median says more about a person than about the work
HOUR = 3600


@dataclass(frozen=True)
class Pace:
    """The median of a type's times, and the reward at that pace."""

    seconds: int
    hourly_cents: int

    @property
    def minutes(self) -> int:
        """Return whole minutes, one at least: nobody plans by seconds."""
        return max(1, round(self.seconds / 60))


# By type's key: until when, in this process, and what. Thousands of rows are read for a median that hardly moves.
KEPT: dict[int, tuple[float, Pace | None]] = {}
SECONDS_KEPT = 60
MOST_KEPT = 10_000


def paces(types: Iterable[HITType]) -> dict[int, Pace]:
    """Return the pace by type's key, for those types that enough assignments were submitted of: of the last minute.

    One query where one of them is not known.
    """
    kinds, now = list(types), time.monotonic()
    unknown = [kind for kind in kinds if KEPT.get(kind.pk, (0.0, None))[0] <= now]
    if unknown:
        _keep(unknown, until=now + SECONDS_KEPT)
    known = {kind.pk: KEPT.get(kind.pk, (0.0, None))[1] for kind in kinds}
    return {pk: pace for pk, pace in known.items() if pace}


def _keep(types: list[HITType], *, until: float) -> None:
    measured = _measured(types)
    if len(KEPT) >= MOST_KEPT:
        KEPT.clear()
    KEPT.update({kind.pk: (until, measured.get(kind.pk)) for kind in types})


def _measured(types: Iterable[HITType]) -> dict[int, Pace]:
    kinds = {kind.pk: kind for kind in types}
    oldest = Assignment.objects.order_by("-pk").values(oldest=F("pk") - LOOKED_AT)[:1]
    rows = Assignment.objects.filter(pk__gt=Subquery(oldest), hit__hit_type__in=kinds)
    times: dict[int, list[float]] = defaultdict(list)
    for pk, accepted_at, submitted_at in rows.values_list("hit__hit_type", "accepted_at", "submitted_at"):
        if submitted_at:
            times[pk].append((submitted_at - accepted_at).total_seconds())
    return {pk: _pace(kinds[pk], median(taken)) for pk, taken in times.items() if len(taken) >= FEWEST}


def _pace(kind: HITType, seconds: float) -> Pace:
    whole = max(1, round(seconds))
    return Pace(whole, hourly_cents=round(kind.reward_cents * HOUR / whole))
