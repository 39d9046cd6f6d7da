"""Putting a backup back: all of it or nothing."""

import shutil
from pathlib import Path

from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.core.management.color import no_style
from django.db import DatabaseError, connection, transaction

from surveys.operations.backups import media, rows, state
from surveys.operations.backups.archive import DATABASE, BackupError, Reader, verified
from surveys.operations.backups.making import Summary, summarise

UNFIT = (DatabaseError, ValidationError, OSError, ValueError, TypeError, KeyError)


def restore(path: Path, *, force: bool = False) -> Summary:
    """Replace the database's rows and the media files by those of an archive.

    Every checksum is compared before anything is touched. BackupError, with everything as it was, if the archive is
    damaged or of another version, or if there are rows or files and `force` is not given.
    """
    with verified(path, room=shutil.disk_usage(media.root()).free) as archive:
        state.check_fit(archive.manifest)
        check_tables(archive)
        try:
            with media.staged(archive) as new:
                exchange(archive, new=new, force=force)
        except UNFIT as error:
            raise BackupError(f"The archive can't be restored, and nothing was changed: {error}") from error
    ContentType.objects.clear_cache()
    return summarise(archive.manifest)


def check_tables(archive: Reader) -> None:
    theirs = {f"{model._meta.db_table}.jsonl" for model in rows.models()}
    if set(archive.names(DATABASE)) != theirs:
        raise BackupError("The archive is not sound: its tables are not those of its manifest.")


def exchange(archive: Reader, *, new: Path, force: bool) -> None:
    """Write the rows, then exchange the files, then commit; a failure anywhere undoes all three."""
    with media.swapping(new) as swap, transaction.atomic(durable=True):
        if not force:
            check_empty()
        empty_tables()
        fill_tables(archive)
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


def fill_tables(archive: Reader) -> None:
    """Insert all rows, and let new keys begin after the restored ones."""
    models = rows.models()
    for model in models:
        table = model._meta.db_table
        n = rows.write(model, rows=archive.rows(table))
        if n != archive.manifest["tables"][table]:
            raise BackupError(
                f"The archive is not sound: {table} has {n} rows, and its manifest says otherwise."
            )
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
