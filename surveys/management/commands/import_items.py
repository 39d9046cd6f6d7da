"""Bring a batch CSV, a long CSV or JSONL, and its pictures, into a survey."""

import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from surveys.models import Protocol, Survey
from surveys.protocols.registry import DEFINITIONS
from surveys.studies.importing.arrow import ArrowError, is_arrow_path, unpack
from surveys.studies.importing.fetching import open_pictures
from surveys.studies.importing.pictures import PictureError, Pictures, check_pictures
from surveys.studies.importing.plan import Layout, Plan, Problem
from surveys.studies.importing.reading import read_items
from surveys.studies.importing.writing import (
    ImportRefused,
    attach_pictures,
    taken_ids,
    told_otherwise,
    waiting_kinds,
    write_items,
)

SHOWN_PROBLEMS = 50


class Command(BaseCommand):
    requires_system_checks = []  # they load every page
    help = "Import items, outputs and pictures: all of the file, or nothing and every problem with its place."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            nargs="*",
            type=Path,
            help="CSV, Excel (.xlsx), JSONL, Parquet, or the folder of a data set; several: all or none",
        )
        parser.add_argument("--survey", required=True, metavar="SLUG", help="the survey's short name")
        parser.add_argument(
            "--definition", metavar="TYPE", help="survey type, built in or kept here, to create the survey"
        )
        parser.add_argument(
            "--column",
            action="append",
            default=[],
            metavar="OURS=THEIRS",
            help="what a column is called in the file: explanation=my_output; repeatable",
        )
        parser.add_argument("--name", default="", help="name of the survey to create")
        parser.add_argument("--images", default="", metavar="PLACE", help="folder, ZIP or URL prefix")
        parser.add_argument(
            "--system", default="model", help="who said the outputs of a batch CSV (default: model)"
        )
        parser.add_argument(
            "--layout", choices=[*Layout], default=Layout.AUTO, help="default: look at the file"
        )
        parser.add_argument("--accept-warnings", action="store_true")
        parser.add_argument(
            "--allow-missing-images", action="store_true", help="import without; attach them later"
        )
        parser.add_argument(
            "--attach", action="store_true", help="bring only pictures that are missing so far"
        )
        parser.add_argument("--dry-run", action="store_true", help="read and check, write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["attach"]:
                self._attach(options)
            elif options["file"]:
                self._import(options)
            else:
                raise CommandError("Name the file to import, or --attach to bring missing pictures.")
        except ImportRefused as refused:
            self._show(refused.problems)
            raise CommandError("Nothing was written.") from None
        except PictureError as error:
            raise CommandError(str(error)) from None

    def _import(self, options: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self._import_read({**options, **_unpacked(options, into=Path(folder))})

    def _import_read(self, options: dict[str, Any]) -> None:
        survey = _survey(options)
        plans = list(_plans(options, survey=survey))
        kinds = {name: kind for plan in plans for name, kind in plan.kinds.items()}
        is_broken = any(plan.errors for plan in plans)
        with open_pictures(
            "" if is_broken else options["images"], names=kinds.keys(), kinds=kinds
        ) as pictures:
            if not is_broken:
                allow = options["allow_missing_images"]
                plans = [check_pictures(plan, pictures=pictures, allow_missing=allow) for plan in plans]
            plan = _in_one(plans, files=options["file"])
            self._finish(plan, survey=survey, pictures=pictures, options=options)

    def _finish(
        self, plan: Plan, *, survey: Survey, pictures: Pictures | None, options: dict[str, Any]
    ) -> None:
        self._show(plan.problems)
        if plan.columns and not options["column"]:
            pairs = ", ".join(f"{ours}={theirs or 'none'}" for ours, theirs in plan.columns.items())
            self.stderr.write(f"Columns as in the last file that had the same: {pairs}.")
        if plan.errors and plan.header and not plan.items:
            self.stderr.write(f"Columns of the file: {', '.join(plan.header)}.")
        if plan.errors:
            raise CommandError(f"{_count(len(plan.errors), 'error')}. Nothing was written.")
        if plan.warnings and not options["accept_warnings"]:
            raise CommandError(
                f"{_count(len(plan.warnings), 'warning')}. Nothing was written; "
                "repeat with --accept-warnings if they are fine."
            )
        if not options["dry_run"]:
            write_items(plan, survey=survey, pictures=pictures, accept_warnings=options["accept_warnings"])
        self.stdout.write(_summary(plan, survey=survey, is_dry=options["dry_run"]))

    def _attach(self, options: dict[str, Any]) -> None:
        survey = Survey.objects.filter(slug=options["survey"]).first()
        if survey is None:
            raise CommandError(f'There is no survey "{options["survey"]}".')
        kinds = waiting_kinds(survey)
        with open_pictures(options["images"], names=kinds.keys(), kinds=kinds) as pictures:
            if pictures is None:
                raise CommandError("Say where the pictures are: --images FOLDER, ZIP or URL.")
            attached = attach_pictures(survey, pictures=pictures)
        self.stdout.write(
            f"{_count(attached.n_attached, 'picture')} attached, {len(attached.missing)} still missing."
        )

    def _show(self, problems: tuple[Problem, ...]) -> None:
        if not problems:
            return
        self.stderr.write(f"{'':8} {'row':>6} {'line':>6}  {'column':20} problem")
        for problem in problems[:SHOWN_PROBLEMS]:
            row, line = problem.row or "", problem.line or ""
            message = f"{problem.file}: {problem.message}" if problem.file else problem.message
            self.stderr.write(f"{problem.severity:8} {row:>6} {line:>6}  {problem.column:20} {message}")
        if len(problems) > SHOWN_PROBLEMS:
            self.stderr.write(f"... and {len(problems) - SHOWN_PROBLEMS} more.")


def _survey(options: dict[str, Any]) -> Survey:
    """Return the survey by its slug, or a new one, not yet saved, if its type is given."""
    slug, key = options["survey"], options["definition"]
    survey = Survey.objects.filter(slug=slug).first()
    if survey and key and survey.definition_key != key:
        raise CommandError(f'The survey "{slug}" is of type {survey.definition_key}, not {key}.')
    if survey:
        return survey
    if not key:
        raise CommandError(
            f'There is no survey "{slug}". Create it with --definition {"|".join(DEFINITIONS)}.'
        )
    return _new_survey(slug, name=options["name"] or slug, key=key)


def _new_survey(slug: str, *, name: str, key: str) -> Survey:
    """Return a survey of a built-in type or of the newest version of one kept here, not yet saved."""
    protocol = None if key in DEFINITIONS else Protocol.objects.filter(key=key).order_by("version").last()
    if protocol is None and key not in DEFINITIONS:
        kept = Protocol.objects.order_by("key").values_list("key", flat=True).distinct()
        raise CommandError(f'There is no survey type "{key}"; known: {", ".join([*DEFINITIONS, *kept])}.')
    return Survey(slug=slug, name=name, definition_key=key, protocol=protocol)


def _columns(options: dict[str, Any]) -> dict[str, str]:
    """Return {our name of a column: the file's}."""
    columns: dict[str, str] = {}
    for pair in options["column"]:
        ours, separator, theirs = pair.partition("=")
        if not (ours and separator and theirs) or ours in columns:
            raise CommandError(
                f'--column wants a name of ours, once, and the file\'s: OURS=THEIRS, not "{pair}".'
            )
        columns[ours] = theirs
    return columns


def _plans(options: dict[str, Any], *, survey: Survey) -> Iterator[Plan]:
    """Read file by file; a later one can't have what an earlier one has."""
    files: list[Path] = options["file"]
    columns = _columns(options)
    taken = taken_ids(survey)
    for file in files:
        plan = read_items(
            _data(file),
            definition=survey.definition,
            system=options["system"],
            layout=Layout(options["layout"]),
            taken=taken,
            is_alone=len(files) == 1,
            columns=columns,
            survey=survey,
        )
        taken |= {name for item in plan.items for name in item.names}
        yield told_otherwise(plan, survey=survey)


def _in_one(plans: list[Plan], *, files: list[Path]) -> Plan:
    if len(plans) == 1:
        return plans[0]
    return reduce(Plan.and_then, (plan.of_file(file.name) for plan, file in zip(plans, files, strict=True)))


def _unpacked(options: dict[str, Any], *, into: Path) -> dict[str, Any]:
    """Return the options with Parquet and Arrow files, and folders of them, unpacked into a folder with their pictures.

    A file keeps its name, as messages tell it.
    """
    files, images = [], options["images"]
    for number, file in enumerate(options["file"]):
        if not is_arrow_path(file):
            files.append(file)
            continue
        try:
            unpacked = unpack(file, into=into)
        except ArrowError as error:
            raise CommandError(f"{file}: {error}") from None
        kept = into / str(number) / file.name
        kept.parent.mkdir()
        files.append(unpacked.items.rename(kept))
        if unpacked.files and options["images"]:
            raise CommandError(f"{file} has its pictures in itself; leave out --images.")
        images = str(unpacked.files or images)
    return {"file": files, "images": images}


def _data(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(settings.UPLOAD_MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{path} can't be read: {error.strerror}.") from None


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _summary(plan: Plan, *, survey: Survey, is_dry: bool) -> str:
    verb = "Would import" if is_dry else "Imported"
    missing = f" ({len(plan.missing)} to be attached later)" if plan.missing else ""
    parts = [
        _count(len(plan.items), "item"),
        _count(plan.n_outputs, "output"),
        _count(plan.n_pictures, "picture"),
    ]
    return f'{verb} {", ".join(parts)}{missing} into "{survey.slug}".'
