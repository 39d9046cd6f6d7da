"""What the simulated annotators' requests were answered, and how long that took."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import urllib3

# A connection that is kept may be closed by the server in the moment it is used again; browsers then repeat.
ALONE = {"Connection": "close"}
TIMEOUT = urllib3.Timeout(connect=20, read=120)


@dataclass
class Meter:
    """Everybody's requests together. `errors` are sentences: an answer nobody had to expect, or none."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    pool: urllib3.PoolManager = field(
        default_factory=lambda: urllib3.PoolManager(num_pools=4, maxsize=128, timeout=TIMEOUT)
    )

    def note(self, status: int, seconds: float) -> None:
        with self.lock:
            self.statuses[status] += 1
            self.seconds.append(seconds)

    def complain(self, sentence: str) -> None:
        with self.lock:
            self.errors.append(sentence)

    def percentile(self, share: float) -> float:
        """Return the time in seconds that this share of the requests stayed below."""
        ordered = sorted(self.seconds)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0


class Line:
    """One annotator's connection, in the place of their browser's pool; every 4xx must have been allowed."""

    def __init__(self, meter: Meter, name: str) -> None:
        self.meter = meter
        self.name = name
        self.allowed: frozenset[int] = frozenset()

    @contextmanager
    def allowing(self, *statuses: int) -> Iterator[None]:
        """Expect these refusals, too, in what follows."""
        before, self.allowed = self.allowed, self.allowed | set(statuses)
        try:
            yield
        finally:
            self.allowed = before

    def request(self, method: str, url: str, **options: Any) -> urllib3.BaseHTTPResponse:
        started = time.perf_counter()
        headers = options.pop("headers", {}) | ALONE
        response = self.meter.pool.request(method, url, headers=headers, **options)
        self.meter.note(response.status, time.perf_counter() - started)
        if response.status >= 400 and response.status not in self.allowed:
            said = response.data[-1500:].decode(errors="replace")
            self.meter.complain(f"{self.name}: {method} {urlsplit(url).path} {response.status}: {said}")
        return response
