"""Whether everything the app needs answers. Only states leave this module, never an error's text."""

import logging
from collections.abc import Callable, Mapping

from django.db import connection

from surveys.operations.heartbeats import BEAT, WORKER, Pulse, pulse
from surveys.operations.queue import queue_depth

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
