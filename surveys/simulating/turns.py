"""Whose turn it is to go on with a simulation."""

from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from surveys.models import Simulation

LEASE = timedelta(minutes=2)


def due() -> QuerySet[Simulation]:
    """Return the simulations that nobody is at and that have not ended."""
    now = timezone.now()
    return Simulation.objects.filter(Q(leased_until=None) | Q(leased_until__lt=now), ended_at=None)


def lease(batch_pk: int, *, turn: int) -> Simulation | None:
    """Take a turn. None if somebody else has taken it."""
    its_turn = Simulation.objects.filter(pk=batch_pk, turn=turn, ended_at=None)
    if not its_turn.update(turn=turn + 1, leased_until=timezone.now() + LEASE):
        return None
    return Simulation.objects.select_related("batch__survey").get(pk=batch_pk)
