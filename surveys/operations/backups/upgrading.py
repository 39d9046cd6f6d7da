"""The rows of an older version's archive, migrated as an installation's are: by `migrate`, data migrations included.

That happens in a SQLite database that nobody else sees. It is migrated to where the archive was made, takes the rows,
and is migrated on; its rows are then what an archive of today would hold. The present database is not touched
meanwhile, and whatever goes wrong here leaves it as it was.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.apps.registry import Apps
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.graph import MigrationGraph
from django.db.utils import ConnectionHandler

from surveys.operations.backups import folders, rows
from surveys.operations.backups.archive import OWN, BackupError, Reader
from surveys.operations.backups.state import Migrations, SingleMigrations, migrations_of

# The database is gone in a minute, so nothing has to reach the disk.
QUICK = "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF;"


@dataclass(frozen=True)
class Written:
    """Rows in a folder, one JSON array a line, as they are in an archive."""

    folder: Path
    columns: dict[str, list[str]]
    n_rows: dict[str, int]

    def rows(self, table: str) -> Iterator[list[Any]]:
        with (self.folder / table).open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


@contextmanager
def migrated(archive: Reader, *, folder: Path) -> Iterator[Written]:
    """Give the archive's rows as today's tables have them. BackupError if they can't be migrated.

    Until the end of the block they lie below `folder`.
    """
    with folders.working(folder, prefix=OWN) as own:
        database = own / "db.sqlite3"
        with another_database(file_of_its_own(database)):
            load(archive, registry=migrate_to(archive))
            migrate_on()
            written = write(own)
        database.unlink()
        yield written


def file_of_its_own(path: Path) -> dict[str, Any]:
    """Return the place of a database that is a file of nobody else's."""
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(path), "OPTIONS": {"init_command": QUICK}}


@contextmanager
def another_database(place: dict[str, Any]) -> Iterator[None]:
    """Let this thread work in the block with the database at `place`, as settings name one, instead of the present."""
    live, other = (
        connections[DEFAULT_DB_ALIAS],
        ConnectionHandler({DEFAULT_DB_ALIAS: dict(place)})[DEFAULT_DB_ALIAS],
    )
    connections[DEFAULT_DB_ALIAS] = other
    ContentType.objects.clear_cache()
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = live
        other.close()
        ContentType.objects.clear_cache()


def migrate_to(archive: Reader) -> Apps:
    """Migrate the empty database to the archive's migrations; return the models as they were then."""
    executor = MigrationExecutor(connection)
    theirs = migrations_of(archive.manifest, loader=SingleMigrations())
    executor.loader = loader = SingleMigrations(connection, quick=theirs)
    targets = last_of_each_app(loader.standing, graph=loader.graph)
    plan = executor.migration_plan(targets)
    if {(migration.app_label, migration.name) for migration, _ in plan} != loader.standing:
        raise BackupError("The archive is not sound: its manifest leaves out migrations that others need.")
    return executor.migrate(targets, plan=plan).apps


def last_of_each_app(migrations: Migrations, *, graph: MigrationGraph) -> list[tuple[str, str]]:
    """Return what to migrate to for all of them: to be told of one that others follow means to go back to it."""
    followed = {
        parent.key for key in migrations for parent in graph.node_map[key].parents if parent.key[0] == key[0]
    }
    return sorted(migrations - followed)


def load(archive: Reader, *, registry: Apps) -> None:
    """Insert the archive's rows into the tables of its time."""
    with transaction.atomic():
        rows.fill(rows.models(registry), tables=archive)
        connection.check_constraints()


def migrate_on() -> None:
    """Do what somebody does who upgrades. A data migration may fail with anything."""
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except Exception as error:
        raise BackupError(
            f"The archive's rows can't be migrated, and nothing was changed: {error}"
        ) from error


def write(folder: Path) -> Written:
    """Write today's tables, a file for each."""
    models = {model._meta.db_table: model for model in rows.models()}
    n_rows = dict.fromkeys(models, 0)
    for table, model in models.items():
        with (folder / table).open("x", encoding="utf-8") as file:
            for row in rows.read(model):
                file.write(json.dumps(row) + "\n")
                n_rows[table] += 1
    return Written(folder, {table: rows.columns(model) for table, model in models.items()}, n_rows)
