"""Tasks of one worker share a connection to the database, as the requests of a web server do."""

import pytest
from celery.fixups.django import DjangoWorkerFixup  # type: ignore[attr-defined] # its stubs lack it
from celery.signals import task_postrun, task_prerun
from django.db import connection

from config.celery import app
from surveys.sync import heartbeat

pytestmark = pytest.mark.django_db(transaction=True)


def run_one() -> None:
    """Say what a worker says around a task, and do what Celery does then, beside what we do."""
    about = {"task_id": "one", "task": heartbeat, "args": [], "kwargs": {}}
    fixup = DjangoWorkerFixup(app)
    fixup.on_task_prerun(sender=heartbeat)
    task_prerun.send(sender=heartbeat, **about)
    task_postrun.send(sender=heartbeat, **about, retval=None, state="SUCCESS")
    fixup.on_task_postrun(sender=heartbeat)


def test_the_next_task_has_the_same() -> None:
    connection.ensure_connection()
    before = connection.connection
    run_one()
    assert connection.connection is before is not None


def test_one_that_has_become_old_is_closed() -> None:
    connection.ensure_connection()
    connection.close_at = 0.0
    run_one()
    assert connection.connection is None


def test_one_that_broke_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    connection.ensure_connection()
    monkeypatch.setattr(connection, "errors_occurred", True)
    monkeypatch.setattr(connection, "is_usable", lambda: False)
    run_one()
    assert connection.connection is None
