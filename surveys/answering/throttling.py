"""Counting wrong guesses. The counts lie in the cache: Redis where there is one, else each process has its own.

A Redis that was flushed has forgotten them, and counting begins anew. While it does not answer, nobody could count:
then doors are closed, and say that it is no fault of whoever stands before them.
"""

import logging
from dataclasses import dataclass
from hashlib import sha256

from django.core.cache import cache

logger = logging.getLogger(__name__)


def _cache_errors() -> type[Exception]:
    """Return what the cache raises when it doesn't answer: asked for then, as every command imports this module."""
    from redis.exceptions import RedisError

    return RedisError


WAIT = 60  # seconds after which it is worth trying again where nobody can count


class NotCounting(Exception):
    """The cache does not answer: nobody may come in who would have to be counted."""


@dataclass(frozen=True, slots=True)
class Throttle:
    """At most `limit` wrong guesses for a key within `seconds` of the first one."""

    name: str
    limit: int
    seconds: int

    def is_closed(self, key: str = "") -> bool:
        """Tell whether right guesses are refused too by now. Raises NotCounting where nobody can tell."""
        try:
            return int(cache.get(self._entry(key), 0)) >= self.limit
        except _cache_errors() as error:
            logger.exception("%s is closed: the cache does not answer", self.name)
            raise NotCounting from error

    def count(self, key: str = "") -> None:
        """Count a wrong guess; one that can't be counted is the last, as `is_closed` then says."""
        try:
            self._count(key)
        except _cache_errors():
            logger.exception("%s can't count: the cache does not answer", self.name)

    def _count(self, key: str) -> None:
        entry = self._entry(key)
        if not cache.add(entry, 1, timeout=self.seconds):
            try:
                cache.incr(entry)
            except ValueError:  # it ran out in between
                cache.add(entry, 1, timeout=self.seconds)

    def _entry(self, key: str) -> str:
        return f"throttle:{self.name}:{sha256(key.encode(errors='replace')).hexdigest()}"
