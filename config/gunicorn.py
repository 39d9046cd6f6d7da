"""gunicorn's settings (`--config=config/gunicorn.py`): its own lines keep secrets as ours do; slow clients may wait."""

import socket
import struct
import sys
from typing import Any

from django.conf import settings
from gunicorn import glogging  # type: ignore[import-untyped]

from config.logs import JsonFormatter, mask
from config.slow_clients import FewThreads

APPLICATION_THREADS = 4
MOST_SILENCE = 30  # seconds
MOST_UNSENT = 256 * 1024  # bytes; Linux would let it grow to some MB for each


class Logger(glogging.Logger):  # type: ignore[misc]
    """Masks the access log; with LOG_FORMAT=json the app writes it, and the rest becomes JSON."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        if settings.LOG_FORMAT == "json":
            for handler in self.error_log.handlers:
                handler.setFormatter(JsonFormatter())

    def atoms(self, resp: Any, req: Any, environ: Any, request_time: Any) -> dict[str, Any]:
        found = super().atoms(resp, req, environ, request_time)
        found["q"] = "***" if found.get("q") else ""
        return {name: mask(value) if isinstance(value, str) else value for name, value in found.items()}

    def exception(self, msg: str, *args: Any, **kwargs: Any) -> None:
        """Who was silent for too long is no fault: such a line would be anybody's to write, as often as they like."""
        if not isinstance(sys.exc_info()[1], BlockingIOError):
            super().exception(msg, *args, **kwargs)

    def access(self, resp: Any, req: Any, environ: Any, request_time: Any) -> None:
        if settings.LOG_FORMAT != "json":
            super().access(resp, req, environ, request_time)


def post_worker_init(worker: Any) -> None:
    worker.wsgi = FewThreads(worker.wsgi, threads=APPLICATION_THREADS)


def when_ready(server: Any) -> None:
    """Let nobody be silent for longer between two reads or writes, or have more in the kernel that they do not take.

    A connection has these from its listener (Linux).
    """
    patience = struct.pack("ll", MOST_SILENCE, 0)
    for listener in server.LISTENERS:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_UNSENT)


logger_class = Logger
# Without the browser's name, which says more about a person than an operator needs: docs/privacy.md.
access_log_format = '%(h)s %(l)s %(u)s %(t)s "%(r)s" %(s)s %(b)s "%(f)s"'
# Loaded once, before there are workers: each would load the same for itself, and hold it in memory of its own.
preload_app = True
worker_class = "gthread"
# For connections that wait, one each: the application has a few of its own (config.slow_clients). Made when needed.
threads = 512
# Seconds in which whoever comes again needs no new connection. Gunicorn's 2 are what many wait under load for an answer
# of the other site, and then use a connection in the moment in which it is closed.
keepalive = 10
# The kernel would send a file to a client that takes nothing, and see no end of it.
sendfile = False
