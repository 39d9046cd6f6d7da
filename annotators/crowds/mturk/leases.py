"""The lease to work on one HIT: one task at a time, renewed before every call, soon over when its holder is killed."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from annotators.crowds.mturk.gateway import NotReady
from annotators.models import HIT

LEASE = timedelta(seconds=75)
TOO_FAR = 2 * LEASE  # in the future: written before the clock was set back, by who may be gone for long


class LeaseLost(NotReady):
    """Another task works on this HIT by now. It was noticed before the call, so nothing of that call happened."""


class Lease:
    """What one task holds on a HIT. The time it runs out is also its name: only who wrote it can move it."""

    def __init__(self, hit: HIT, *, until: datetime) -> None:
        self._hit = hit
        self._until = until

    def renew(self) -> None:
        """Hold the HIT for another LEASE from now. Raises LeaseLost if it ran out and another task took it.

        Renewed before each call to the marketplace, it lasts however long the work takes; a single call that is
        repeated until its last time-out may outlast it, and then its holder stops here.
        """
        until = timezone.now() + LEASE
        if not self._mine().update(leased_until=until):
            raise LeaseLost(f"Another task works on HIT {self._hit.hit_id} by now.")
        self._until = until

    def give_back(self) -> None:
        """Let the next task begin at once; nothing happens to a lease that is another's by now."""
        self._mine().update(leased_until=None)

    def _mine(self) -> QuerySet[HIT]:
        return HIT.objects.filter(pk=self._hit.pk, leased_until=self._until)


@contextmanager
def lease(hit: HIT) -> Iterator[Lease | None]:
    """Yield the lease to the one task that may work on this HIT now, None to others. One never given back runs out."""
    now = timezone.now()
    free = Q(leased_until__isnull=True) | Q(leased_until__lt=now) | Q(leased_until__gt=now + TOO_FAR)
    held = Lease(hit, until=now + LEASE)
    if not HIT.objects.filter(free, pk=hit.pk).update(leased_until=now + LEASE):
        yield None
        return
    try:
        yield held
    finally:
        held.give_back()
