"""The demo study: fifteen drawn pictures with questions, and a batch that is ready to publish."""

from argparse import ArgumentParser
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction

from annotators.models import Endpoint
from surveys import publishing, tasks
from surveys.definitions.evil import VQAX
from surveys.importing import FolderPictures, check_pictures, read_items, write_items
from surveys.models import Batch, Survey

FOLDER = Path(settings.BASE_DIR) / "fixtures" / "demo"
SLUG = "demo-vqa-x"
BATCH_NAME = "Demo batch"


class Command(BaseCommand):
    help = "Load the demo survey and its draft batch; what is there already stays as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--folder", type=Path, default=FOLDER, help="items.csv and pictures/ (default: ours)"
        )
        parser.add_argument(
            "--publish", action="store_true", help="publish the batch, if it is still a draft"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        survey = demo_survey(options["folder"])
        batch = demo_batch(survey)
        if options["publish"] and publishing.start_publishing(batch):
            transaction.on_commit(partial(tasks.publish_batch.delay, batch.pk))
        self.stdout.write(
            f'"{survey}": {survey.items.count()} items. "{batch}": {batch.get_status_display()}.'
        )


def demo_survey(folder: Path = FOLDER) -> Survey:
    """Return the demo survey, imported if it isn't there yet. ImportRefused if the folder's files are broken."""
    if found := Survey.objects.filter(slug=SLUG).first():
        return found
    survey = Survey(name="Demo: VQA-X", slug=SLUG, definition_key=VQAX.key)
    pictures = FolderPictures(folder / "pictures")
    plan = check_pictures(read_items((folder / "items.csv").read_bytes(), definition=VQAX), pictures=pictures)
    write_items(plan, survey=survey, pictures=pictures)
    return survey


def demo_batch(survey: Survey) -> Batch:
    """Return the demo batch, drafted if it isn't there yet."""
    terms = {
        "survey": survey,
        "endpoint": Endpoint.EMBEDDED,
        "title": VQAX.title,
        "description": VQAX.instructions.summary,
        "keywords": "pictures, questions, explanations, rating",
        "items_per_hit": 5,
        "assignments_per_hit": 5,
        "reward": Decimal("0.38"),
        "auto_approval_delay": timedelta(days=3),
    }
    batch, _ = Batch.objects.get_or_create(name=BATCH_NAME, defaults=terms)
    return batch
