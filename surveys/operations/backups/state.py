"""What an archive says about the program and the database it was made of, and whether this program can take it."""

import hmac
import platform
import re
from collections.abc import Set
from typing import Any

import django
from django.conf import settings
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from surveys.operations.backups import rows
from surveys.operations.backups.archive import BackupError

# `migrate` itself fills these; a database with nothing else is empty.
FILLED_BY_MIGRATE = {"django_content_type", "auth_permission"}
RELEASE = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})", re.ASCII)
Migrations = Set[tuple[str, str]]


class SingleMigrations(MigrationLoader):
    """The migrations of this version one by one, by which archives say where they stand; a squash is none of them.

    A database has made the same tables by either, and records both: docs/adr/0027. A squash that replaces nothing but
    what is in `quick` stands for it in the graph: an empty database gets there in a third of the time.
    """

    def __init__(
        self, connection: BaseDatabaseWrapper | None = None, *, quick: Migrations = frozenset()
    ) -> None:
        self.quick = quick
        super().__init__(connection, replace_migrations=False)

    def build_graph(self) -> None:
        super().build_graph()
        for squash, migration in self.replacements.items():
            if self.quick >= set(migration.replaces):
                self.graph.remove_replaced_nodes(squash, migration.replaces)
            else:
                self.graph.remove_replacement_node(squash, migration.replaces)
            del self.disk_migrations[squash]

    @property
    def standing(self) -> Migrations:
        """The migrations of `quick` as the graph names them."""
        squashes = {key for key in self.replacements if key in self.graph.nodes}
        replaced = {key for squash in squashes for key in self.replacements[squash].replaces}
        return self.quick - replaced | squashes


def describe() -> dict[str, Any]:
    """Return what the manifest says about the program and the database's shape."""
    versions = {"assent": settings.VERSION, "django": django.get_version()}
    return {
        "made_at": timezone.now().isoformat(timespec="seconds"),
        "versions": {**versions, "python": platform.python_version()},
        "database": connection.vendor,
        "migrations": sorted(".".join(migration) for migration in applied(SingleMigrations())),
        "columns": {model._meta.db_table: rows.columns(model) for model in rows.models()},
        "key": key_print(),
    }


def key_print() -> str:
    """Return a mark by which SECRET_KEY is known again, and which doesn't give it away."""
    return key_prints()[0]


def key_prints() -> list[str]:
    """Return the mark of SECRET_KEY, then those of its fallbacks."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [hmac.digest(key.encode(), b"backup", "sha256").hex()[:16] for key in keys]


def applied(loader: SingleMigrations) -> Migrations:
    """Return (app, name) of the migrations the present database's tables are the result of."""
    return set(MigrationRecorder(connection).applied_migrations()) - loader.replacements.keys()


def migrations_of(manifest: dict[str, Any], *, loader: SingleMigrations) -> Migrations:
    """Return (app, name) of the migrations an archive's tables are the result of.

    It names a squash if an older version made it of a database that this one, or a later, had migrated.
    """
    apps_and_names = [str(migration).partition(".") for migration in manifest["migrations"]]
    return {(app, name) for app, _, name in apps_and_names} - loader.replacements.keys()


def n_behind(manifest: dict[str, Any]) -> int:
    """Return how many migrations an archive's rows have to go through before this version can use them.

    BackupError for an archive of a newer version, and where the present database is not at this version's migrations.
    """
    loader = SingleMigrations()
    known, ours = set(loader.disk_migrations), applied(loader)
    theirs = check_known(manifest, loader=loader)
    if ours != known:
        raise BackupError(
            f"This database has not the migrations of this version, {settings.VERSION}: {listed(ours ^ known)}. "
            "Run migrate with the version that is to serve it, then restore."
        )
    return len(known - theirs)


def check_known(manifest: dict[str, Any], *, loader: SingleMigrations) -> Migrations:
    """Return the archive's migrations. BackupError unless this version can take it, whatever the database."""
    theirs = migrations_of(manifest, loader=loader)
    check_not_newer(manifest, unknown=theirs - set(loader.disk_migrations))
    return theirs


def check_not_newer(manifest: dict[str, Any], *, unknown: Migrations) -> None:
    """Raise BackupError if the archive names a later version than this, or migrations it does not have."""
    version = version_of(manifest)
    if number(version) > number(settings.VERSION):
        raise BackupError(
            f"The archive was made by Assent {version}, and this is {settings.VERSION}: "
            "install that version or a later one, then restore."
        )
    if unknown:
        raise BackupError(
            f"The archive was made by a newer version: this one, {settings.VERSION}, does not have "
            f"{listed(unknown)}. Install the version it was made with or a later one, then restore."
        )


def version_of(manifest: dict[str, Any]) -> str:
    """Return the version an archive was made with; before 0.1.0 none was written down."""
    version = manifest["versions"].get("assent", "0.0.0") if "versions" in manifest else "0.0.0"
    if not isinstance(version, str) or not RELEASE.fullmatch(version):
        raise BackupError("The archive is not sound: its manifest names no version of Assent.")
    return version


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def listed(migrations: Migrations) -> str:
    return ", ".join(sorted(".".join(migration) for migration in migrations))


def is_empty() -> bool:
    """Say whether the database holds nothing but what `migrate` puts there."""
    mine = [model for model in rows.models() if model._meta.db_table not in FILLED_BY_MIGRATE]
    return not any(model._base_manager.exists() for model in mine)
