"""Putting a backup back: all of it or nothing."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.core.management.color import no_style
from django.db import DatabaseError, connection, transaction

from annotators.outbox import journal
from surveys.operations import reconciling
from surveys.operations.backups import media, rows, state, upgrading
from surveys.operations.backups.archive import DATABASE, UNREADABLE, BackupError, Reader, verified
from surveys.operations.backups.making import Summary, summarise

UNFIT = (*UNREADABLE, DatabaseError, ValidationError, TypeError, LookupError, AttributeError)


def restore(path: Path, *, force: bool = False) -> Summary:
    """Replace the database's rows and the media files by those of an archive, migrated if an older version made it.

    Every checksum is compared before anything is touched. BackupError, with everything as it was, if the archive is
    damaged or of a newer version, or if there are rows or files and `force` is not given.
    """
    with verified(path, room=shutil.disk_usage(media.root()).free) as archive:
        try:
            n_migrations = state.n_behind(archive.manifest)
            check_tables(archive)
            summary = summarise(archive.manifest)
            with up_to_date(archive, n_migrations=n_migrations) as tables, media.staged(archive) as new:
                exchange(tables, new=new, force=force)
        except UNFIT as error:
            raise BackupError(f"The archive can't be restored, and nothing was changed: {error}") from error
    ContentType.objects.clear_cache()
    return replace(summary, n_migrations=n_migrations)


def check_tables(archive: Reader) -> None:
    written = {f"{table}.jsonl" for table in archive.columns}
    if set(archive.names(DATABASE)) != written or set(archive.n_rows) != set(archive.columns):
        raise BackupError("The archive is not sound: its tables are not those of its manifest.")


@contextmanager
def up_to_date(archive: Reader, *, n_migrations: int) -> Iterator[rows.Tables]:
    """Give the archive's rows as today's tables have them."""
    if n_migrations:
        with upgrading.migrated(archive, folder=media.root()) as tables:
            yield tables
    else:
        yield archive


def exchange(tables: rows.Tables, *, new: Path, force: bool) -> None:
    """Write the rows, then exchange the files, then commit; a failure anywhere undoes all three."""
    with media.swapping(new) as swap, transaction.atomic(durable=True):
        if not force:
            check_empty()
        empty_tables()
        fill_tables(tables)
        journal.distrust_plans()
        reconciling.hold_after_restore()
        connection.check_constraints()
        swap()


def check_empty() -> None:
    if media.entries() or not state.is_empty():
        raise BackupError("There are rows or media files here already; --force replaces them.")


def empty_tables() -> None:
    tables = [model._meta.db_table for model in rows.models()]
    with connection.cursor() as cursor:
        for statement in connection.ops.sql_flush(no_style(), tables, reset_sequences=True):
            cursor.execute(statement)


def fill_tables(tables: rows.Tables) -> None:
    """Insert all rows, and let new keys begin after the restored ones."""
    models = rows.models()
    rows.fill(models, tables=tables)
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
