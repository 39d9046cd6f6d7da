"""The files of one batch, as the download buttons of its page give them."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.exports import LAYOUTS, LayoutError, batch_writers, layouts_for, write_files
from surveys.models import Batch


class Command(BaseCommand):
    help = "Write a batch's results: raw, processed, legacy, tidy, summary."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("batch", help="The batch's name or number.")
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="Where the files go.")
        parser.add_argument(
            "--layout",
            action="append",
            choices=sorted(LAYOUTS),
            help="Only this layout; may be repeated (default: all the survey type has).",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        batch = _find(options["batch"])
        names = options["layout"] or list(layouts_for(batch))
        try:
            paths = write_files(options["out"], writers=batch_writers(batch, names=names))
        except LayoutError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{options['out']}: {error.strerror}") from error
        self.stdout.write("written: " + ", ".join(str(path) for path in paths))


def _find(name: str) -> Batch:
    batches = Batch.objects.select_related("survey")
    found = batches.filter(name=name).first()
    if found is None and name.isdecimal():
        found = batches.filter(pk=int(name)).first()
    if found is None:
        raise CommandError(f"There is no batch {name!r}.")
    return found
