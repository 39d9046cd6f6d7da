"""Planned faults: the next calls, or messages, go wrong as MTurk's sometimes did. Closed with the control API."""

from marketplace.models import Fault, Requester

LONGEST_SECONDS = 300
MOST_CALLS = 1_000_000


def plan(
    *, operation: str, requester: Requester | None, kind: Fault.Kind, times: int, seconds: float
) -> Fault:
    """Let the next `times` calls go wrong; `seconds` is how long a lag or a time-out lasts."""
    Fault.objects.filter(remaining=0).delete()
    return Fault.objects.create(
        operation=operation, requester=requester, kind=kind, remaining=times, seconds=seconds
    )
