"""Files in the competition's format."""

import json
from pathlib import Path
from typing import Any

from metrics.competition import Options, Scoreboard, score_files

Written = Any


def text(content: Any) -> list[dict[str, Any]]:
    """Return one element of type text."""
    return [{"type": "text", "content": content}]


def write(path: Path, content: Written) -> Path:
    """Write bytes as they are, anything else as JSON."""
    data = content if isinstance(content, bytes) else json.dumps(content, ensure_ascii=False).encode()
    path.write_bytes(data)
    return path


def score(folder: Path, truth: Written, predictions: Written, **options: Any) -> Scoreboard:
    """Score two files written here; `ids` is written too."""
    if "ids" in options:
        options["ids"] = write(folder / "ids.json", options["ids"])
    return score_files(
        write(folder / "ground_truth.json", truth),
        write(folder / "predictions.json", predictions),
        options=Options(**options),
    )


def scores(found: Scoreboard) -> dict[str, dict[str, float]]:
    """Return sub-task -> metric -> mean."""
    return {task.task: {one.name: one.value for one in task.metrics} for task in found.tasks}
