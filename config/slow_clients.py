"""Slow clients wait in threads of the web server that hold nothing; a few other threads work, on whole requests.

A thread of gunicorn belongs to a connection from its first byte to the last byte of the answer. There are so many of
them that clients may take their time (`threads` in config/gunicorn.py); what they run would need a database connection
each. So the application runs in a few threads of its own, which get a request when its body is there, and are done when
their answer is. Tested by tests/faults/test_default_server.py.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from django.conf import settings

Application = Callable[..., Iterable[bytes]]
MB = 2**20
BLOCK = 64 * 1024  # bytes; a body or an answer that is longer waits on disk
LARGEST_BODY = 12 * MB  # above the largest form without an upload, as in config/nginx.conf
TOO_LARGE = b"This is more than can be sent here."
HEADERS_OF_REFUSAL = [
    ("Content-Type", "text/plain"),
    ("Content-Length", str(len(TOO_LARGE))),
    ("Content-Security-Policy", "default-src 'none'; sandbox"),
    ("X-Content-Type-Options", "nosniff"),
    ("Connection", "close"),
]


@dataclass
class Answer:
    """What the application said, whole."""

    status: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    parts: Iterable[bytes] = ()

    def start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        self.status, self.headers = status, headers


class FewThreads:
    """A WSGI application that runs another one in so many threads, whoever asks and however long they take to."""

    def __init__(self, application: Application, *, threads: int) -> None:
        self._application = application
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="application")

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        length = environ.get("CONTENT_LENGTH") or ""
        length = int(length) if length.isdecimal() else 0
        if length > largest_body(environ.get("PATH_INFO", "")):
            start_response("413 Content Too Large", HEADERS_OF_REFUSAL)
            return [TOO_LARGE]
        with SpooledTemporaryFile(BLOCK) as body:
            if length:
                _fill(body, environ["wsgi.input"], length)
                environ["wsgi.input"] = body
            answer = self._threads.submit(self._answer, environ).result()
        start_response(answer.status, answer.headers)
        return answer.parts

    def _answer(self, environ: dict[str, Any]) -> Answer:
        answer = Answer()
        parts: Any = self._application(environ, answer.start)
        file = environ.get("wsgi.file_wrapper")
        if file is not None and isinstance(parts, file):
            parts.blksize = BLOCK  # both gunicorn's and wsgiref's; Django asks for 4 KB
            answer.parts = parts  # a file holds nothing of ours, and the server closes it
            return answer
        try:
            answer.parts = _kept(parts)
        finally:
            if hasattr(parts, "close"):
                parts.close()
        return answer


def largest_body(path: str) -> int:
    """Return the bytes that may be sent to an address: what is uploaded there, and a form around it."""
    if path == "/import/pictures":
        return settings.IMAGE_ARCHIVE_MAX_BYTES + LARGEST_BODY
    if path.startswith(("/import/", "/samples/", "/admin/marketplace/")):
        return settings.UPLOAD_MAX_BYTES + LARGEST_BODY
    return LARGEST_BODY


def _fill(body: IO[bytes], stream: Any, length: int) -> None:
    """Take what comes, up to `length` bytes. What breaks off stays short, which the application looks at."""
    left = length
    while left:
        try:
            part = stream.read(min(left, BLOCK))
        except OSError:  # hung up, or silent for too long
            break
        if not part:
            break
        body.write(part)
        left -= len(part)
    body.seek(0)


def _kept(parts: Iterable[bytes]) -> Iterable[bytes]:
    """Return an answer that needs no thread of the application any more; of a long one the rest lies on disk."""
    kept: IO[bytes] = SpooledTemporaryFile(MB)  # noqa: SIM115 (closed with its last block)
    for part in parts:
        kept.write(part)
    kept.seek(0)
    return _blocks(kept)


def _blocks(file: IO[bytes]) -> Iterable[bytes]:
    with file:
        while block := file.read(BLOCK):
            yield block
