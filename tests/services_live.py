"""What the live server, a thread of the tests' process, is still answering when a test ends."""

import threading
import time
from typing import Any

from django.core.signals import request_finished, request_started
from django.dispatch import receiver

MOST_SECONDS = 5
_answering: set[threading.Thread] = set()


def wait_until_answered() -> None:
    """Wait for requests a browser has left behind: the next test would see their templates rendered as its own."""
    until = time.monotonic() + MOST_SECONDS
    while any(thread.is_alive() for thread in _answering.copy()) and time.monotonic() < until:
        time.sleep(0.01)


@receiver(request_started)
def _begin(**_: Any) -> None:
    if threading.current_thread() is not threading.main_thread():
        _answering.add(threading.current_thread())


@receiver(request_finished)
def _end(**_: Any) -> None:
    _answering.discard(threading.current_thread())
