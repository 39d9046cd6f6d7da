"""The files of one batch, as the download buttons of its page give them."""

import getpass
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys import audit
from surveys.management.batches import find_batch
from surveys.models import Batch
from surveys.results.files.layouts import LAYOUTS, batch_writers, layouts_for
from surveys.results.files.pairs import LayoutError
from surveys.results.files.writing import count_rows, write_files


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
        parser.add_argument(
            "--worker-ids",
            action="store_true",
            help="Raw files name workers as the marketplace does. That you asked goes into the audit trail.",
        )
        parser.add_argument("--reason", default="", help="What the ids are for; needed with --worker-ids.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["worker_ids"] and not options["reason"].strip():
            raise CommandError("--worker-ids needs --reason: what the ids are for.")
        batch = find_batch(options["batch"])
        names = options["layout"] or list(layouts_for(batch))
        raw = {
            LAYOUTS[name].filename: name for name in names if options["worker_ids"] and LAYOUTS[name].is_raw
        }
        try:
            paths = write_files(
                options["out"],
                writers=batch_writers(batch, names=names, worker_ids=options["worker_ids"]),
                before_moving=partial(_record, batch, raw, options["reason"]),
            )
        except LayoutError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{options['out']}: {error.strerror}") from error
        self.stdout.write("written: " + ", ".join(str(path) for path in paths))


def _record(batch: Batch, raw: Mapping[str, str], reason: str, files: Mapping[str, Path]) -> None:
    """Write down that files with worker ids, {file name: layout}, were asked for on the command line."""
    for filename, name in raw.items():
        with files[filename].open("rb") as file:
            n_rows = count_rows(file, content_type=LAYOUTS[name].content_type)
        details = {"file": filename, "rows": n_rows, "account": getpass.getuser()}
        audit.record(audit.Kind.DOWNLOAD, name, batch=batch, reason=reason, details=details)
