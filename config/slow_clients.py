"""Slow clients wait in threads of the web server that hold nothing; a few other threads work, on whole requests.

A thread of gunicorn belongs to a connection from its first byte to the last byte of the answer. There are so many of
them that clients may take their time (`threads` in config/gunicorn.py); what they run would need a database connection
each. So the application runs in a few threads of its own, which get a request when its body is there, and are done when
their answer is. Rows that are sent while they are made have threads beside these (config.streams). Tested by
tests/faults/test_default_server.py.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from config.bodies import BLOCK, MB, Bodies, Budget, Environ, Refused
from config.streams import Stream

Application = Callable[..., Iterable[bytes]]
ALL_ANSWERS = 512 * MB  # of rows that a process keeps on disk until they are read


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

    def __init__(
        self,
        application: Application,
        *,
        threads: int,
        bodies: Bodies | None = None,
        answers: Budget | None = None,
    ) -> None:
        self._application = application
        self._bodies = bodies or Bodies()
        self._answers = answers or Budget(ALL_ANSWERS)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="application")
        self._streams = ThreadPoolExecutor(threads, thread_name_prefix="stream")

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        try:
            self._bodies.admit(environ, ask=lambda *asked: self._threads.submit(*asked).result())
            with self._bodies.received(environ) as whole:
                answer = self._threads.submit(self._answer, whole).result()
        except Refused as refused:
            answer = _refusal(refused)
        start_response(answer.status, answer.headers)
        return answer.parts

    def _answer(self, environ: Environ) -> Answer:
        answer = Answer()
        parts: Any = self._application(environ, answer.start)
        file = environ.get("wsgi.file_wrapper")
        if file is not None and isinstance(parts, file):
            parts.blksize = BLOCK  # both gunicorn's and wsgiref's; Django asks for 4 KB
            answer.parts = parts  # a file holds nothing of ours, and the server closes it
            return answer
        if getattr(parts, "streaming", False):  # Django's, whose rows are made when they are asked for
            answer.parts = stream = Stream(parts, budget=self._answers)
            self._streams.submit(stream.run)
            return answer
        try:
            answer.parts = _kept(parts)
        finally:
            if hasattr(parts, "close"):
                parts.close()
        return answer


def _refusal(refused: Refused) -> Answer:
    """Return an answer after which the connection ends: what is still sent of the body is nothing to wait for."""
    text = refused.text.encode()
    headers = {
        "Content-Type": "text/plain",
        "Content-Length": str(len(text)),
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Connection": "close",
    }
    if refused.status.startswith("503"):
        headers["Retry-After"] = "120"
    return Answer(refused.status, list(headers.items()), [text])


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
