"""A scoreboard as text, one table for each sub-task and one for the integral, and as JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from metrics.competition.scoreboard import Scoreboard, TaskScore
from metrics.competition.tasks import UNKNOWN_TASK
from metrics.composites import HIDDEN_TASKS, HIDDEN_WEIGHT, OPEN_TASKS, OPEN_WEIGHT, PRIZE_THRESHOLDS


def as_json(found: Scoreboard) -> dict[str, Any]:
    """Return plain values; sub-tasks by name."""
    values = asdict(found)
    values["tasks"] = {task.pop("task"): task for task in values["tasks"]}
    return values


def as_text(found: Scoreboard) -> str:
    """Return the tables."""
    head = f"profile {found.profile}, thesaurus {found.thesaurus}"
    parts = [head, *(_task_table(task) for task in found.tasks), _integral_table(found)]
    return "\n\n".join(parts)


def _task_table(task: TaskScore) -> str:
    return "\n".join(_task_lines(task))


def _task_lines(task: TaskScore) -> Iterator[str]:
    yield _title(task)
    for one in task.metrics:
        yield f"  {one.name:20}{one.value:10.4f}   {_origin(one.source, one.version)}"
    if task.score is not None:
        least = PRIZE_THRESHOLDS.get(task.task)
        yield f"  {'score':20}{task.score:10.4f}{_beside_threshold(task.score, least)}"
    elif task.lacks:
        yield f"  {'score':20}{'-':>10}   needs {' and '.join(task.lacks)}"
    if task.task == UNKNOWN_TASK:
        yield "  No file says which sub-task an id belongs to, so each text metric is over all of them."


def _title(task: TaskScore) -> str:
    name = "All texts" if task.task == UNKNOWN_TASK else task.task
    counts = [f"{task.n:,} ids"]
    if task.unanswered:
        counts.append(f"{task.unanswered:,} without an answer (scored as empty)")
    if task.missing:
        counts.append(f"{task.missing:,} of them not in the predictions")
    return f"{name}: {', '.join(counts)}" if task.n else name


def _origin(source: str, version: str) -> str:
    return f"version {version}" if source == "computed" else "given"


def _beside_threshold(score: float, least: float | None) -> str:
    if least is None:
        return ""
    return f"   {'reaches' if score >= least else 'below'} the prize threshold of {least:g}"


def _integral_table(found: Scoreboard) -> str:
    scores = {task.task: task.score for task in found.tasks}
    weights = dict.fromkeys(OPEN_TASKS, OPEN_WEIGHT) | dict.fromkeys(HIDDEN_TASKS, HIDDEN_WEIGHT)
    rows = [_integral_row(task, scores.get(task), weight) for task, weight in weights.items()]
    return "\n".join(["Integral score", *rows, *_integral_end(found)])


def _integral_row(task: str, score: float | None, weight: float) -> str:
    share = f"1/{round(1 / weight)}"
    if score is None:
        return f"  {task:20}{'-':>10} x {share:5}{'-':>10}"
    return f"  {task:20}{score:10.4f} x {share:5}{score * weight:10.4f}"


def _integral_end(found: Scoreboard) -> Iterator[str]:
    if found.integral is None:
        yield f"  {'integral':20}{'-':>10}   no score for {', '.join(found.lacks)}"
    else:
        yield f"  {'integral':20}{found.integral:28.4f}   hidden sub-tasks without a score count 0"
        yield f"  Every open sub-task reaches its prize threshold: {'yes' if found.prize_eligible else 'no'}"
    if found.extra:
        yield f"  {found.extra:,} predictions without a ground truth were left out."
