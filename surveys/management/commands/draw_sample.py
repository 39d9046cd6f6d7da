"""A study's items out of a model's predictions."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.studies.predictions import SamplingError, read_earlier, read_predictions
from surveys.studies.sample_files import write_sample
from surveys.studies.sampling import Sample, check, draw


class Command(BaseCommand):
    help = (
        "Draw N items of each data set from those a model answered rightly, as many of earlier samples as can be: a "
        "batch CSV each, and eligibility.csv, which says how many there were and why the others were left out."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "predictions",
            type=Path,
            help="CSV or .jsonl: item, gold, answer, explanation; where there are, system, dataset, reference "
            "(the ground truth's explanation), question, img_name, choices.",
        )
        parser.add_argument("--n", type=int, required=True, help="Items of each data set.")
        parser.add_argument("--out", type=Path, required=True, help="Folder for the files.")
        parser.add_argument("--seed", default="1", help="Decides ties and distractors (default: 1).")
        parser.add_argument("--system", default="", help="Whose rows, where the file has several systems.")
        parser.add_argument("--items-per-hit", type=int, default=5, help="Questions of a HIT (default: 5).")
        parser.add_argument(
            "--earlier",
            nargs="*",
            default=[],
            metavar="[NAME=]CSV",
            help="Earlier samples, to overlap with. Of several data sets: its column dataset, its file's name or NAME "
            "says of which one it is.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            samples = _samples(options)
            paths = write_sample(samples, options["out"], size=options["items_per_hit"], seed=options["seed"])
        except SamplingError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        for sample in samples:
            self.stdout.write(_told(sample))
        self.stdout.write("written: " + ", ".join(str(path) for path in paths))


def _samples(options: dict[str, Any]) -> list[Sample]:
    n, size = options["n"], options["items_per_hit"]
    if n < 1 or size < 1:
        raise SamplingError("--n and --items-per-hit must be at least 1.")
    files = dict(_named(text) for text in options["earlier"])
    earlier = read_earlier(files, predictions=options["predictions"])
    rows = read_predictions(options["predictions"])
    samples = draw(rows, n=n, seed=options["seed"], earlier=earlier, system=options["system"])
    check(samples, n=n, size=size)
    return samples


def _named(text: str) -> tuple[Path, str]:
    name, equals, path = text.partition("=")
    return (Path(path), name) if equals and not Path(text).exists() else (Path(text), "")


def _told(sample: Sample) -> str:
    name = sample.dataset or "sample"
    why_not = "".join(f", {n} {reason}" for reason, n in sorted(sample.reasons.items()))
    return (
        f"{name}: {len(sample.rows)} of {sample.n_eligible} eligible (of {sample.n_rows} rows{why_not}); "
        f"{sample.overlap} in earlier samples, {sample.possible} possible"
    )
