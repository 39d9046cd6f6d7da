"""Handing work to Celery from a request: a page's, or the API's."""

from functools import partial
from typing import TYPE_CHECKING, Any

from celery import Task
from django.db import transaction

from surveys import sync
from surveys.results.kept import ask

if TYPE_CHECKING:
    from surveys.results.reports import Kept


def enqueue(task: "Task[..., None]", *args: Any) -> None:
    """Send a task once the transaction is committed. Without a broker the page still answers: sweep finds the work."""
    transaction.on_commit(partial(task.delay, *args), robust=True)


def enqueue_in(seconds: float, task: "Task[..., None]", *args: Any) -> None:
    """Send a task that no worker takes before so many seconds; a sweep may find the work earlier."""
    later = partial(task.apply_async, args, countdown=seconds)
    transaction.on_commit(later, robust=True)


def wanted(key: str, *, version: str) -> "Kept[Any]":
    """Return what is kept of a report; of another version of the data, the worker is asked to make it, once."""
    # Here, not at the top: it loads pandas, and whoever only sends tasks needs none.
    from surveys.results.reports import kept

    found = kept(key, version=version)
    if found.is_current:
        return found
    if ask(key, version=version):
        enqueue(sync.make_report, found.pk)
    return kept(key, version=version)
