"""All there is, to compare, and an end to it; an archive somebody has changed, and what is said of it."""

import json
import shutil
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Model

from surveys.operations.backups import rows

Everything = tuple[dict[str, list[tuple[Any, ...]]], dict[str, bytes]]
Members = dict[str, bytes]


def everything() -> Everything:
    """Every row of every table as the database has it, which need not be made into models, and every media file."""
    with connection.cursor() as cursor:
        tables = {model._meta.db_table: stored(cursor, model) for model in rows.models()}
    root = Path(settings.MEDIA_ROOT)
    found = [path for path in root.rglob("*") if path.is_file()]
    return tables, {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def stored(cursor: CursorWrapper, model: type[Model]) -> list[tuple[Any, ...]]:
    table, key = map(connection.ops.quote_name, (model._meta.db_table, str(model._meta.pk.column)))
    cursor.execute(f"SELECT * FROM {table} ORDER BY {key}")
    return [*cursor.fetchall()]


def destroy() -> None:
    call_command("flush", interactive=False, verbosity=0)
    shutil.rmtree(settings.MEDIA_ROOT)


def refused(path: Path) -> str:
    """What the restore says, having changed nothing."""
    before = everything()
    with pytest.raises(CommandError) as refusal:
        call_command("restore", str(path), "--force")
    assert everything() == before
    return str(refusal.value)


def remade(path: Path, *, change: Callable[[Members, dict[str, Any]], Any]) -> Path:
    """The archive with members or manifest changed."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    change(members, manifest)
    with zipfile.ZipFile(path.with_name("changed.zip"), "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in members.items():
            new.writestr(name, data)
        new.writestr("manifest.json", json.dumps(manifest))
    return path.with_name("changed.zip")


def vouched(members: Members, manifest: dict[str, Any], *, name: str, data: bytes) -> None:
    """Put a member in, with a manifest that vouches for it: what somebody who means harm would do."""
    members[name] = data
    manifest["members"][name] = {"size": len(data), "sha256": sha256(data).hexdigest()}


def without_hold(found: Everything) -> Everything:
    """Leave out what a restore adds: nothing is sent until somebody has compared the books."""
    tables, files = found
    return {name: values for name, values in tables.items() if name != "annotators_hold"}, files
