"""Our own processed layout: the published columns with the right values, and what is needed to check them."""

from typing import IO

import pandas as pd

from surveys.exports.cells import neutralised
from surveys.exports.csv_text import write_csv
from surveys.exports.pairs import SHORTCOMINGS, Pairs, is_paired
from surveys.frames import Frame
from surveys.frames.base import score_maps

CONTEXT = (
    "worker", "hit_id", "position", "answer", "gold", "active_seconds", "work_seconds", "status", "decision",
)  # fmt: skip


def processed_table(frame: Frame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return `rows` of `frame`, one line per response.

    A survey that compares a model with a reference has the published columns; any other has a value and a score
    column for each system and criterion.
    """
    return _paired(frame, rows) if is_paired(frame) else _general(frame, rows)


def write_processed(frame: Frame, stream: IO[str], *, filtered: bool = False) -> None:
    """Write all kept rows, or those whose answer was right."""
    rows = frame.filtered if filtered else frame.kept
    write_csv(neutralised(processed_table(frame, rows)), stream)


def _paired(frame: Frame, rows: pd.DataFrame) -> pd.DataFrame:
    pairs = Pairs(frame, rows)
    ours, gt = pairs.ours("justifies"), pairs.gt("justifies")
    return pd.DataFrame(
        {
            "assignment_id": rows["assignment_id"],
            "img_id": rows["item_id"],
            "answer_correct": rows["answer_correct"],
            "explanation_ours": pairs.ours("text"),
            "expl_score_ours": pairs.scores(ours),
            **{f"{name}_ours": pairs.ticked(pairs.ours(key)) for name, key in SHORTCOMINGS.items()},
            "explanation_gt": pairs.gt("text"),
            "expl_score_gt": pairs.scores(gt),
            **{f"{name}_gt": pairs.ticked(pairs.gt(key)) for name, key in SHORTCOMINGS.items()},
            "expl_value_our": ours,
            "expl_value_gt": gt,
            "prefer_ours": pairs.prefers(pairs.ours("preference")),
            "prefer_gt": pairs.prefers(pairs.gt("preference")),
            "prefer_none": pairs.no_preference(),
            "system_ours": pairs.our_system(),
            "system_gt": frame.definition.reference_system,
            "shown_position_ours": pairs.ours("shown_position"),
            "shown_position_gt": pairs.gt("shown_position"),
            **{name: rows[name] for name in CONTEXT},
        }
    )


def _general(frame: Frame, rows: pd.DataFrame) -> pd.DataFrame:
    maps = score_maps(frame.definition)
    columns = {name: rows[name] for name in ("assignment_id", "item_id", "answer_correct")}
    for system in frame.systems:
        for name in ("text", "shown_position"):
            columns[f"{system}.{name}"] = rows[f"{system}.{name}"]
    for _, key, name in frame.rating_columns():
        columns[name] = rows[name]
        columns[f"{name}.score"] = rows[name].map(maps[key]).astype("float64")
    return pd.DataFrame(
        {**columns, "is_skipped": rows["is_skipped"], **{name: rows[name] for name in CONTEXT}}
    )
