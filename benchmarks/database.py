"""The empty site of a benchmark: made, or a copy of one that is, where somebody runs many of them."""

import os
import shutil
from pathlib import Path

NAME = "db.sqlite3"  # in a data folder
STATIC = "static"  # there, too
COPIED = "BENCHMARK_FOLDER"  # a variable: a data folder of a migrated, empty database and all static files
# A variable: the data folder of a PostgreSQL that is stopped, with such a database, as tests make it.
POSTGRES = "BENCHMARK_POSTGRES"


def migrate() -> None:
    """Migrate the database of this process. One on SQLite is a copy of that which COPIED names, and needs nothing."""
    from django.core.management import call_command
    from django.db import connection

    if connection.vendor == "sqlite" and copy_to(Path(connection.settings_dict["NAME"])):
        return
    call_command("migrate", verbosity=0)


def copy_to(path: Path) -> bool:
    """Put the database of COPIED where one is to be migrated; False where it names none."""
    made = os.environ.get(COPIED)
    if made:
        shutil.copyfile(Path(made, NAME), path)
    return bool(made)


def collect_static() -> None:
    """Collect the static files of this process, or copy those of COPIED."""
    from django.conf import settings
    from django.core.management import call_command

    if made := os.environ.get(COPIED):
        shutil.copytree(Path(made, STATIC), settings.STATIC_ROOT)
    else:
        call_command("collectstatic", interactive=False, verbosity=0)
