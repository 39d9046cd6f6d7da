"""Scores and CSVs from an MTurk batch results file, whoever ran the study."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.definitions import DEFINITIONS
from surveys.exports import make_report, report_text, result_writers, write_files
from surveys.frames import Frame, Pseudonyms, SourceError
from surveys.frames.mturk_csv import read_mturk_csv


class Command(BaseCommand):
    help = "Read an MTurk batch results CSV and write processed, filtered, tidy and summary files."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("raw", type=Path, metavar="RAW.csv", help="Batch results as MTurk writes them.")
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="Where the four files go.")
        parser.add_argument(
            "--legacy",
            action="store_true",
            help="Processed files byte for byte as OFA-X's script wrote them.",
        )
        parser.add_argument("--system", default="model", help="Name of the model (default: model).")
        parser.add_argument(
            "--definition", choices=sorted(DEFINITIONS), help="Default: found out from the file."
        )
        parser.add_argument(
            "--pseudonym-key", default="", help="Key for worker pseudonyms (default: SECRET_KEY)."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        frame = _read(options)
        try:
            paths = write_files(options["out"], writers=result_writers(frame, legacy=options["legacy"]))
        except OSError as error:
            raise CommandError(f"{options['out']}: {error.strerror}") from error
        self.stdout.write(report_text(make_report(frame)))
        self.stdout.write("written: " + ", ".join(str(path) for path in paths))


def _read(options: dict[str, Any]) -> Frame:
    try:
        return read_mturk_csv(
            options["raw"],
            system=options["system"],
            definition=DEFINITIONS.get(options["definition"]),
            pseudonyms=Pseudonyms(options["pseudonym_key"]),
        )
    except SourceError as error:
        raise CommandError(f"{options['raw']}: {error}") from error
    except OSError as error:
        raise CommandError(f"{options['raw']}: {error.strerror}") from error
