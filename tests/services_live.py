"""What goes on in the live server, which is threads of the tests' process, after a test has ended."""

import threading
import time
from typing import Any

from django.core.signals import request_finished, request_started
from django.dispatch import receiver
from playwright.sync_api import Browser

MOST_SECONDS = 5
_answering: set[threading.Thread] = set()


def refuse_open_pages(browser: Browser) -> None:
    """Fail the test that leaves a page open: it goes on asking, and what it is shown the next tests take as theirs."""
    open_pages = [page.url for context in browser.contexts for page in context.pages]
    for context in list(browser.contexts):
        context.close()
    wait_until_answered()
    assert open_pages == [], "Make a context with pytest-playwright's `new_context`, which closes it."


def cut_off(browser: Browser) -> None:
    """Let no page ask for anything more: what one says as it closes would meet the emptying of the tables."""
    for context in browser.contexts:
        context.set_offline(True)


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
