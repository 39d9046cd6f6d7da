"""When a worker last took a task and beat last sent one.

The marks lie in a cache that all processes share, not in the database, so that a stopped database hides nobody.
"""

import time
from dataclasses import dataclass

from django.conf import settings
from django.core.cache import caches

WORKER, BEAT = "worker", "beat"
MISSED = 4  # heartbeats that may be missing before somebody counts as dead


@dataclass(frozen=True)
class Pulse:
    """A process's state: "ok", "stale" or "never"; `age` is in seconds, None where it never was seen."""

    state: str
    age: float | None


def mark(name: str) -> None:
    """Write down that `name` (WORKER or BEAT) is alive now."""
    caches["heartbeats"].set(name, time.time(), timeout=None)


def pulse(name: str) -> Pulse:
    """Return how `name` is. Raises what the cache raises where it can't be asked."""
    seen = caches["heartbeats"].get(name)
    if seen is None:
        return Pulse("never", None)
    age = max(0.0, time.time() - seen)
    return Pulse("ok" if age <= MISSED * settings.HEARTBEAT_SECONDS else "stale", age)
