"""Celery's filesystem broker, with messages that appear and vanish whole.

kombu 5.7 creates a message's file first and fills it afterwards, so a worker that looks in between reads nothing and
stops for good; it does the same with its exchange tables, and it takes a message by moving it to the system's
temporary folder, which is a copy where that is another disk. Here every file is written beside its place and renamed.
Messages have a priority as with Redis: 0 is taken first, 9 last.
"""

import errno
import fcntl
import os
import select
import stat
import uuid
from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path
from queue import Empty
from time import monotonic, sleep, time_ns
from typing import Any

from kombu.transport import filesystem
from kombu.utils.encoding import bytes_to_str, str_to_bytes
from kombu.utils.json import dumps, loads

# Within it a folder can change twice and show one time: the kernel's clock for files goes in steps of 1 to 10 ms.
TICK = 100_000_000  # nanoseconds
# Seconds of a rest, in case nobody rings, or nobody could: another worker may have heard it and be stopped then.
LONGEST_REST, LONGEST_DEAF_REST = 1.0, 0.1


class Bell:
    """A named pipe by which who sends a message wakes who waits for one; missed, a message is seen a little later."""

    def __init__(self, folder: Path | str) -> None:
        self.path = Path(folder) / "bell"

    def ring(self) -> None:
        with suppress(OSError):  # nobody waits
            pipe = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
            try:
                os.write(pipe, b"!")
            finally:
                os.close(pipe)

    def wait(self, *, unless: Callable[[], bool], seconds: float) -> None:
        """Return when it rings, at once if what it would ring for is there, or after so many seconds or less."""
        try:
            pipe = self._open()
        except OSError:  # a disk that knows no pipes
            sleep(min(seconds, LONGEST_DEAF_REST))
            return
        try:
            if not unless():
                heard = select.poll()
                heard.register(pipe, select.POLLIN)
                heard.poll(min(seconds, LONGEST_REST) * 1000)
                with suppress(BlockingIOError):
                    os.read(pipe, select.PIPE_BUF)
        finally:
            os.close(pipe)

    def _open(self) -> int:
        """To write as well: it would be heard for ever once the last who rang has closed it."""
        with suppress(FileExistsError):
            os.mkfifo(self.path, 0o600)
        pipe = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)
        if not stat.S_ISFIFO(os.fstat(pipe).st_mode):  # a copy of the folder may have made a file of it
            os.close(pipe)
            raise OSError(errno.EINVAL, "no pipe", str(self.path))
        return pipe


class Channel(filesystem.Channel):
    """Writes and takes messages by rename, which is atomic within the folder."""

    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override] # bases disagree
        priority = self._get_message_priority(payload)
        name = f"{priority}_{time_ns()}_{uuid.uuid4()}.{queue}.msg"
        _write_whole(Path(self.data_folder_out) / name, dumps(payload))
        Bell(self.control_folder).ring()

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        for name in sorted(os.listdir(self.data_folder_in)):  # noqa: PTH208 (names are all that is needed)
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = Path(self.processed_folder) / name
            try:
                (Path(self.data_folder_in) / name).rename(taken)
            except FileNotFoundError:
                continue  # another worker was faster
            payload = taken.read_bytes()
            taken.unlink()
            return loads(bytes_to_str(payload))
        raise Empty

    def _queue_bind(self, exchange: str, routing_key: str | None, pattern: str | None, queue: str) -> None:
        file = Path(self.control_folder) / f"{exchange}.exchange"
        binding = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        with (file.parent / "bindings.lock").open("w") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            bindings = self.get_table(exchange)
            if binding not in bindings:
                _write_whole(file, dumps([binding, *bindings]))


class Transport(filesystem.Transport):
    """kombu's filesystem transport with our channel, which looks for messages only where one may have come.

    A look goes through every queue, and fifty a second are what an idle worker does; whether the folder has changed
    is told by one call to the system.
    """

    Channel = Channel

    def __init__(self, client: Any, **options: Any) -> None:
        super().__init__(client, **options)
        self.folder = Path(client.transport_options["data_folder_in"])
        self.bell = Bell(client.transport_options["control_folder"])
        self.interval = self.polling_interval or 1.0  # seconds

    def drain_events(self, connection: Any, timeout: float | None = None) -> None:  # type: ignore[override] # bases disagree
        """Deliver a message, waiting for one as long as `timeout` says (seconds; None: for ever), else TimeoutError."""
        ends = monotonic() + timeout if timeout is not None else inf
        while True:
            changed_at, looks = self._changed_at(), self._looks_everywhere()
            try:
                self.cycle.get(self._deliver, timeout=0)  # type: ignore[union-attr] # set by every transport
            except Empty:
                self._wait(changed_at if looks else None, ends=ends)
            else:
                return

    def _wait(self, changed_at: int | None, *, ends: float) -> None:
        """Rest until the folder may have changed since `changed_at`; None: until the next look. Or TimeoutError."""
        while True:
            left = ends - monotonic()
            if left <= 0:
                raise TimeoutError
            if changed_at is None or time_ns() - changed_at <= TICK:
                sleep(self.interval)
                return
            self.bell.wait(unless=lambda: self._changed_at() != changed_at, seconds=left)
            if self._changed_at() != changed_at:
                return

    def _changed_at(self) -> int:
        return self.folder.stat().st_mtime_ns

    def _looks_everywhere(self) -> bool:
        """Tell whether every channel takes messages: one that holds as many as it may does not look."""
        return all(channel.qos.can_consume() for channel in self.channels or [])


def _write_whole(path: Path, text: str) -> None:
    part = path.with_name(f"{uuid.uuid4()}.part")
    part.write_bytes(str_to_bytes(text))
    part.rename(path)
