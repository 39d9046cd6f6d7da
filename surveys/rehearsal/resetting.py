"""Putting the demo back to its beginning: only where there is nothing but the demo."""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection

from annotators.models import Endpoint
from surveys.models import Batch, Protocol, Survey
from surveys.rehearsal.demo_studies import ALL

FILES = ("db.sqlite3", "db.sqlite3-wal", "db.sqlite3-shm", "celerybeat-schedule", "importing.lock")
FOLDERS = ("media", "broker", "heartbeats", "run", "prepared")
LOCK = "demo.lock"


class NotOnlyDemo(Exception):
    """There is more than the demo here, or it runs; the message says what."""


@contextmanager
def running(*, alone: bool = False) -> Iterator[TextIO]:
    """Hold the data folder while a demo runs on it, by the lock on the file that is yielded.

    Raises NotOnlyDemo if it is wanted `alone` and one does.
    """
    settings.DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (settings.DATA_DIR / LOCK).open("w") as file:
        try:
            fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError as error:
            raise NotOnlyDemo("The demo runs. Stop it first, by Ctrl-C.") from error
        yield file


def reset(*, accounts: set[str]) -> bool:
    """Delete the demo's data; the next start makes it anew, with the same passwords. False if there is none.

    `accounts` are those that the demo makes. Raises NotOnlyDemo, and then nothing is deleted.
    """
    with running(alone=True):
        _check_places()
        if not (settings.DATA_DIR / FILES[0]).exists():
            return False
        if found := list(_what_is_not_demo(accounts)):
            raise NotOnlyDemo(
                f"Nothing was deleted, as there is more than the demo here: {'; '.join(found)}."
            )
        connection.close()
        _delete(settings.DATA_DIR)
        return True


def _check_places() -> None:
    """A database server, or pictures elsewhere, are not the demo's."""
    database = settings.DATABASES["default"]
    is_own = database["ENGINE"].endswith("sqlite3") and Path(database["NAME"]) == settings.DATA_DIR / FILES[0]
    if not is_own or settings.MEDIA_ROOT != settings.DATA_DIR / "media":
        raise NotOnlyDemo(
            "The demo keeps everything in its data folder; the database or the pictures are elsewhere."
        )


def _what_is_not_demo(accounts: set[str]) -> Iterator[str]:
    if "surveys_survey" not in connection.introspection.table_names():
        yield "a database that this version did not make"
        return
    studies = Survey.objects.exclude(slug__in=[study.slug for study in ALL])
    yield from (f"the study {study}" for study in studies)
    others = Batch.objects.filter(survey__slug__in=[study.slug for study in ALL])
    elsewhere = others.filter(endpoint__in=[Endpoint.SANDBOX, Endpoint.PRODUCTION])
    yield from (f"{batch}, published on MTurk" for batch in elsewhere)
    yield from (f"the survey type {protocol}" for protocol in Protocol.objects.all())
    people = get_user_model()._default_manager.exclude(username__in=accounts)
    yield from (f"the account {person.get_username()}" for person in people)


def _delete(folder: Path) -> None:
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    for name in FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)
