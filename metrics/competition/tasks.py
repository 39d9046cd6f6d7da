"""The competition's sub-tasks: their names, numbers and metrics."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from metrics.composites import HIDDEN_TASKS, OPEN_TASKS
from metrics.inputs import MetricError

TEXT_METRICS: Final = {
    "TextQA": "text_f1",
    "MathQA": "math_em",
    "ImageCaptioning": "captioning_meteor",
    "VisualQA": "visual_qa_meteor",
    "TRitW": "one_minus_ned",
}
IMAGE_TASK: Final = "ImageGeneration"
UNKNOWN_TASK: Final = "all"
"""Where a file does not say which sub-task an id belongs to, every text metric is computed over all of them."""

_FOLDERS: Final = ("textqa", "mathqa", "generation", "captioning", "vqa", "text_recognition")
"""What the competition's script calls the sub-tasks when it splits a file (evaluation/split_tasks.py)."""
_NAMES: Final = {
    name: task
    for names in (map(str.lower, OPEN_TASKS), _FOLDERS)
    for name, task in zip(names, OPEN_TASKS, strict=True)
} | {task.lower(): task for task in HIDDEN_TASKS}


def task_named(name: str) -> str | None:
    """Return the sub-task of a name in any case, the document's or the script's; None for another name."""
    return _NAMES.get(name.lower())


def task_of_id(value: Any, *, where: str) -> str:
    """Return the sub-task that ids.json gives: a number from 0 to 5 or a name. MetricError for anything else."""
    if not isinstance(value, bool) and str(value) in map(str, range(len(OPEN_TASKS))):
        return OPEN_TASKS[int(value)]
    task = task_named(value) if isinstance(value, str) else None
    if task is None:
        raise MetricError(f"{where} is {value!r}, no sub-task; they are {', '.join(OPEN_TASKS)} or 0 to 5")
    return task


def metrics_of(task: str, hidden: Mapping[str, str]) -> tuple[str, ...]:
    """Return the text metrics of a sub-task; `hidden` names one for each hidden sub-task."""
    if task == UNKNOWN_TASK:
        return tuple(TEXT_METRICS.values())
    found = {**TEXT_METRICS, **hidden}.get(task)
    return (found,) if found else ()


Tasks = Callable[[str], str | None]
