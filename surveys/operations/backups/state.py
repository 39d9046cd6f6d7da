"""What an archive and a database must have in common: migrations, tables and columns, and the secret key."""

import hmac
import platform
from typing import Any

import django
from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from surveys.operations.backups import rows
from surveys.operations.backups.archive import BackupError

# `migrate` itself fills these; a database with nothing else is empty.
FILLED_BY_MIGRATE = {"django_content_type", "auth_permission"}


def describe() -> dict[str, Any]:
    """Return what the manifest says about the program and the database's shape."""
    return {
        "made_at": timezone.now().isoformat(timespec="seconds"),
        "versions": {"django": django.get_version(), "python": platform.python_version()},
        "database": connection.vendor,
        "migrations": migrations(),
        "columns": shape(),
        "key": key_print(),
    }


def migrations() -> list[str]:
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(f"{app}.{name}" for app, name in applied)


def shape() -> dict[str, list[str]]:
    return {model._meta.db_table: rows.columns(model) for model in rows.models()}


def key_print() -> str:
    """Return a mark by which SECRET_KEY is known again, and which doesn't give it away."""
    return hmac.digest(settings.SECRET_KEY.encode(), b"backup", "sha256").hex()[:16]


def check_fit(manifest: dict[str, Any]) -> None:
    """Raise BackupError unless the archive's migrations and tables are this database's."""
    theirs, ours = set(manifest["migrations"]), set(migrations())
    if theirs != ours:
        raise BackupError(
            "The archive was made by another version: migrations "
            f"only in the archive: {listed(theirs - ours)}; only here: {listed(ours - theirs)}. "
            "Run the version it was made with, and its migrate, then restore."
        )
    if manifest["columns"] != shape():
        raise BackupError("The archive was made by another version: its tables have other columns.")


def listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def is_empty() -> bool:
    """Say whether the database holds nothing but what `migrate` puts there."""
    mine = [model for model in rows.models() if model._meta.db_table not in FILLED_BY_MIGRATE]
    return not any(model._base_manager.exists() for model in mine)
