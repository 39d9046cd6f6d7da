"""A request whose sender hung up in the middle of it, told from one that is all there."""

from collections.abc import Callable, Iterable
from typing import Any

Application = Callable[..., Iterable[bytes]]


class WholeBody:
    """A `wsgi.input` that raises ConnectionError where it ends before the announced length, in bytes.

    gunicorn gives what has arrived of a body, and Django takes that for the form: of a longer answer that broke off the
    rest would count as left empty. Django turns the error into UnreadablePostError.
    """

    def __init__(self, stream: Any, length: int) -> None:
        self._stream = stream
        self._left = length

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        parts = []
        while wanted > 0:
            part = self._counted(self._stream.read(wanted))
            parts.append(part)
            wanted -= len(part)
        return b"".join(parts)

    def readline(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        return self._counted(self._stream.readline(wanted)) if wanted else b""

    def _counted(self, part: bytes) -> bytes:
        if not part:
            raise ConnectionError(f"The request broke off, {self._left} bytes before its end.")
        self._left -= len(part)
        return part


def insist_on_whole_bodies(application: Application) -> Application:
    """Wrap a WSGI application so that it reads whole bodies or none."""

    def insisting(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        length = environ.get("CONTENT_LENGTH") or ""
        if length.isdecimal():
            environ["wsgi.input"] = WholeBody(environ["wsgi.input"], int(length))
        return application(environ, start_response)

    return insisting
