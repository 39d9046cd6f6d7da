"""Counting wrong guesses. The counts lie in the cache: Redis where there is one, else each process has its own."""

from dataclasses import dataclass
from hashlib import sha256

from django.core.cache import cache


@dataclass(frozen=True, slots=True)
class Throttle:
    """At most `limit` wrong guesses for a key within `seconds` of the first one."""

    name: str
    limit: int
    seconds: int

    def is_closed(self, key: str = "") -> bool:
        """Tell whether right guesses are refused too by now."""
        return int(cache.get(self._entry(key), 0)) >= self.limit

    def count(self, key: str = "") -> None:
        """Count a wrong guess."""
        entry = self._entry(key)
        if not cache.add(entry, 1, timeout=self.seconds):
            try:
                cache.incr(entry)
            except ValueError:  # it ran out in between
                cache.add(entry, 1, timeout=self.seconds)

    def _entry(self, key: str) -> str:
        return f"throttle:{self.name}:{sha256(key.encode(errors='replace')).hexdigest()}"
