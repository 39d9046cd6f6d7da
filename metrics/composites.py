"""Scores made of scores: sub-tasks with two metrics, and the integral score, from the FusionBrain Challenge 2.0."""

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final, Literal

from metrics.inputs import MetricError, checked_profile

OPEN_TASKS: Final = ("TextQA", "MathQA", "ImageGeneration", "ImageCaptioning", "VisualQA", "TRitW")
HIDDEN_TASKS: Final = tuple(f"Hidden{number}" for number in range(1, 7))
OPEN_WEIGHT: Final = 1 / 15
HIDDEN_WEIGHT: Final = 1 / 10
WORST_FID: Final = 200.0
PRIZE_THRESHOLDS: Final = {
    "TextQA": 0.2,
    "MathQA": 0.25,
    "ImageGeneration": 0.21,
    "ImageCaptioning": 0.15,
    "VisualQA": 0.24,
    "TRitW": 0.13,
}
"""75 % of the organisers' baseline; a prize needed no less in every open sub-task (README of the competition)."""

Formula = Literal["meteor", "meteor_and_clip"]


def s_image_generation(clip: float, fid: float, *, profile: str = "document") -> float:
    """Return (CLIP + (200 - min(200, FID)) / 200) / 2.

    Range -0.5 to 1 (the document says 0 to 1; a negative CLIP score with a FID of 200 gives less), no unit,
    more is better. Both profiles are this formula. A FID below 0, a CLIP outside -1 to 1, or no number: MetricError.
    Source: FusionBrain Challenge 2.0 metrics, sub-task 3.
    """
    checked_profile(profile)
    if not fid >= 0:
        raise MetricError(f"fid is {fid}, not a number from 0")
    return (_between(clip, least=-1, name="clip") + (WORST_FID - min(WORST_FID, fid)) / WORST_FID) / 2


def s_image_captioning(meteor: float, clip: float, *, profile: str = "document") -> float:
    """Return (METEOR + CLIP) / 2 of a data set's two means.

    Range -0.5 to 1, no unit, more is better; both profiles are this formula. A METEOR outside 0 to 1 or a CLIP
    outside -1 to 1: MetricError. Source: FusionBrain Challenge 2.0 metrics, sub-task 4.
    """
    checked_profile(profile)
    return (_between(meteor, name="meteor") + _between(clip, least=-1, name="clip")) / 2


def s_visual_qa(
    meteor: float, clip: float | None = None, *, formula: Formula = "meteor", profile: str = "document"
) -> float:
    """Return METEOR, or with `formula="meteor_and_clip"` (METEOR + CLIP) / 2.

    The document is of two minds: its text names METEOR alone, its formula adds CLIP. METEOR alone is the default,
    because the competition's authors changed the formula to it five days later, their code never had CLIP here, and a
    CLIP score of a short answer says little about its being right. Range 0 to 1 (with CLIP -0.5 to 1), no unit, more is
    better. METEOR outside 0 to 1, CLIP outside -1 to 1, or CLIP missing where it counts: MetricError.
    Source: FusionBrain Challenge 2.0 metrics, sub-task 5.
    """
    checked_profile(profile)
    if formula == "meteor":
        return _between(meteor, name="meteor")
    if formula != "meteor_and_clip":
        raise MetricError(f"formula {formula!r} is unknown; known are meteor, meteor_and_clip")
    if clip is None:
        raise MetricError("meteor_and_clip needs a CLIP score")
    return s_image_captioning(meteor, clip)


def integral(
    open_scores: Mapping[str, float],
    hidden_scores: Mapping[str, float] | Sequence[float] = (),
    *,
    hidden_tasks: Sequence[str] = HIDDEN_TASKS,
    profile: str = "document",
) -> float:
    """Return the sum of the open sub-tasks' scores / 15 plus the sum of the hidden ones' / 10.

    Open: all of `OPEN_TASKS` by name. Hidden: by the names in `hidden_tasks`, or in their order; a hidden task without
    a score counts 0, as nobody can score what stays hidden. Range 0 to 1 (0.4 open, 0.6 hidden) for scores from 0 to 1,
    no unit, more is better; a negative composite takes away. Missing, unknown or impossible scores: MetricError.
    Source: README of the FusionBrain Challenge 2.0; both profiles are this formula.
    """
    checked_profile(profile)
    hidden = _by_name(hidden_scores, hidden_tasks)
    if missing := _without(OPEN_TASKS, open_scores):
        raise MetricError(f"no score for {', '.join(missing)}")
    if unknown := [*_without(open_scores, OPEN_TASKS), *_without(hidden, hidden_tasks)]:
        raise MetricError(f"unknown sub-task {', '.join(unknown)}")
    of_open = math.fsum(_between(score, least=-0.5, name=task) for task, score in open_scores.items())
    of_hidden = math.fsum(_between(score, name=task) for task, score in hidden.items())
    return of_open * OPEN_WEIGHT + of_hidden * HIDDEN_WEIGHT


def _without(tasks: Iterable[str], others: Container[str]) -> list[str]:
    return [task for task in tasks if task not in others]


def prize_eligible(open_scores: Mapping[str, float]) -> bool:
    """Say whether every open sub-task reaches its prize threshold."""
    return all(open_scores.get(task, -math.inf) >= least for task, least in PRIZE_THRESHOLDS.items())


class HiddenTasks:
    """Metrics for hidden sub-tasks, by name: each takes whatever it needs and returns a score from 0 to 1."""

    def __init__(self) -> None:
        self._metrics: dict[str, Callable[..., float]] = {}

    def register(self, name: str, metric: Callable[..., float]) -> None:
        """Give a hidden sub-task its metric; raise MetricError when it has one."""
        if name in self._metrics:
            raise MetricError(f"{name} has a metric already")
        self._metrics[name] = metric

    @property
    def names(self) -> tuple[str, ...]:
        """The sub-tasks that have a metric, in order of registration."""
        return tuple(self._metrics)

    def score(self, name: str, *inputs: object) -> float:
        """Return a sub-task's score; raise MetricError when it has no metric or its score is not from 0 to 1."""
        if name not in self._metrics:
            raise MetricError(f"{name} has no metric")
        return _between(self._metrics[name](*inputs), name=name)


def _by_name(scores: Mapping[str, float] | Sequence[float], names: Sequence[str]) -> Mapping[str, float]:
    if isinstance(scores, Mapping):
        return scores
    if len(scores) > len(names):
        raise MetricError(f"there are {len(scores)} hidden scores for {len(names)} hidden sub-tasks")
    return dict(zip(names, scores, strict=False))


def _between(score: float, *, name: str, least: float = 0.0) -> float:
    # A mean of cosines may pass 1 by rounding.
    if not least - 1e-9 <= score <= 1 + 1e-9:
        raise MetricError(f"{name} is {score}, not a number from {least:g} to 1")
    return score
