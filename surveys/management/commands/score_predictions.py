"""Scores of a submission in the format of the FusionBrain Challenge 2.0."""

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper

from metrics import METRICS, PROFILES, MetricError
from metrics.competition import Options, as_json, as_text, check_known, score_files
from metrics.composites import HIDDEN_TASKS, OPEN_TASKS

WIDTH: Final = 30


class Bar:
    """Redraws itself on a terminal; elsewhere writes a line at every tenth of a stage."""

    def __init__(self, stream: OutputWrapper) -> None:
        self._stream = stream
        self._stage, self._step = "", -1
        self._is_terminal = stream.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_terminal and self._stage:
            self._stream.write("")

    def show(self, stage: str, done: float) -> None:
        """Show how much of a stage is done, from 0 to 1."""
        step = int(min(done, 1.0) * (100 if self._is_terminal else 10))
        if (stage, step) == (self._stage, self._step):
            return
        if self._is_terminal and self._stage not in ("", stage):
            self._stream.write("")
        self._stage, self._step = stage, step
        self._draw(stage, min(done, 1.0))

    def _draw(self, stage: str, done: float) -> None:
        filled = round(done * WIDTH)
        line = f"{stage:12} [{'#' * filled}{'.' * (WIDTH - filled)}] {done:4.0%}"
        self._stream.write(
            f"\r{line}" if self._is_terminal else line, ending="" if self._is_terminal else "\n"
        )
        self._stream.flush()


class Command(BaseCommand):
    help = (
        "Score predictions.json against ground_truth.json (FusionBrain Challenge 2.0): a table for each sub-task "
        "and the integral score. Which sub-task an id belongs to is read from ids.json beside the ground truth, from "
        "top-level keys (TextQA, MathQA ...) or --task; without any, each text metric is computed over all texts."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ground_truth", type=Path, help="JSON of id to elements with accepted answers.")
        parser.add_argument("predictions", type=Path, help="JSON of id to elements with the answer.")
        parser.add_argument("--json", action="store_true", help="Print JSON instead of tables.")
        parser.add_argument(
            "--profile",
            choices=PROFILES,
            default="document",
            help="By the written definitions (default), or as the competition's code does.",
        )
        parser.add_argument(
            "--thesaurus", type=Path, help="RuWordNet, MyThes or WordNet, for METEOR's synonyms."
        )
        parser.add_argument(
            "--jobs", type=int, default=0, help="Processes (default: one for each processor)."
        )
        parser.add_argument(
            "--allow-mismatch",
            action="store_true",
            help="Score ids without a prediction 0 and leave out predictions without a ground truth.",
        )
        _add_sub_tasks(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with Bar(self.stderr) as bar:
                found = score_files(
                    options["ground_truth"],
                    options["predictions"],
                    options=_options(options),
                    progress=bar.show,
                )
        except MetricError as error:
            raise CommandError(str(error)) from error
        shown = (
            json.dumps(as_json(found), ensure_ascii=False, indent=2) if options["json"] else as_text(found)
        )
        self.stdout.write(shown)


def _add_sub_tasks(parser: CommandParser) -> None:
    """Add what tells of sub-tasks: where their ids are, what is known of them, how they are scored."""
    parser.add_argument("--task", choices=OPEN_TASKS, help="The sub-task, if the files hold only one.")
    parser.add_argument("--ids", type=Path, help="JSON of id to sub-task (0 to 5, or a name).")
    parser.add_argument(
        "--scores",
        type=Path,
        help="JSON of scores computed elsewhere: clip_score, fid, hidden sub-tasks.",
    )
    parser.add_argument(
        "--hidden",
        action="append",
        default=[],
        metavar="NAME=METRIC",
        help="Text metric of a hidden sub-task, such as Hidden1=text_f1.",
    )
    parser.add_argument(
        "--visual-qa",
        choices=("meteor", "meteor_and_clip"),
        default="meteor",
        help="Formula of S_VisualQA (default: meteor, as the document's text says).",
    )


def _options(options: dict[str, Any]) -> Options:
    return Options(
        profile=options["profile"],
        thesaurus=options["thesaurus"],
        jobs=options["jobs"] if options["jobs"] > 0 else os.cpu_count() or 1,
        task=options["task"],
        ids=options["ids"] or _beside(options["ground_truth"], options["task"]),
        allow_mismatch=options["allow_mismatch"],
        hidden=dict(map(_hidden, options["hidden"])),
        known=_known(options["scores"]),
        formula=options["visual_qa"],
    )


def _beside(ground_truth: Path, task: str | None) -> Path | None:
    found = ground_truth.with_name("ids.json")
    return found if found.is_file() and not task else None


def _hidden(given: str) -> tuple[str, str]:
    name, _, metric = given.partition("=")
    if name not in HIDDEN_TASKS or metric not in METRICS or "references" not in METRICS[metric].inputs:
        raise MetricError(
            f"--hidden {given}: a hidden sub-task and a text metric are meant, such as Hidden1=text_f1"
        )
    return name, metric


def _known(path: Path | None) -> dict[str, dict[str, float]]:
    if path is None:
        return {}
    try:
        return check_known(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise MetricError(f"{path}: {error.strerror}") from error
    except (UnicodeError, json.JSONDecodeError, AttributeError) as error:
        raise MetricError(f"{path.name} is no JSON object in UTF-8") from error
    except MetricError as error:
        raise MetricError(f"{path.name}: {error}") from error
