"""Scores and CSVs from a file of results, whoever ran the study."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.aggregation import UnknownSystemError
from surveys.definitions import DEFINITIONS
from surveys.exports import LayoutError, make_report, method_for, report_text, result_writers, write_files
from surveys.frames import Frame, Pseudonyms, SourceError
from surveys.frames.sources import read_results


class Command(BaseCommand):
    help = (
        "Read MTurk's batch results (CSV), VTT's human scores (JSONL, any number of files) or raw responses (CSV), and "
        "write processed, tidy and summary files."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="One CSV, or JSONL files.")
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="Where the files go.")
        parser.add_argument(
            "--legacy",
            action="store_true",
            help="As published: OFA-X's processed files byte for byte; for VTT the authors' table and test.",
        )
        parser.add_argument(
            "--against",
            default="",
            metavar="SYSTEM",
            help="The system the others are compared with (default: the reference, or the best system).",
        )
        parser.add_argument(
            "--system", default="model", help="Name of the model in MTurk's file (default: model)."
        )
        parser.add_argument(
            "--definition",
            choices=sorted(DEFINITIONS),
            help="Default: found out from the file; JSONL is VTT's.",
        )
        parser.add_argument(
            "--pseudonym-key", default="", help="Key for worker pseudonyms (default: SECRET_KEY)."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            frame = _read(options)
            method = method_for(frame, legacy=options["legacy"])
            report = make_report(frame, against=options["against"], method=method)
            writers = result_writers(frame, legacy=options["legacy"], against=options["against"])
            paths = write_files(options["out"], writers=writers)
        except (SourceError, LayoutError, UnknownSystemError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename or options['out']}: {error.strerror}") from error
        self.stdout.write(report_text(report))
        self.stdout.write("written: " + ", ".join(str(path) for path in paths))


def _read(options: dict[str, Any]) -> Frame:
    return read_results(
        options["files"],
        system=options["system"],
        definition=DEFINITIONS.get(options["definition"]),
        pseudonyms=Pseudonyms(options["pseudonym_key"]),
    )
