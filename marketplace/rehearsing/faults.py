"""Planned faults: the next calls, or messages, go wrong as MTurk's sometimes did. Closed with the control API."""

import time

from django.conf import settings
from django.db.models import F, Q

from marketplace.models import Fault, Requester

LONGEST_SECONDS = 300
MOST_CALLS = 1_000_000
OF_MESSAGES = (Fault.Kind.DUPLICATE, Fault.Kind.REORDER)


def take(requester: Requester, *, operation: str) -> Fault | None:
    """Use up one planned fault for this call, the oldest plan first; None when none is planned."""
    return _take(requester, ~Q(kind__in=OF_MESSAGES), Q(operation__in=["", operation]))


def take_for_message(requester: Requester) -> Fault | None:
    """Use up one planned fault for this message of notifications."""
    return _take(requester, Q(kind__in=OF_MESSAGES))


def _take(requester: Requester, *meant: Q) -> Fault | None:
    if not settings.MARKETPLACE_CONTROL_TOKEN:
        return None
    theirs = Fault.objects.filter(Q(requester=None) | Q(requester=requester), *meant)
    for fault in theirs.filter(remaining__gt=0).order_by("pk"):
        left = Fault.objects.filter(pk=fault.pk, remaining__gt=0)
        if left.update(remaining=F("remaining") - 1):
            return fault
    return None


def plan(
    *, operation: str, requester: Requester | None, kind: Fault.Kind, times: int, seconds: float
) -> Fault:
    """Let the next `times` calls go wrong; `seconds` is how long a lag or a time-out lasts."""
    Fault.objects.filter(remaining=0).delete()
    return Fault.objects.create(
        operation=operation, requester=requester, kind=kind, remaining=times, seconds=seconds
    )


def wait(fault: Fault) -> None:
    """Keep the caller waiting for as long as was planned."""
    time.sleep(min(fault.seconds, LONGEST_SECONDS))
