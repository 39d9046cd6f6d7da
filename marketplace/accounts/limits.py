"""How often a sign-in may fail before one has to wait: per worker id, and per address of the visitor."""

from datetime import datetime, timedelta

from marketplace.models import FailedSignIn

SPAN = timedelta(minutes=15)
MOST_PER_WORKER = 10
MOST_PER_ADDRESS = 50  # a laboratory may sit behind one address


def is_blocked(*, worker_id: str, address: str, now: datetime) -> bool:
    """Tell whether the worker id or the address has failed too often lately. `now` is real time."""
    lately = FailedSignIn.objects.filter(failed_at__gt=now - SPAN)
    by_worker = lately.filter(worker_id=worker_id).count() >= MOST_PER_WORKER
    return by_worker or lately.filter(address=address).count() >= MOST_PER_ADDRESS


def note_failure(*, worker_id: str, address: str, now: datetime) -> None:
    """Count a failure, and forget those that no longer count."""
    FailedSignIn.objects.filter(failed_at__lte=now - SPAN).delete()
    FailedSignIn.objects.create(worker_id=worker_id[:64], address=address[:64], failed_at=now)


def forget(*, worker_id: str) -> None:
    """Clear a worker's failures after a sign-in that worked; those of the address go on counting."""
    FailedSignIn.objects.filter(worker_id=worker_id).update(worker_id="")
