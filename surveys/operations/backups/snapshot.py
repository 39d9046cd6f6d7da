"""The database as it is at one moment, for as long as reading takes, while others go on writing."""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction


@contextmanager
def snapshot(*, folder: Path) -> Iterator[None]:
    """Let this thread see one moment of the database in the block. SQLite's copy lies in `folder` meanwhile."""
    if connection.vendor == "sqlite":
        with tempfile.TemporaryDirectory(dir=folder) as private, sqlite_copy(Path(private) / "db.sqlite3"):
            yield
    else:
        with transaction.atomic(durable=True):
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield


@contextmanager
def sqlite_copy(path: Path) -> Iterator[None]:
    """Copy the database with SQLite's online backup, and read the copy. https://sqlite.org/backup.html"""
    live = connections[DEFAULT_DB_ALIAS]
    live.ensure_connection()
    with closing(sqlite3.connect(path)) as target:
        live.connection.backup(target)
    copy = type(live)({**live.settings_dict, "NAME": str(path), "OPTIONS": {}}, DEFAULT_DB_ALIAS)
    connections[DEFAULT_DB_ALIAS] = copy
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = live
        copy.close()
