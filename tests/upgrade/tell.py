"""What today's code says of an installation that was brought up to date; `manage.py shell` asks, in its own process."""

import json
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.test import override_settings

from tests.upgrade.doors import doors
from tests.upgrade.facts import facts

PLAIN_STATIC = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
RAW = ("raw", "responses", "annotations")


def tell(folder: Path, *, keys: dict[str, Any]) -> None:
    """Write the facts, an archive, every file of every batch, and what `keys` open, into an empty folder.

    What changes rows comes last: asking for worker ids, what is due on the marketplace by now, the doors.
    """
    (folder / "facts.json").write_text(json.dumps(facts()))
    stale = [str(kind) for kind in ContentType.objects.all() if kind.model_class() is None]
    (folder / "stale.json").write_text(json.dumps(stale))
    call_command("backup", folder / "all.zip")
    for batch in apps.get_model("surveys.Batch").objects.select_related("survey"):
        place = folder / batch.survey.slug
        call_command("export_batch", batch.name, out=place)
        raw = [name for name in RAW if list(place.glob(f"{name}.*"))]
        why = {"worker_ids": True, "reason": "To compare them."}
        call_command("export_batch", batch.name, out=place / "with-ids", layout=raw, **why)
    call_command("marketplace_ledger")
    with override_settings(STORAGES=settings.STORAGES | PLAIN_STATIC):
        (folder / "doors.json").write_text(json.dumps(doors(keys)))
