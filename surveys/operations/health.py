"""Whether everything the app needs answers. Only states leave this module, never an error's text.

When a worker last took a task and beat last sent one.

The marks lie in a cache that all processes share, not in the database, so that a stopped database hides nobody.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from amqp.exceptions import ChannelError
from django.conf import settings
from django.core.cache import caches
from django.db import connection

from surveys.operations.task_app import app

WORKER, BEAT = "worker", "beat"
MISSED = 4  # heartbeats that may be missing before somebody counts as dead


@dataclass(frozen=True)
class Pulse:
    """A process's state: "ok", "stale" or "never"; `age` is in seconds, None where nobody knows."""

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
    age = time.time() - seen
    # From before the clock was set back: how old it is, nobody can tell. Another machine's may be ahead a little.
    if age < -settings.HEARTBEAT_SECONDS:
        return Pulse("stale", None)
    return Pulse("ok" if age <= MISSED * settings.HEARTBEAT_SECONDS else "stale", max(0.0, age))


TIMEOUT_SECONDS = 2


def queue_depth() -> int:
    """Return how many tasks wait for a worker. Raises what the broker's client raises where it does not answer."""
    queue = app.conf.task_default_queue
    with app.connection_for_read() as connection:
        options = {"socket_timeout": TIMEOUT_SECONDS, "socket_connect_timeout": TIMEOUT_SECONDS}
        connection.transport_options = {**(connection.transport_options or {}), **options}
        connection.ensure_connection(max_retries=1, timeout=TIMEOUT_SECONDS)
        channel: Any = connection.default_channel
        try:
            return int(channel.queue_declare(queue, passive=True).message_count)
        except ChannelError:  # an empty Redis list does not exist
            return 0


logger = logging.getLogger(__name__)

Check = dict[str, object]


def readiness() -> Mapping[str, Check]:
    """Return the state of database, broker, worker and beat: {"state": ...}, the last two with "age_seconds".

    "ok"; "down" where it does not answer; "stale" or "never" for a process not heard of lately or at all; "unknown"
    where its mark can't be read, and for a worker while beat sends it nothing to take.
    """
    checks = {
        "database": _state("database", _ask_database),
        "broker": _state("broker", queue_depth),
        WORKER: _alive(WORKER),
        BEAT: _alive(BEAT),
    }
    if checks[WORKER]["state"] in {"stale", "never"} and checks[BEAT]["state"] != "ok":
        checks[WORKER]["state"] = "unknown"
    return checks


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _state(name: str, ask: Callable[[], object]) -> Check:
    try:
        ask()
    except Exception as error:
        logger.warning("Not ready: the %s does not answer (%s)", name, type(error).__name__)
        return {"state": "down"}
    return {"state": "ok"}


def _alive(name: str) -> Check:
    try:
        found: Pulse = pulse(name)
    except Exception as error:
        logger.warning("Not ready: the mark of the %s can't be read (%s)", name, type(error).__name__)
        return {"state": "unknown", "age_seconds": None}
    return {"state": found.state, "age_seconds": None if found.age is None else round(found.age, 1)}
