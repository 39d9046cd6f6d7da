"""What a submission scored: each sub-task's metrics and composite, and the integral score."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from metrics.catalogue import METRICS
from metrics.competition.tasks import IMAGE_TASK, UNKNOWN_TASK
from metrics.composites import (
    HIDDEN_TASKS,
    OPEN_TASKS,
    Formula,
    integral,
    prize_eligible,
    s_image_captioning,
    s_image_generation,
    s_visual_qa,
)
from metrics.inputs import MetricError


class Settings(Protocol):
    """What of the options a scoreboard needs."""

    @property
    def profile(self) -> str: ...
    @property
    def thesaurus(self) -> Path | None: ...
    @property
    def known(self) -> Mapping[str, Mapping[str, float]]: ...
    @property
    def hidden(self) -> Mapping[str, str]: ...
    @property
    def formula(self) -> Formula: ...


@dataclass
class Tally:
    """Counts and sums of one sub-task."""

    n: int = 0
    unanswered: int = 0
    missing: int = 0
    sums: dict[str, tuple[int, float]] = field(default_factory=lambda: defaultdict(lambda: (0, 0.0)))

    def count(self, *, is_answered: bool) -> None:
        """Count an id."""
        self.n += 1
        self.unanswered += not is_answered

    def add(self, metric: str, count: int, total: float) -> None:
        """Add the scores of some pairs."""
        before, sum_before = self.sums[metric]
        self.sums[metric] = before + count, sum_before + total


@dataclass(frozen=True, kw_only=True)
class MetricMean:
    """A metric's mean over a sub-task, or its value for the whole; `source` is `computed` or `given`."""

    name: str
    value: float
    version: str
    source: str = "computed"


@dataclass(frozen=True, kw_only=True)
class TaskScore:
    """A sub-task. `score` is None when a part of it is missing: then `lacks` names the part."""

    task: str
    n: int
    unanswered: int
    missing: int
    metrics: tuple[MetricMean, ...]
    score: float | None
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Scoreboard:
    """All sub-tasks. `integral` is None unless every open sub-task has a score; hidden ones without one count 0."""

    profile: str
    thesaurus: str
    tasks: tuple[TaskScore, ...]
    integral: float | None
    lacks: tuple[str, ...]
    prize_eligible: bool | None
    extra: int


def compose(tallies: Mapping[str, Tally], *, options: Settings, extra: int = 0) -> Scoreboard:
    """Compose sub-tasks and the integral from sums and scores given."""
    known = {*tallies, *options.known}
    order = [task for task in (*OPEN_TASKS, *HIDDEN_TASKS, UNKNOWN_TASK) if task in known]
    tasks = tuple(_task_score(task, tallies.get(task, Tally()), options) for task in order)
    scores = {one.task: one.score for one in tasks if one.score is not None}
    of_open = _scores_of(OPEN_TASKS, scores)
    lacks = tuple(task for task in OPEN_TASKS if task not in of_open)
    return Scoreboard(
        profile=options.profile,
        thesaurus=options.thesaurus.name if options.thesaurus else "none",
        tasks=tasks,
        integral=None if lacks else integral(of_open, _scores_of(HIDDEN_TASKS, scores)),
        lacks=lacks,
        prize_eligible=None if lacks else prize_eligible(of_open),
        extra=extra,
    )


def _scores_of(tasks: Iterable[str], scores: Mapping[str, float]) -> dict[str, float]:
    return {task: scores[task] for task in tasks if task in scores}


def _task_score(task: str, tally: Tally, options: Settings) -> TaskScore:
    given = options.known.get(task, {})
    computed = [
        MetricMean(name=name, value=total / count, version=METRICS[name].version)
        for name, (count, total) in tally.sums.items()
    ]
    metrics = (*computed, *(_given(name, value) for name, value in given.items()))
    score, lacks = _composed(task, {one.name: one.value for one in metrics}, options)
    return TaskScore(
        task=task,
        n=tally.n,
        unanswered=tally.unanswered,
        missing=tally.missing,
        metrics=metrics,
        score=score,
        lacks=lacks,
    )


def _given(name: str, value: float) -> MetricMean:
    version = METRICS[name].version if name in METRICS else "-"
    return MetricMean(name=name, value=value, version=version, source="given")


def _composed(
    task: str, parts: Mapping[str, float], options: Settings
) -> tuple[float | None, tuple[str, ...]]:
    needed = _parts_of(task, options)
    lacks = tuple(name for name in needed if name not in parts)
    if lacks or not needed:
        return None, lacks
    values = [parts[name] for name in needed]
    if task == IMAGE_TASK:
        return s_image_generation(*values), ()
    if task == "ImageCaptioning":
        return s_image_captioning(*values), ()
    if task == "VisualQA":
        return s_visual_qa(*values, formula=options.formula), ()
    return values[0], ()


def _parts_of(task: str, options: Settings) -> tuple[str, ...]:
    if task == "VisualQA":
        return ("visual_qa_meteor", "clip_score")[: 1 + (options.formula == "meteor_and_clip")]
    fixed = {
        "TextQA": ("text_f1",),
        "MathQA": ("math_em",),
        IMAGE_TASK: ("clip_score", "fid"),
        "ImageCaptioning": ("captioning_meteor", "clip_score"),
        "TRitW": ("one_minus_ned",),
        UNKNOWN_TASK: (),
    }
    return fixed.get(task, (options.hidden.get(task, "score"),))


def check_known(known: Mapping[str, object]) -> dict[str, dict[str, float]]:
    """Return scores computed elsewhere, checked: sub-task -> metric -> number, a hidden sub-task's may stand bare."""
    return {task: _checked(task, value) for task, value in known.items()}


def _checked(task: str, value: object) -> dict[str, float]:
    allowed = ("score",) if task in HIDDEN_TASKS else ("clip_score", "fid")
    if task not in (*OPEN_TASKS, *HIDDEN_TASKS):
        raise MetricError(f'"{task}" is no sub-task')
    named = {"score": value} if task in HIDDEN_TASKS and not isinstance(value, dict) else value
    if not isinstance(named, dict):
        raise MetricError(f'["{task}"] is not an object of {" and ".join(allowed)}')
    return {name: _number(number, f'["{task}"]["{name}"]', name in allowed) for name, number in named.items()}


def _number(value: object, place: str, is_allowed: bool) -> float:
    if not is_allowed:
        raise MetricError(f"{place} is no score to be given; there are clip_score, fid and a hidden score")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MetricError(f"{place} is no number")
    return float(value)
