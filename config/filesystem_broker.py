"""Celery's filesystem broker, with messages that appear and vanish whole.

kombu 5.7 creates a message's file first and fills it afterwards, so a worker that looks in between reads nothing and
stops for good; it does the same with its exchange tables, and it takes a message by moving it to the system's
temporary folder, which is a copy where that is another disk. Here every file is written beside its place and renamed.
Messages have a priority as with Redis: 0 is taken first, 9 last.
"""

import fcntl
import os
import uuid
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
LONGEST_PAUSE = 0.1  # seconds until what comes after a rest is seen; what comes after it is taken without one


class Channel(filesystem.Channel):
    """Writes and takes messages by rename, which is atomic within the folder."""

    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override] # bases disagree
        priority = self._get_message_priority(payload)
        name = f"{priority}_{time_ns()}_{uuid.uuid4()}.{queue}.msg"
        _write_whole(Path(self.data_folder_out) / name, dumps(payload))

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
        """Sleep until the folder may have changed since `changed_at`; None: until the next look. Or TimeoutError."""
        pause = self.interval
        while True:
            if monotonic() >= ends:
                raise TimeoutError
            sleep(pause)
            pause = min(2 * pause, max(LONGEST_PAUSE, self.interval))
            is_settled = changed_at is not None and time_ns() - changed_at > TICK
            if not is_settled or self._changed_at() != changed_at:
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
