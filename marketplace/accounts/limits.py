"""How often: a requester's calls, where the operator has set a limit, and sign-ins that fail.

Two rules, because they forgive differently: calls are evened out over every second, and cost one row an operation;
failures all count for a quarter of an hour, unless the worker gets in.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.http import HttpRequest

from marketplace.models import CallRate, FailedSignIn, Requester

SPAN = timedelta(minutes=15)
MOST_PER_WORKER = 10
MOST_PER_ADDRESS = 50  # a laboratory may sit behind one address
TRIES = 5


def may_call(requester: Requester, *, operation: str, now: datetime) -> bool:
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


def address_of(request: HttpRequest) -> str:
    """Return the visitor's address: behind a trusted proxy the one that proxy has seen, "" where it does not tell."""
    if settings.SECURE_PROXY_SSL_HEADER:
        return request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    return str(request.META.get("REMOTE_ADDR", ""))


def is_blocked(*, worker_id: str, address: str, now: datetime) -> bool:
    """Tell whether sign-ins of the worker id, or from the address, failed too often lately. `now` is real time.

    An address that is not known, "", is nobody's: it holds nobody up.
    """
    lately = FailedSignIn.objects.filter(failed_at__gt=now - SPAN)
    by_worker = lately.filter(worker_id=worker_id).count() >= MOST_PER_WORKER
    by_address = address != "" and lately.filter(address=address).count() >= MOST_PER_ADDRESS
    return by_worker or by_address


def note_failure(*, worker_id: str, address: str, now: datetime) -> None:
    """Count a failed sign-in, and forget those that no longer count."""
    FailedSignIn.objects.filter(failed_at__lte=now - SPAN).delete()
    FailedSignIn.objects.create(worker_id=worker_id[:64], address=address[:64], failed_at=now)


def forget(*, worker_id: str) -> None:
    """Clear a worker's failures after a sign-in that worked; those of the address go on counting."""
    FailedSignIn.objects.filter(worker_id=worker_id).update(worker_id="")
