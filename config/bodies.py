"""What clients send waits whole before the application sees it: how much of whom, for how long, and on how much disk.

Nobody's rights are known before the request is run, so a body that anybody may send is no larger than a form, all of
them together have a fixed share of the disk, and each has a time to be there. What is larger needs a session of
somebody who is signed in, or at the API a token. Tested by tests/config/test_bodies.py; the sums are in
docs/security.md.
"""

import errno
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from importlib import import_module
from socket import SHUT_RD, socket
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db import close_old_connections
from django.http.cookie import parse_cookie

Environ = dict[str, Any]
MB = 2**20
API = "/api/v1/"
BLOCK = 64 * 1024  # bytes; what is longer waits on disk
FORM = 3 * MB  # above what Django reads of a form (DATA_UPLOAD_MAX_MEMORY_SIZE)
LARGEST_BODY = (
    12 * MB
)  # of somebody who is signed in, where no larger upload is taken; as in config/nginx.conf
ALL_FORMS = 128 * MB  # that a process keeps at once
LEAST_SECONDS = 60
LEAST_PER_SECOND = 128 * 1024  # bytes
TICK = 1.0  # seconds
NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


class Refused(Exception):
    """A request that is answered without the application."""

    def __init__(self, status: str, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class Budget:
    """Bytes that all requests of a process share."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        with self._lock:
            has_room = size <= self._left
            self._left -= size if has_room else 0
        return has_room

    def give_back(self, size: int) -> None:
        with self._lock:
            self._left += size


class Deadlines:
    """Ends what is received of connections whose time is up.

    A timeout of the socket begins again with every byte, and a read ends when its buffer is full.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until: dict[socket, float] = {}
        self._thread: threading.Thread | None = None

    @contextmanager
    def within(self, seconds: float, connection: socket) -> Iterator[None]:
        with self._lock:
            self._until[connection] = time.monotonic() + seconds
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="deadlines", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                del self._until[connection]

    def _watch(self) -> None:
        while True:
            time.sleep(TICK)
            with self._lock:
                if not self._until:
                    self._thread = None
                    return
                self._end_late(time.monotonic())

    def _end_late(self, now: float) -> None:
        for connection, until in self._until.items():
            if until <= now:
                with suppress(OSError):  # it hung up by itself
                    connection.shutdown(SHUT_RD)


def largest_body(path: str) -> int:
    """Return the bytes that may be sent to an address: what is uploaded there, and a form around it."""
    if path == "/import/pictures":
        return settings.IMAGE_ARCHIVE_MAX_BYTES + LARGEST_BODY
    if path.startswith(("/import/", "/samples/", "/admin/marketplace/", API)):
        return settings.UPLOAD_MAX_BYTES + LARGEST_BODY
    return LARGEST_BODY


def seconds_for(length: int) -> float:
    """Return how long a body of so many bytes may take."""
    return LEAST_SECONDS + length / LEAST_PER_SECOND


def is_signed_in(environ: Environ) -> bool:
    """Has whoever asks a session of an account, or at the API a token? Needs a connection; raises DatabaseError."""
    if environ.get("PATH_INFO", "").startswith(API):
        return _has_token(environ)
    key = parse_cookie(environ.get("HTTP_COOKIE", "")).get(settings.SESSION_COOKIE_NAME)
    if not key:
        return False
    close_old_connections()  # as before a request: no signal is sent here
    return SESSION_KEY in import_module(settings.SESSION_ENGINE).SessionStore(key)


def _has_token(environ: Environ) -> bool:
    # Here, not at the top: gunicorn reads this module before Django is set up.
    from surveys.api import tokens

    token = tokens.bearer(environ.get("HTTP_AUTHORIZATION", ""))
    if not token:
        return False
    close_old_connections()
    return tokens.find(token) is not None


def _all_uploads() -> Budget:
    """Two of the largest at once."""
    return Budget(2 * largest_body("/import/pictures"))


@dataclass(frozen=True)
class Bodies:
    """Takes bodies from clients, and knows what all of them may take."""

    is_signed_in: Callable[[Environ], bool] = is_signed_in
    forms: Budget = field(default_factory=lambda: Budget(ALL_FORMS))
    uploads: Budget = field(default_factory=_all_uploads)
    deadlines: Deadlines = field(default_factory=Deadlines)

    def admit(self, environ: Environ, *, ask: Callable[..., bool]) -> None:
        """Raise Refused where more is announced than may be sent there. `ask` runs what needs the database."""
        length = _length(environ)
        if length <= FORM:
            return
        if length > largest_body(environ.get("PATH_INFO", "")) or not ask(self.is_signed_in, environ):
            raise Refused("413 Content Too Large", "This is more than can be sent here.")

    @contextmanager
    def received(self, environ: Environ) -> Iterator[Environ]:
        """Give the request with its body there, as far as it came; what breaks off the application looks at.

        Raises Refused where it takes too long or there is no room for it. Nothing is left behind.
        """
        if not (length := _length(environ)):
            yield environ
            return
        with _spool() as body, _share_of(self.forms if length <= FORM else self.uploads) as take:
            with self._in_time(environ, length) as is_late:
                _fill(
                    body,
                    environ["wsgi.input"],
                    length,
                    take=take if length > BLOCK else None,
                    is_late=is_late,
                )
            yield {**environ, "wsgi.input": body}

    @contextmanager
    def _in_time(self, environ: Environ, length: int) -> Iterator[Callable[[], bool]]:
        seconds = seconds_for(length)
        until = time.monotonic() + seconds
        connection = environ.get("gunicorn.socket")
        with self.deadlines.within(seconds, connection) if connection else nullcontext():
            yield lambda: time.monotonic() >= until


def _length(environ: Environ) -> int:
    length = environ.get("CONTENT_LENGTH") or ""
    return int(length) if length.isdecimal() else 0


@contextmanager
def _spool() -> Iterator[IO[bytes]]:
    body = SpooledTemporaryFile(BLOCK)  # noqa: SIM115 (closing writes what is left, which a full disk refuses again)
    try:
        yield body
    finally:
        with suppress(OSError):
            body.close()


@contextmanager
def _share_of(budget: Budget) -> Iterator[Callable[[int], bool]]:
    taken = 0

    def take(size: int) -> bool:
        nonlocal taken
        has_room = budget.take(size)
        taken += size if has_room else 0
        return has_room

    try:
        yield take
    finally:
        budget.give_back(taken)


def _fill(
    body: IO[bytes],
    stream: Any,
    length: int,
    *,
    take: Callable[[int], bool] | None,
    is_late: Callable[[], bool],
) -> None:
    """Take what comes, up to `length` bytes."""
    try:
        for part in _parts(stream, length):
            if is_late():
                raise Refused("408 Request Timeout", "This took too long to arrive.")
            if take and not take(len(part)):
                raise no_room()
            body.write(part)
        body.seek(0)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise no_room() from error
        raise


def _parts(stream: Any, length: int) -> Iterator[bytes]:
    """Yield what comes; the last part is empty where the client broke off or was silent for too long."""
    left = length
    while left:
        try:
            part: bytes = stream.read(min(left, BLOCK))
        except OSError:
            part = b""
        yield part
        left = left - len(part) if part else 0


def no_room() -> Refused:
    return Refused(
        "503 Service Unavailable", "There is no room for this now. Please try again in a few minutes."
    )
