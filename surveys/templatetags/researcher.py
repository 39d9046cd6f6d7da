"""What researchers' templates ask for."""

from datetime import datetime

from django import template
from django.utils import timezone

from surveys.models import Batch
from surveys.overview import with_counts

LATEST = 20

register = template.Library()


@register.simple_tag
def latest_batches() -> list[Batch]:
    """Return the newest batches with their counts, in one query."""
    return list(with_counts(Batch.objects.select_related("survey"))[:LATEST])


@register.filter
def mod(number: int, by: int) -> int:
    """Return the rest of a division, to go round a list of colours."""
    return number % by


@register.filter
def percent(share: float | None) -> str:
    """Return a share in [0, 1] as "43.9 %"; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f} %"


@register.filter
def score(value: float | None) -> str:
    """Return a score with four digits, as papers print it; a dash where there is none."""
    return "–" if value is None else f"{value:.4f}"


@register.filter
def money(amount: object) -> str:
    """Return dollars and cents."""
    return f"${amount:,.2f}"


@register.filter
def left_until(deadline: datetime | None) -> str:
    """Return how long it is until `deadline` in one or two units, "over" when it has passed."""
    if deadline is None:
        return ""
    minutes = int((deadline - timezone.now()).total_seconds() // 60)
    if minutes < 0:
        return "over"
    days, hours = minutes // 1440, minutes // 60 % 24
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"
