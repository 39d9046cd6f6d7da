"""Scores of a submission: `ground_truth.json` and `predictions.json` in, sub-tasks and the integral out."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from metrics.competition.elements import accepted, answer
from metrics.competition.entries import Entry, read_entries
from metrics.competition.joining import Answers, opened_answers
from metrics.competition.scoreboard import Scoreboard, Tally, compose
from metrics.competition.spread import Pair, scored
from metrics.competition.tasks import IMAGE_TASK, UNKNOWN_TASK, metrics_of, task_named, task_of_id
from metrics.composites import Formula
from metrics.inputs import MetricError

Progress = Callable[[str, float], None]
"""Called with a stage and how much of it is done, from 0 to 1."""
PREDICTIONS: Final = "predictions"
SCORES: Final = "scores"


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to score. Paths are of files beside the two; `known` holds scores computed elsewhere."""

    profile: str = "document"
    thesaurus: Path | None = None
    jobs: int = 1
    task: str | None = None
    """Sub-task of a file that holds only one."""
    ids: Path | None = None
    """JSON of id to sub-task (0 to 5, or a name)."""
    allow_mismatch: bool = False
    """Score ids without a prediction 0 and leave out predictions without a ground truth, instead of refusing."""
    hidden: Mapping[str, str] = field(default_factory=dict)
    """Text metric of each hidden sub-task."""
    known: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Sub-task -> `clip_score`, `fid`, or for a hidden one `score`."""
    formula: Formula = "meteor"


def score_files(
    truth: Path, predictions: Path, *, options: Options | None = None, progress: Progress | None = None
) -> Scoreboard:
    """Score a submission in constant memory; both files may be of any size and in any order.

    Raises MetricError for malformed files, ids that stand twice, ids without a prediction or a ground truth (unless
    allowed), and values of a wrong type, by file, id and index.
    """
    options = options or Options()
    with opened_answers() as answers:
        _read_tasks(answers, options)
        for entry in _reading(predictions, PREDICTIONS, progress):
            if not answers.add(entry.joint, answer(entry.value, where=predictions.name + entry.place)):
                raise MetricError(f"{predictions.name}{entry.place} stands twice")
        tallies: dict[str, Tally] = defaultdict(Tally)
        pairs = _Join(truth, predictions, answers, tallies, options).pairs(progress)
        sums = scored(pairs, profile=options.profile, thesaurus=options.thesaurus, jobs=options.jobs)
        for (task, metric), (count, total) in (item for some in sums for item in some.items()):
            tallies[task].add(metric, count, total)
        extra = _left_over(answers, predictions, truth, options)
    if not tallies:
        raise MetricError(f"{truth.name} holds no ground truth")
    return compose(tallies, options=options, extra=extra)


@dataclass(frozen=True)
class _Join:
    truth: Path
    predictions: Path
    answers: Answers
    tallies: Mapping[str, Tally]
    options: Options

    def pairs(self, progress: Progress | None) -> Iterator[Pair]:
        for entry in _reading(self.truth, SCORES, progress):
            references = accepted(entry.value, where=self.truth.name + entry.place)
            task = self._task(entry, is_image=references is None)
            text, image = self._answer(entry, self.tallies[task])
            self.tallies[task].count(is_answered=(image if references is None else text) is not None)
            names = metrics_of(task, self.options.hidden)
            if references is not None and names:
                yield Pair(task, text or "", references, names)

    def _task(self, entry: Entry, *, is_image: bool) -> str:
        task = self.options.task or entry.task
        if task is None and self.options.ids:
            task = self.answers.task(entry.key)
            if task is None:
                raise MetricError(
                    f"{self.options.ids.name} has no sub-task for {self.truth.name}{entry.place}"
                )
        task = task or (IMAGE_TASK if is_image else UNKNOWN_TASK)
        if is_image != (task == IMAGE_TASK) and not task.startswith("Hidden"):
            kind = "an image" if is_image else "text"
            raise MetricError(f"{self.truth.name}{entry.place} is {kind}, and its sub-task is {task}")
        return task

    def _answer(self, entry: Entry, tally: Tally) -> tuple[str | None, str | None]:
        found, is_repeated = self.answers.take(entry.joint)
        if is_repeated:
            raise MetricError(f"{self.truth.name}{entry.place} stands twice")
        if found is None:
            tally.missing += 1
            if not self.options.allow_mismatch:
                raise MetricError(f"{self.predictions.name} has no {entry.place}, {self.truth.name} has")
        return found or (None, None)


def _read_tasks(answers: Answers, options: Options) -> None:
    if options.ids is None:
        return
    for entry in read_entries(options.ids, tasks=lambda _name: None):
        where = options.ids.name + entry.place
        if not answers.add_task(entry.key, task_of_id(entry.value, where=where)):
            raise MetricError(f"{where} stands twice")


def _reading(path: Path, stage: str, progress: Progress | None) -> Iterator[Entry]:
    if progress is None:
        return read_entries(path, tasks=task_named)
    size = 1
    with suppress(OSError):
        size = max(path.stat().st_size, 1)
    return read_entries(path, tasks=task_named, advance=lambda done: progress(stage, done / size))


def _left_over(answers: Answers, predictions: Path, truth: Path, options: Options) -> int:
    count, key = answers.left()
    if count and not options.allow_mismatch:
        raise MetricError(f'{truth.name} has no "{key}", {predictions.name} has ({count} such ids)')
    return count
