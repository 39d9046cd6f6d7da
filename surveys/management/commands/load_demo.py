"""The demo studies: one of each survey type, with a batch that is ready to publish."""

from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from surveys import sync
from surveys.answering.invitations import address
from surveys.models import Batch, Survey
from surveys.publishing import questionnaires
from surveys.rehearsal.demo_studies import FOLDER, STUDIES, demo_batch, demo_survey, guest_of


class Command(BaseCommand):
    help = "Load the demo surveys and their draft batches; what is there already stays as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--folder", type=Path, default=FOLDER, help="laid out as fixtures/demo (default: ours)"
        )
        parser.add_argument(
            "--publish", action="store_true", help="publish the batches that are still drafts"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        for study in STUDIES:
            survey = demo_survey(study, folder=options["folder"])
            batch = demo_batch(study, survey=survey)
            if options["publish"] and questionnaires.start_publishing(batch):
                transaction.on_commit(partial(sync.publish_batch.delay, batch.pk))
            self.tell(survey, batch=batch)

    def tell(self, survey: Survey, *, batch: Batch) -> None:
        self.stdout.write(
            f'"{survey}": {survey.items.count()} items. "{batch}": {batch.get_status_display()}.'
        )
        if batch.takes_links:
            self.stdout.write(f"  For an annotator: {address(guest_of(batch))}")
