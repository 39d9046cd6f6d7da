"""Scores and CSVs from files of results, whoever ran the studies; several are compared in one report."""

import re
from argparse import ArgumentTypeError
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import django
from django.apps import apps
from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.protocols.registry import DEFINITIONS
from surveys.results.files.across import (
    across_text,
    write_comparison,
    write_differences,
    write_pairing,
    write_studies,
)
from surveys.results.files.frame_layouts import method_for, result_writers
from surveys.results.files.pairs import LayoutError
from surveys.results.files.report import make_report
from surveys.results.files.report_text import report_text
from surveys.results.files.writing import write_files
from surveys.results.frames.base import Frame
from surveys.results.frames.csv_table import SourceError
from surveys.results.frames.pseudonyms import Pseudonyms
from surveys.results.frames.sources import names_of, read_results, sources_of
from surveys.results.statistics.across import Study, compare_studies
from surveys.results.statistics.comparison import UnknownSystemError

ACROSS = {
    "studies.csv": write_studies,
    "pairing.csv": write_pairing,
    "differences.csv": write_differences,
    "comparison.json": write_comparison,
}


class Command(BaseCommand):
    help = (
        "Read MTurk's batch results (CSV), VTT's human scores (JSONL) or raw responses (CSV), and write processed, "
        "tidy and summary files. Several studies are compared in one report instead: a CSV is a study each, all JSONL "
        "files are one, and so is each batch."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", type=Path, nargs="*", metavar="FILE", help="CSV or JSONL files.")
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
            "--system",
            default="model",
            metavar="NAME[,NAME]",
            help="Name of the model in MTurk's file (default: model); of several files one for all, or one each.",
        )
        parser.add_argument(
            "--definition",
            choices=sorted(DEFINITIONS),
            help="Default: found out from the file; JSONL is VTT's.",
        )
        parser.add_argument(
            "--pseudonym-key", default="", help="Key for worker pseudonyms (default: SECRET_KEY)."
        )
        parser.add_argument(
            "--batch",
            action="append",
            default=[],
            metavar="NAME",
            help="A batch of this installation, as one study more; any number of times.",
        )
        parser.add_argument(
            "--survey",
            action="append",
            default=[],
            metavar="SLUG",
            help="All batches of a survey, as one study more each; any number of times.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            told, paths = _evaluated(options)
        except (SourceError, LayoutError, UnknownSystemError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename or options['out']}: {error.strerror}") from error
        self.stdout.write(told)
        self.stdout.write("written: " + ", ".join(str(path) for path in paths))


def _accuracy(text: str) -> tuple[str, float]:
    system, _, share = text.partition("=")
    if not system or not re.fullmatch(r"0(\.\d+)?|1(\.0+)?|\.\d+", share):
        raise ArgumentTypeError(f"{text!r} is not SYSTEM=SHARE with a share from 0 to 1")
    return system, float(share)


def _with_accuracies(frame: Frame, accuracies: dict[str, float]) -> Frame:
    if unknown := set(accuracies) - set(frame.models):
        raise UnknownSystemError(f"There is no model {min(unknown)!r}; there is {', '.join(frame.models)}.")
    return replace(frame, accuracies={**frame.accuracies, **accuracies})


def _evaluated(options: dict[str, Any]) -> tuple[str, list[Path]]:
    """Write the files; return what to print, and their paths."""
    studies = [*_studies(options), *_batches(options)]
    if not studies:
        raise CommandError("Name a file, --batch or --survey.")
    if len(studies) > 1:
        return _several(studies, options)
    return _one(_with_accuracies(studies[0].frame, dict(options["accuracy"])), options)


def _one(frame: Frame, options: dict[str, Any]) -> tuple[str, list[Path]]:
    method = method_for(frame, legacy=options["legacy"])
    report = make_report(frame, against=options["against"], method=method)
    writers = result_writers(frame, legacy=options["legacy"], against=options["against"], report=report)
    return report_text(report), write_files(options["out"], writers=writers)


def _several(studies: list[Study], options: dict[str, Any]) -> tuple[str, list[Path]]:
    if options["legacy"] or options["against"] or options["accuracy"]:
        raise CommandError(
            "--legacy, --against and --accuracy are for one study; several are compared each with each."
        )
    found = compare_studies(studies)
    writers = {name: partial(write, found) for name, write in ACROSS.items()}
    return across_text(found), write_files(options["out"], writers=writers)


def _studies(options: dict[str, Any]) -> list[Study]:
    sources = sources_of(options["files"])
    systems = options["system"].split(",")
    if len(systems) not in (1, len(sources)):
        raise CommandError(f"--system names {len(systems)} systems for {len(sources)} studies.")
    systems = systems * len(sources) if len(systems) == 1 else systems
    return [
        Study(name, _read(paths, system, options))
        for name, paths, system in zip(names_of(sources), sources, systems, strict=True)
    ]


def _read(paths: list[Path], system: str, options: dict[str, Any]) -> Frame:
    return read_results(
        paths,
        system=system,
        definition=DEFINITIONS.get(options["definition"]),
        pseudonyms=Pseudonyms(options["pseudonym_key"]),
    )


def _batches(options: dict[str, Any]) -> list[Study]:
    """Return the published batches that are named, each once."""
    if not (options["batch"] or options["survey"]):
        return []
    if not apps.ready:
        django.setup()  # manage.py starts this command without the apps: files need none
    from surveys.models import Batch
    from surveys.results.frames.database import read_batch

    published = Batch.objects.exclude(status=Batch.Status.DRAFT).order_by("published_at", "pk")
    found = {name: list(published.filter(name=name)) for name in options["batch"]}
    found |= {slug: list(published.filter(survey__slug=slug)) for slug in options["survey"]}
    if missing := [name for name, batches in found.items() if not batches]:
        raise CommandError(f'There is no published batch of "{missing[0]}".')
    pseudonyms = Pseudonyms(options["pseudonym_key"])
    chosen = {batch.pk: batch for batches in found.values() for batch in batches}
    return [Study(batch.name, read_batch(batch, pseudonyms=pseudonyms)) for batch in chosen.values()]
