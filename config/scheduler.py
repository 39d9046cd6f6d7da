"""Beat's memory of when it last sent what: Celery's own, and none that would keep it from sending.

Celery takes a `last_run_at` in the future as it is: once a clock that was ahead is put right, nothing would be due for
as long as it was ahead. And a schedule file of a full disk or a crash would keep beat from starting.
Tested by tests/config/test_scheduler.py.
"""

import logging
from contextlib import suppress
from typing import Any

from celery.beat import PersistentScheduler
from celery.utils.time import maybe_make_aware

logger = logging.getLogger(__name__)


class SteadyScheduler(PersistentScheduler):
    """Sends what is due, whatever the clock did before and the schedule file holds."""

    def setup_schedule(self) -> None:
        try:
            super().setup_schedule()
        except Exception as error:
            logger.warning("The schedule file can't be read (%s); a new one begins", type(error).__name__)
            self._forget()
            super().setup_schedule()

    def tick(self, *args: Any, **kwargs: Any) -> float:
        self._put_right()
        seconds: float = super().tick(*args, **kwargs)
        return seconds

    def adjust(self, n: float, drift: float = 0.0) -> float:
        """Return the seconds to wait as they are: Celery wakes 10 ms early, and asks on and on until it is time."""
        return n

    def _put_right(self) -> None:
        """Have entries that were sent in the future count from now on."""
        ahead = self.ahead()
        if not ahead:
            return
        logger.warning("The clock was set back; these count from now on: %s", [entry.name for entry in ahead])
        for entry in ahead:
            entry.last_run_at = entry.default_now()
        self._heap = None  # made anew by the next tick

    def ahead(self) -> list[Any]:
        """Return the entries that were sent in the future."""
        now = maybe_make_aware(self.app.now())
        entries: list[Any] = list(self.schedule.values())  # each has a time from when it was made
        return [entry for entry in entries if maybe_make_aware(entry.last_run_at) > now]

    def _forget(self: Any) -> None:
        if self._store is not None:
            with suppress(Exception):  # it is what can't be read
                self._store.close()
        self._remove_db()
