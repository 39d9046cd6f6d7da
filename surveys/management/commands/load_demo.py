"""The demo studies: one of each survey type to try, and some that simulated people have answered."""

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
from surveys.rehearsal.demo_studies import ALL, FOLDER, STUDIES, demo_batch, demo_survey, guest_of
from surveys.simulating import asking


class Command(BaseCommand):
    help = "Load the demo surveys and their draft batches; what is there already stays as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--folder", type=Path, default=FOLDER, help="laid out as fixtures/demo (default: ours)"
        )
        parser.add_argument(
            "--publish",
            action="store_true",
            help="publish the batches that are drafts, bring in the studies of simulated people",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        for study in ALL if options["publish"] else STUDIES:
            survey = demo_survey(study, folder=options["folder"])
            batch = demo_batch(study, survey=survey)
            if options["publish"] and not study.is_draft:
                begin(batch, people=study.people)
            self.tell(survey, batch=batch)
        if options["publish"]:
            transaction.on_commit(sync.score_surveys.delay)

    def tell(self, survey: Survey, *, batch: Batch) -> None:
        self.stdout.write(
            f'"{survey}": {survey.items.count()} items. "{batch}": {batch.get_status_display()}.'
        )
        if batch.takes_links and not batch.is_simulated:
            self.stdout.write(f"  For an annotator: {address(guest_of(batch))}")


def begin(batch: Batch, *, people: int) -> None:
    """Publish a draft, or ask for its simulated people; the worker does the rest."""
    if people:
        simulation = asking.begin(batch, n_people=people, by=None)
        if simulation.ended_at is None:
            transaction.on_commit(partial(sync.simulate.delay, batch.pk, simulation.turn))
    elif questionnaires.start_publishing(batch):
        transaction.on_commit(partial(sync.publish_batch.delay, batch.pk))
