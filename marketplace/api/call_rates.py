"""How fast a requester may call, where the operator has set a limit."""

from datetime import datetime, timedelta

from django.conf import settings

from marketplace.models import CallRate, Requester

TRIES = 5


def is_within(requester: Requester, *, operation: str, now: datetime) -> bool:
    """Count a call and tell whether it may go on; at rest, one second's calls may come at once.

    Every call costs 1 / limit seconds, and a requester may be ahead of the marketplace's time by one second
    less the price of a call (generic cell rate algorithm, ITU-T I.371).
    """
    limit = settings.MARKETPLACE_RATE_LIMITS.get(operation, settings.MARKETPLACE_RATE_LIMITS.get("*"))
    if limit is None:
        return True
    price = timedelta(seconds=1 / limit)
    latest = now + max(timedelta(seconds=1) - price, timedelta(0))
    mine = CallRate.objects.filter(requester=requester, operation=operation)
    mine.get_or_create(defaults={"requester": requester, "operation": operation, "free_at": now})
    for _ in range(TRIES):
        free_at = mine.values_list("free_at", flat=True).get()
        if free_at > latest:
            return False
        if mine.filter(free_at=free_at).update(free_at=max(free_at, now) + price):
            return True
    return False
