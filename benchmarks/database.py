"""The empty database of a benchmark: migrated, or a copy of one that is, where somebody runs many of them."""

import os
import shutil
from pathlib import Path

NAME = "db.sqlite3"  # in a data folder
COPIED = "BENCHMARK_DATABASE"  # a variable: the file of a SQLite database that is migrated and empty


def migrate() -> None:
    """Migrate the database of this process. One on SQLite begins as a copy of that which COPIED names."""
    from django.core.management import call_command
    from django.db import connection

    if connection.vendor == "sqlite":
        copy_to(Path(connection.settings_dict["NAME"]))
    call_command("migrate", verbosity=0)


def copy_to(path: Path) -> None:
    """Put the database that COPIED names where it is to be migrated; nothing where it names none."""
    if made := os.environ.get(COPIED):
        shutil.copyfile(made, path)
