"""Our own processed layout: the published columns with the right values, and what is needed to check them."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from surveys.results.files.pairs import SHORTCOMINGS, Pairs, is_paired
from surveys.results.frames.base import REPEAT, Frame, column, rating_keys, score_maps, scored

CONTEXT = (
    "worker", "hit_id", "position", "answer", "gold", "active_seconds", "work_seconds", "status", "decision",
)  # fmt: skip


def processed_table(frame: Frame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return `rows` of `frame`, one line per response.

    A survey that compares a model with a reference has the published columns, and one that shows one output has those
    of them that mean the same, and a value and a score column for each criterion. Any other has these for each system.
    """
    if is_paired(frame):
        return _paired(frame, rows)
    return _single(frame, rows) if frame.definition.is_single else _general(frame, rows)


def processed_rows(frame: Frame, *, filtered: bool = False) -> pd.DataFrame:
    """Return all kept rows, or those whose answer was right; repeats too, which a last column tells."""
    rows = frame.with_repeats(frame.kept, frame.kept_repeats)
    rows = frame.rightly(rows) if filtered else rows
    table = processed_table(frame, rows)
    return table.assign(is_repeat=rows[REPEAT]) if frame.has_repeats else table


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


def _single(frame: Frame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return one output's columns without its system's name, which stands beside them."""
    shown = {system: frame.about(rows, system=system).index for system in frame.systems}
    said = {name: _merged(rows, shown, name) for name in ("text", "shown_position", "model_correct")}
    return pd.DataFrame(
        {
            "assignment_id": rows["assignment_id"],
            "img_id": rows["item_id"],
            "answer_correct": rows["answer_correct"],
            "explanation_ours": said["text"],
            **_given(frame, rows, shown),
            "system_ours": _system_names(rows, shown),
            "shown_position_ours": said["shown_position"],
            "model_correct": said["model_correct"],
            "is_skipped": rows["is_skipped"],
            **{name: rows[name] for name in (*CONTEXT, "skip_reason", "channel", "quiz_passed", "surplus")},
        }
    )


def _given(
    frame: Frame, rows: pd.DataFrame, shown: Mapping[str, "pd.Index[int]"]
) -> dict[str, "pd.Series[Any]"]:
    """Return `<criterion>_value` and, where it has any, `<criterion>_score`, in the order of the definition."""
    columns: dict[str, pd.Series[Any]] = {}
    maps = score_maps(frame.definition)
    for criterion in frame.definition.criteria:
        for key in rating_keys(criterion):
            values = _merged(rows, shown if criterion.per_output else {"": rows.index}, key)
            columns[f"{key}_value"] = values
            if not criterion.is_text:
                columns[f"{key}_score"] = scored(values, by=maps[key])
    return columns


def _merged(rows: pd.DataFrame, shown: Mapping[str, "pd.Index[int]"], name: str) -> "pd.Series[Any]":
    """Return a column of whichever system a row is about."""
    parts = [
        rows.loc[index, column(system, name)]
        for system, index in shown.items()
        if column(system, name) in rows
    ]
    found = pd.concat(parts) if parts else pd.Series(pd.NA, index=rows.index[:0], dtype="str")
    return found.reindex(rows.index)


def _system_names(rows: pd.DataFrame, shown: Mapping[str, "pd.Index[int]"]) -> "pd.Series[str]":
    names = pd.Series(pd.NA, index=rows.index, dtype="str")
    for system, index in shown.items():
        names[index] = system
    return names


def _general(frame: Frame, rows: pd.DataFrame) -> pd.DataFrame:
    maps = score_maps(frame.definition)
    columns = {name: rows[name] for name in ("assignment_id", "item_id", "answer_correct")}
    for system in frame.systems:
        for name in ("text", "shown_position"):
            columns[f"{system}.{name}"] = rows[f"{system}.{name}"]
    for _, key, name in frame.rating_columns():
        columns[name] = rows[name]
        columns[f"{name}.score"] = scored(rows[name], by=maps[key])
    return pd.DataFrame(
        {**columns, "is_skipped": rows["is_skipped"], **{name: rows[name] for name in CONTEXT}}
    )
