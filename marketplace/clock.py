"""The marketplace's time: real time plus an offset in the database, so that a rehearsal can pass days."""

from datetime import datetime, timedelta

from django.db.models import F
from django.utils import timezone

from marketplace.models import ClockOffset


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
