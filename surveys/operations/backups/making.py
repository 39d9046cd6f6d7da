"""Making a backup, while everything runs."""

import json
import os
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections, transaction
from django.db.models import FileField, Model

from surveys.operations.backups import folders, media, recency, rows, state
from surveys.operations.backups.archive import (
    CHUNK,
    DATABASE,
    MEDIA,
    UNREADABLE,
    BackupError,
    Writer,
    verified,
)

OWN = ".assent-backup-"  # how the folders begin that a backup works in


@dataclass(frozen=True)
class Summary:
    """What is in an archive: rows and tables, media files, and the names of files that rows ask for in vain.

    `is_another_key` says that SECRET_KEY was another one: what hangs on it is in docs/backups.md. `n_migrations` is how
    many migrations a restore has run on the rows, which an older version had written, `n_erased` how many people it has
    erased again.
    """

    rows: int
    tables: int
    files: int
    missing: tuple[str, ...]
    is_another_key: bool
    n_migrations: int = 0
    n_erased: int = 0


def backup(path: Path) -> Summary:
    """Write the database as it is at one moment, and the media files, to a new file; read it back to check it.

    BackupError if `path` exists or can't be written, or the database can't be read; then nothing is left behind.
    """
    path = path.absolute()
    if path.exists():
        raise BackupError(f"{path} is there already; a backup overwrites nothing.")
    if path.resolve().is_relative_to(media.root().resolve()):
        raise BackupError("A backup can't lie in the media folder, which is part of it.")
    try:
        with unfinished(path) as part:
            write(part)
            with verified(part, room=2**63) as archive:
                summary = summarise(archive.manifest)
            part.rename(path)
    except OSError as error:
        raise BackupError(f"{path} can't be written: {error.strerror}.") from error
    except DatabaseError as error:
        raise BackupError(f"The database can't be read: {error}") from error
    recency.mark()
    return summary


def verify(path: Path) -> tuple[Summary, str]:
    """Read an archive whole and compare it as a restore does; return what is in it, and when it was made.

    BackupError if a restore by this version would refuse it as it is. The database is not asked, and may be another.
    """
    with verified(path, room=2**63) as archive:
        try:
            archive.check_tables()
            state.check_known(archive.manifest, loader=state.SingleMigrations())
            return summarise(archive.manifest), str(archive.manifest.get("made_at", "an unknown time"))
        except (*UNREADABLE, TypeError, LookupError, AttributeError) as error:
            raise BackupError(f"{path.name} is damaged: {error}") from error


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """Give a place beside `path` that only we may read, as a backup holds all there is; it is gone at the end.

    What backups that were killed have left there goes first.
    """
    folders.discard_dead(path.parent, prefix=OWN)
    with folders.working(path.parent, prefix=OWN) as folder:
        part = folder / path.name
        part.touch(mode=0o600)
        yield part


def write(part: Path) -> None:
    """Files come after the rows: a picture is stored before the row that names it, and never changed."""
    with zipfile.ZipFile(part, "w") as file, snapshot(folder=part.parent):
        archive = Writer(file)
        tables = {model._meta.db_table: write_table(model, archive=archive) for model in rows.models()}
        for path in media.files():
            write_file(path, archive=archive)
        missing = sorted(name for name in named_files() if not archive.has(MEDIA + name))
        archive.finish({**state.describe(), "tables": tables, "missing": missing})
    with part.open("rb") as done:
        os.fsync(done.fileno())


def write_table(model: type[Model], *, archive: Writer) -> int:
    """Write a table, one JSON array a row; return the number of rows."""
    n = 0
    with archive.member(f"{DATABASE}{model._meta.db_table}.jsonl") as member:
        for row in rows.read(model):
            member.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
            n += 1
    return n


def write_file(path: Path, *, archive: Writer) -> None:
    """Write a media file; one that was removed meanwhile is none."""
    name = path.relative_to(media.root()).as_posix()
    with (
        suppress(FileNotFoundError),
        path.open("rb") as source,
        archive.member(MEDIA + name, compress=False) as member,
    ):
        while data := source.read(CHUNK):
            member.write(data)


def named_files() -> set[str]:
    """Return the names of the files that rows refer to."""
    names: set[str] = set()
    for model in rows.models():
        for field in rows.fields(model):
            if isinstance(field, FileField):
                objects = model._base_manager.exclude(**{field.name: ""})
                names.update(objects.values_list(field.name, flat=True))
    return names


def summarise(manifest: dict[str, Any]) -> Summary:
    tables = manifest["tables"]
    n_files = sum(name.startswith(MEDIA) for name in manifest["members"])
    return Summary(
        rows=sum(tables.values()),
        tables=len(tables),
        files=n_files,
        missing=tuple(manifest["missing"]),
        is_another_key=manifest["key"] not in state.key_prints(),
    )


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
