"""The empty database of a benchmark: migrated, or a copy of one that is, where somebody runs many of them."""

import os
import shutil

COPIED = "BENCHMARK_DATABASE"  # a variable: the file of a SQLite database that is migrated and empty


def migrate() -> None:
    """Migrate the database of this process. One on SQLite begins as a copy of that which COPIED names."""
    from django.core.management import call_command
    from django.db import connection

    made = os.environ.get(COPIED)
    if made and connection.vendor == "sqlite":
        shutil.copyfile(made, connection.settings_dict["NAME"])
    call_command("migrate", verbosity=0)
