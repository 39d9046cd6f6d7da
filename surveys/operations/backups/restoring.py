"""Putting a backup back: all of it or nothing."""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.core.management.color import no_style
from django.db import DatabaseError, connection, transaction

from annotators.outbox import journal
from surveys.operations import erased, reconciling
from surveys.operations.backups import media, rows, state, upgrading
from surveys.operations.backups.archive import UNREADABLE, BackupError, Reader, verified
from surveys.operations.backups.making import Summary, summarise
from surveys.operations.erasing_again import erase_again

UNFIT = (*UNREADABLE, DatabaseError, ValidationError, TypeError, LookupError, AttributeError)


def restore(path: Path, *, force: bool = False, erasures: Iterable[erased.Line] = ()) -> Summary:
    """Replace the database's rows and the media files by those of an archive, migrated if an older version made it.

    Whoever was erased since it was made, as `erasures` tell, is erased again before anybody sees them.

    Every checksum is compared before anything is touched. BackupError, with everything as it was, if the archive is
    damaged or of a newer version, or if there are rows or files and `force` is not given.
    """
    media.discard_dead()
    with verified(path, room=shutil.disk_usage(media.root()).free) as archive:
        try:
            n_migrations = state.n_behind(archive.manifest)
            archive.check_tables()
            summary = summarise(archive.manifest)
            with up_to_date(archive, n_migrations=n_migrations) as tables, media.staged(archive) as new:
                n_erased = exchange(tables, new=new, force=force, erasures=erasures)
        except UNFIT as error:
            raise BackupError(f"The archive can't be restored, and nothing was changed: {error}") from error
        finally:
            ContentType.objects.clear_cache()
    media.discard_dead(former_too=True)
    return replace(summary, n_migrations=n_migrations, n_erased=n_erased)


@contextmanager
def up_to_date(archive: Reader, *, n_migrations: int) -> Iterator[rows.Tables]:
    """Give the archive's rows as today's tables have them."""
    if n_migrations:
        with upgrading.migrated(archive, folder=media.root()) as tables:
            yield tables
    else:
        yield archive


def exchange(tables: rows.Tables, *, new: Path, force: bool, erasures: Iterable[erased.Line]) -> int:
    """Write the rows, then exchange the files, then commit; a failure anywhere undoes all three.

    Return how many people were erased again.
    """
    with media.swapping(new) as swap, transaction.atomic(durable=True):
        if not force:
            check_empty()
        empty_tables()
        fill_tables(tables)
        ContentType.objects.clear_cache()
        n_erased = erase_again(erasures)
        journal.distrust_plans()
        reconciling.hold_after_restore()
        connection.check_constraints()
        swap()
    return n_erased


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
