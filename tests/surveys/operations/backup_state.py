"""All there is, to compare; and an end to it."""

import shutil
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command

from surveys.operations.backups import rows

Everything = tuple[dict[str, list[list[Any]]], dict[str, bytes]]


def everything() -> Everything:
    """Every row of every table, and every media file."""
    tables = {model._meta.db_table: list(rows.read(model)) for model in rows.models()}
    root = Path(settings.MEDIA_ROOT)
    found = [path for path in root.rglob("*") if path.is_file()]
    return tables, {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def destroy() -> None:
    call_command("flush", interactive=False, verbosity=0)
    shutil.rmtree(settings.MEDIA_ROOT)
