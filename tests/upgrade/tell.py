"""What today's code says of an installation that was brought up to date; `manage.py shell` asks, in its own process."""

import json
from pathlib import Path

from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command

from tests.upgrade.facts import facts

RAW = ("raw", "responses", "annotations")


def tell(folder: Path) -> None:
    """Write the facts, an archive and every file of every batch into an empty folder.

    What asking for worker ids adds to the audit trail, and what is due on the marketplace by now, comes last.
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
