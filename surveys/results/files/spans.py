"""Marks in texts as CSV: a line for each, with the words that are marked.

`start` and `end` count code points of the text as `text` of the other files has it (of a block: as the item file had
it), from 0, the end excluded; both are empty where the whole text is meant.
"""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from surveys.protocols.spans import read
from surveys.results.frames.base import REPEAT, Frame, column

SHARED = (
    "study", "batch", "hit_id", "assignment_id", "worker", "item_id", "included", REPEAT,
)  # fmt: skip
OWN = (
    "system", "criterion", "number", "block", "start", "end", "category", "severity", "cost", "text", "note",
)  # fmt: skip


def span_rows(frame: Frame) -> pd.DataFrame:
    """Return a row for each mark, in the order of the answers and of the text."""
    lines = [line for row in frame.everything.responses.to_dict("records") for line in _lines(frame, row)]
    table = pd.DataFrame(lines, columns=[*SHARED, *OWN])
    return table.astype({"start": "Int64", "end": "Int64"})


def _lines(frame: Frame, row: dict[Any, Any]) -> Iterator[dict[str, Any]]:
    for criterion in frame.definition.criteria:
        for system in frame.systems if criterion.per_output else ("",):
            value = row.get(column(system, criterion.key)) if criterion.spans else None
            if not criterion.spans or not isinstance(value, str):
                continue
            costs = {severity.value: severity.score for severity in criterion.spans.severities}
            for number, mark in enumerate(read(value), 1):
                yield {
                    **{name: row[name] for name in SHARED},
                    "system": system,
                    "criterion": criterion.key,
                    "number": number,
                    "block": mark.column,
                    "start": mark.start,
                    "end": mark.end,
                    "category": mark.category,
                    "severity": mark.severity,
                    "cost": costs[mark.severity],
                    "text": mark.text,
                    "note": mark.note,
                }
