"""Handing work to Celery from a request."""

from functools import partial
from typing import Any

from celery import Task
from django.db import transaction


def enqueue(task: "Task[..., None]", *args: Any) -> None:
    """Send a task once the transaction is committed. Without a broker the page still answers: sweep finds the work."""
    transaction.on_commit(partial(task.delay, *args), robust=True)
