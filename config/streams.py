"""An answer of unknown length: rows are made in a thread beside those of the pages, and wait on disk for their reader.

A database cursor belongs to the thread that opened it, so one thread makes the whole answer. It goes ahead of its
reader as long as all answers together have room for it, and then makes a block whenever its reader has none left. So
nobody who reads slowly holds more than that room and one thread of the few, and whoever reads on gets on.
Tested by tests/config/test_streams.py.
"""

import os
import threading
from collections.abc import Iterable, Iterator
from tempfile import TemporaryFile

from config.bodies import BLOCK, TICK, Budget


class Stream:
    """What `run` makes in one thread, whoever iterates gets in another; `close` by the reader ends both."""

    def __init__(self, parts: Iterable[bytes], *, budget: Budget) -> None:
        self._parts = parts
        self._budget = budget
        self._changed = threading.Condition()
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115 (closed by `close`)
        self._written = self._read = self._taken = 0  # bytes of the file; of these what the budget gave
        self._is_made = self._is_left = False
        self._error: BaseException | None = None

    def run(self) -> None:
        """Make the answer, unless its reader leaves before."""
        try:
            for block in _blocks(self._parts):
                if not self._put(block):
                    break
        except BaseException as error:  # raised where it is read
            self._error = error
        finally:
            if close := getattr(self._parts, "close", None):
                close()
            self._end()

    def __iter__(self) -> Iterator[bytes]:
        """Yield blocks as they come. What `run` raised is raised after the last that was made."""
        while block := self._take():
            yield block
        if self._error:
            raise self._error

    def close(self) -> None:
        with self._changed:
            self._is_left = True
            self._file.close()
            self._forget()
            self._changed.notify_all()

    def _put(self, block: bytes) -> bool:
        with self._changed:
            while not self._is_left and self._written > self._read and not self._may_take(len(block)):
                self._changed.wait(TICK)
            if not self._is_left:
                os.pwrite(self._file.fileno(), block, self._written)
                self._written += len(block)
                self._changed.notify_all()
            return not self._is_left

    def _may_take(self, size: int) -> bool:
        has_room = self._budget.take(size)
        self._taken += size if has_room else 0
        return has_room

    def _take(self) -> bytes:
        with self._changed:
            while self._read == self._written and not (self._is_made or self._is_left):
                self._changed.wait()
            if self._is_left or self._read == self._written:
                return b""
            block = os.pread(self._file.fileno(), BLOCK, self._read)
            self._read += len(block)
            if self._read == self._written:
                os.ftruncate(self._file.fileno(), 0)
                self._forget()
                self._changed.notify_all()
            return block

    def _forget(self) -> None:
        self._budget.give_back(self._taken)
        self._written = self._read = self._taken = 0

    def _end(self) -> None:
        with self._changed:
            self._is_made = True
            self._changed.notify_all()


def _blocks(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Join small parts; the first goes at once."""
    waiting: list[bytes] = []
    size, enough = 0, 1
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size >= enough:
            yield b"".join(waiting)
            waiting, size, enough = [], 0, BLOCK
    if size:
        yield b"".join(waiting)
