"""Run a whole study with simulated workers: nothing has to be started by hand, nobody's data are touched."""

import shutil
import sys
import tempfile
from argparse import SUPPRESS, ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import urllib3
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from surveys.operations.processes.supervisor import ProcessError
from surveys.protocols import uploads
from surveys.protocols.definition import Definition
from surveys.protocols.documents import DocumentError
from surveys.protocols.registry import DEFINITIONS
from surveys.publishing.questionnaires import CannotPublish
from surveys.rehearsal import stage
from surveys.rehearsal.stage import ControlError
from surveys.rehearsal.waiting import Stalled
from surveys.simulating.views import UnexpectedPage
from surveys.studies import packages
from surveys.studies.packages import Package, PackageError

if TYPE_CHECKING:
    from surveys.rehearsal.performance import Terms

FAILURES = (CannotPublish, Stalled, UnexpectedPage, ControlError, ProcessError, urllib3.exceptions.HTTPError)


class Command(BaseCommand):
    help = "Drive a study from the item file to the result files over HTTP, with simulated workers."
    requires_migrations_checks = False
    requires_system_checks = []  # they load every page, which only the process on stage needs: it makes them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--survey", required=True, help="survey type, or the file of one's own (YAML or ZIP)"
        )
        parser.add_argument("--items", required=True, type=Path, help="batch CSV, long CSV or JSONL")
        parser.add_argument("--images", default="", metavar="PLACE", help="folder, ZIP or URL prefix")
        parser.add_argument("--allow-missing-images", action="store_true")
        parser.add_argument(
            "--consent", type=Path, metavar="FILE", help="what people are asked to agree to, a text file"
        )
        parser.add_argument("--workers", type=int, default=25, help="simulated workers (default: 25)")
        parser.add_argument("--seed", type=int, default=0, help="same seed, same answers (default: 0)")
        parser.add_argument(
            "--by-link", action="store_true", help="people with personal links, no marketplace"
        )
        parser.add_argument("--report", type=Path, metavar="FILE", help="write the summary as JSON")
        parser.add_argument("--out", type=Path, metavar="DIR", help="where the result files go")
        parser.add_argument("--timeout", type=float, default=1800, metavar="SECONDS", help="default: 1800")
        parser.add_argument("--keep", action="store_true", help="keep the data folder and say where it is")
        parser.add_argument("--on-stage", action="store_true", help=SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        _check(options)
        if options["on_stage"]:
            self._perform(options)
        else:
            self._go_on_stage(options)

    def _go_on_stage(self, options: dict[str, Any]) -> None:
        """Run this command again as a process of its own, whose settings point into an empty data folder."""
        folder = Path(tempfile.mkdtemp(prefix="assent-rehearsal-"))
        try:
            arguments = ["rehearse", *_arguments(options), "--on-stage"]
            code = stage.run_there(arguments, folder=folder, seed=options["seed"])
        finally:
            if options["keep"]:
                self.stdout.write(f"Kept: {folder}")
            else:
                shutil.rmtree(folder, ignore_errors=True)
        sys.exit(code)

    def _perform(self, options: dict[str, Any]) -> None:
        from surveys.rehearsal.performance import perform  # loads pandas, and only here is there work for it

        self.check()
        try:
            report = perform(_terms(options), stream=sys.stderr)
        except FAILURES as failure:
            raise CommandError(str(failure)) from None
        except KeyboardInterrupt:
            raise CommandError("Stopped.") from None
        if options["report"]:
            report.write(options["report"])
        self.stdout.write(report.text())
        if report.problems:
            raise CommandError(" ".join(report.problems))


def _check(options: dict[str, Any]) -> None:
    """Refuse at once what would fail only after minutes."""
    _type(options["survey"])
    if not options["items"].is_file():
        raise CommandError(f"There is no file {options['items']}.")
    if options["consent"] and not options["consent"].is_file():
        raise CommandError(f"There is no file {options['consent']}.")
    if options["workers"] < 1 or options["seed"] < 0:
        raise CommandError("--workers must be at least 1, and --seed not negative.")
    if options["report"] and not options["report"].absolute().parent.is_dir():
        raise CommandError(f"There is no folder for {options['report']}.")


def _arguments(options: dict[str, Any]) -> list[str]:
    """Return the options as they are typed, with the results in the caller's data folder if nothing else is said."""
    definition, _ = _type(options["survey"])
    out = options["out"] or settings.DATA_DIR / "rehearsals" / f"{definition.key}-{options['seed']}"
    names = ("survey", "items", "images", "consent", "workers", "seed", "report", "timeout")
    named = {name: options[name] for name in names} | {"out": out}
    given = [f"--{name}={value}" for name, value in named.items() if value not in {None, ""}]
    flags = [f"--{name.replace('_', '-')}" for name in ("allow_missing_images", "by_link") if options[name]]
    return [*given, *flags]


def _type(survey: str) -> tuple[Definition, Package | None]:
    """Return a built-in type, or one of a file with what is to be kept of it."""
    if survey in DEFINITIONS:
        return DEFINITIONS[survey], None
    path = Path(survey)
    if not path.is_file():
        raise CommandError(
            f"There is no file {survey}, and no survey type of that name: {', '.join(DEFINITIONS)}."
        )
    try:
        with path.open("rb") as file:
            package = packages.opened(file, name=path.name, size=path.stat().st_size)
        return uploads.read(package.document, name=package.name, pictures=package.pictures), package
    except (PackageError, DocumentError) as error:
        raise CommandError(str(error)) from None


def _terms(options: dict[str, Any]) -> "Terms":
    from surveys.rehearsal.performance import Terms  # as above
    from surveys.rehearsal.study import Material

    definition, package = _type(options["survey"])
    return Terms(
        material=Material(
            definition=definition,
            package=package,
            items=options["items"],
            images=options["images"],
            allow_missing_images=options["allow_missing_images"],
            consent=options["consent"].read_text() if options["consent"] else "",
        ),
        n_workers=options["workers"],
        seed=options["seed"],
        out=options["out"],
        timeout=options["timeout"],
        by_link=options["by_link"],
    )
