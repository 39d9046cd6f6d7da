"""The lease to work on one HIT, or to compare the books: one task at a time, renewed before every call.

It is soon over when its holder is killed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from typing import Generic, TypeVar

from django.db.models import Q, QuerySet
from django.utils import timezone

from annotators.crowds.mturk.gateway import NotReady
from annotators.models import HIT, Hold
from statements import Change, Hole, Moment

Leased = TypeVar("Leased", HIT, Hold)
LEASE = timedelta(seconds=75)
TOO_FAR = 2 * LEASE  # in the future: written before the clock was set back, by who may be gone for long


class LeaseLost(NotReady):
    """Another task has taken this over by now. It was noticed before the call, so nothing of that call happened."""


class Lease(Generic[Leased]):
    """What one task holds on a row. The time it runs out is also its name: only who wrote it can move it."""

    def __init__(self, row: Leased, *, until: datetime) -> None:
        self._row: Leased = row
        self._until = until

    def renew(self) -> None:
        """Hold the row for another LEASE from now. Raises LeaseLost if it ran out and another task took it.

        Renewed before each call to the marketplace, it lasts however long the work takes; a single call that is
        repeated until its last time-out may outlast it, and then its holder stops here.
        """
        until = timezone.now() + LEASE
        if not _moved(type(self._row))(pk=self._row.pk, held=self._until, until=until):
            name = self._row._meta.verbose_name
            raise LeaseLost(f"Another task works on {name} {self._row} by now.")
        self._until = until

    def give_back(self) -> None:
        """Let the next task begin at once; nothing happens to a lease that is another's by now."""
        _moved(type(self._row))(pk=self._row.pk, held=self._until, until=None)

    def mine(self) -> QuerySet[Leased]:
        """Return the row while it is held: what is written by this query is not written once another task has it."""
        return type(self._row).objects.filter(pk=self._row.pk, leased_until=self._until)


@contextmanager
def lease(row: Leased) -> Iterator[Lease[Leased] | None]:
    """Yield the lease to the one task that may work on this row now, None to others. One never given back runs out."""
    now = timezone.now()
    until = now + LEASE
    held = Lease(row, until=until)
    if not _taken(type(row))(pk=row.pk, now=now, until=until):
        yield None
        return
    try:
        yield held
    finally:
        held.give_back()


@cache
def _moved(model: type[Leased]) -> Change:
    return _change(model, Q(leased_until=Moment("held")))


@cache
def _taken(model: type[Leased]) -> Change:
    now = Moment("now")
    return _change(model, Q(leased_until=None) | Q(leased_until__lt=now) | Q(leased_until__gt=now + TOO_FAR))


def _change(model: type[Leased], which: Q) -> Change:
    until = Hole("until", model._meta.get_field("leased_until"))
    return Change(lambda: model.objects.filter(which, pk=Hole("pk", model._meta.pk)), leased_until=until)
