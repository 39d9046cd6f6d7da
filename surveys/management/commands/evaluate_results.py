"""Scores and CSVs from a file of results, whoever ran the study."""

import re
from argparse import ArgumentTypeError
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.protocols.registry import DEFINITIONS
from surveys.results.files.layouts import method_for, result_writers, write_files
from surveys.results.files.pairs import LayoutError
from surveys.results.files.report import make_report, report_text
from surveys.results.frames.base import Frame
from surveys.results.frames.csv_table import SourceError
from surveys.results.frames.pseudonyms import Pseudonyms
from surveys.results.frames.sources import read_results
from surveys.results.statistics.comparison import UnknownSystemError


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
            "--accuracy",
            action="append",
            default=[],
            type=_accuracy,
            metavar="SYSTEM=SHARE",
            help="Share of right answers on the whole test set, 0 to 1: S_T, where rated items can't tell it.",
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
            frame = _with_accuracies(_read(options), dict(options["accuracy"]))
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


def _accuracy(text: str) -> tuple[str, float]:
    system, _, share = text.partition("=")
    if not system or not re.fullmatch(r"0(\.\d+)?|1(\.0+)?|\.\d+", share):
        raise ArgumentTypeError(f"{text!r} is not SYSTEM=SHARE with a share from 0 to 1")
    return system, float(share)


def _with_accuracies(frame: Frame, accuracies: dict[str, float]) -> Frame:
    if unknown := set(accuracies) - set(frame.models):
        raise UnknownSystemError(f"There is no model {min(unknown)!r}; there is {', '.join(frame.models)}.")
    return replace(frame, accuracies=accuracies)


def _read(options: dict[str, Any]) -> Frame:
    return read_results(
        options["files"],
        system=options["system"],
        definition=DEFINITIONS.get(options["definition"]),
        pseudonyms=Pseudonyms(options["pseudonym_key"]),
    )
