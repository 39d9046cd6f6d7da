"""Patience with an end, and a progress bar."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

POLL_SECONDS = 0.2
BAR_WIDTH = 28


class Stalled(Exception):
    """The rehearsal does not get on; the message says what it waits for."""


@dataclass(slots=True)
class Patience:
    """Time until `timeout` seconds from now. `watch` raises if a process that must run has ended."""

    timeout: float
    watch: Callable[[], None]
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def check(self, what: Callable[[], str]) -> None:
        """Raise Stalled with what is being waited for once the time is over."""
        self.watch()
        if self.seconds > self.timeout:
            raise Stalled(f"Not finished after {self.timeout:.0f} s. Waiting: {what()}")

    def wait(self, count: Callable[[], int], *, total: int, bar: "Bar", what: Callable[[], str]) -> None:
        """Return when `count` has reached `total`."""
        while (done := count()) < total:
            bar.show(done, of=total)
            self.check(what)
            time.sleep(POLL_SECONDS)
        bar.show(total, of=total)


class Stopwatch:
    """Seconds spent, by what they were spent on."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] += time.monotonic() - started


class Bar:
    """A progress bar on a terminal; elsewhere one line when it is full."""

    def __init__(self, stream: TextIO, label: str) -> None:
        self._stream = stream
        self._label = label
        self._is_live = stream.isatty()
        self._is_full = False

    def show(self, done: int, *, of: int) -> None:
        is_full = done >= of
        if self._is_full or not (self._is_live or is_full):
            return
        self._is_full = is_full
        filled = BAR_WIDTH * done // of if of else BAR_WIDTH
        line = f"{self._label:<24} {'█' * filled}{'░' * (BAR_WIDTH - filled)} {done} of {of}"
        start, end = ("\r", "\n" if is_full else "") if self._is_live else ("", "\n")
        self._stream.write(f"{start}{line}{end}")
        self._stream.flush()
