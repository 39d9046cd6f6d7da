"""A frame in, plain dataclasses out; no pandas leaves this module.

Every share has its count and its total beside it. A mean over nothing is None, never 0 and never NaN.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from surveys.aggregation.numbers import (
    BLANK,
    Counts,
    CriterionSummary,
    Difference,
    Minutes,
    Score,
    Selection,
    Share,
    Summary,
    SystemSummary,
    TaskScores,
)
from surveys.definitions import Criterion
from surveys.frames import Frame, column
from surveys.frames.base import KEPT_STATUSES, NO_PREFERENCE, PREFERRED, SELECTED, score_maps
from surveys.intervals import Interval, mean_interval


def summarise(frame: Frame) -> Summary:
    """Return the numbers of a study. An empty frame gives counts of 0 and means of None."""
    return Summary(
        headline=frame.definition.headline,
        counts=_counts(frame.responses),
        minutes=_minutes(frame.kept),
        all=_selection(frame, frame.responses, name="all"),
        kept=_selection(frame, frame.kept, name="kept"),
        filtered=_selection(frame, frame.filtered, name="filtered"),
    )


def _counts(rows: pd.DataFrame) -> Counts:
    assignments = rows.drop_duplicates(["assignment_id", "worker"])
    kept = int(assignments["status"].isin(KEPT_STATUSES).sum())
    return Counts(
        assignments=len(assignments),
        kept=kept,
        rejected=len(assignments) - kept,
        hits=int(rows["hit_id"].nunique()),
        items=int(rows["item_id"].nunique()),
        workers=int(rows["worker"].nunique()),
        responses=len(rows),
        skipped=int(rows["is_skipped"].sum()),
    )


def _minutes(rows: pd.DataFrame) -> Minutes:
    seconds = rows.drop_duplicates(["assignment_id", "worker"])["work_seconds"].dropna()
    if seconds.empty:
        return Minutes(None, None, 0)
    return Minutes(float(seconds.mean()) / 60, float(seconds.median()) / 60, len(seconds))


def _selection(frame: Frame, rows: pd.DataFrame, *, name: str) -> Selection:
    rows = rows[~rows["is_skipped"]]
    correct = None
    if frame.is_graded:
        right = int(rows["answer_correct"].fillna(False).sum())
        correct = Share("correct", "Answer right", right, len(rows))
    return Selection(
        name=name,
        responses=len(rows),
        correct=correct,
        criteria=_criteria(frame, rows, system="", criteria=frame.definition.item_criteria),
        systems=tuple(_system(frame, rows, system=system) for system in frame.systems),
        preference=_preference(frame, rows),
    )


def _system(frame: Frame, rows: pd.DataFrame, *, system: str) -> SystemSummary:
    rows = rows[rows[column(system, "text")].notna()]
    return SystemSummary(
        system=system,
        role=frame.role(system),
        responses=len(rows),
        criteria=_criteria(frame, rows, system=system, criteria=frame.definition.output_criteria),
        evil=_task_scores(frame, rows, system=system),
        interval=_interval(_headline_scores(frame, rows, system=system), rows),
        difference=_difference(frame, rows, system=system),
    )


def _headline_scores(frame: Frame, rows: pd.DataFrame, *, system: str) -> "pd.Series[float]":
    """Return a score per row, on the headline criterion about `system`; a blank is missing."""
    key = frame.definition.headline
    values = _values(rows, column(system, key))
    return values.map(score_maps(frame.definition)[key]).astype("float64")


def _interval(scores: "pd.Series[float]", rows: pd.DataFrame) -> Interval | None:
    given = scores.dropna()
    names = rows.loc[given.index, ["item_id", "worker"]]
    return mean_interval(
        np.asarray(given, dtype=np.float64),
        items=names["item_id"].to_numpy(),
        workers=names["worker"].to_numpy(),
    )


def _difference(frame: Frame, rows: pd.DataFrame, *, system: str) -> Difference | None:
    reference = frame.definition.reference_system
    if system == reference or reference not in frame.systems:
        return None
    ours, theirs = (_headline_scores(frame, rows, system=name) for name in (system, reference))
    pairs = (ours - theirs).dropna().sort_values()
    return Difference(float(pairs.mean()) if len(pairs) else None, len(pairs), _interval(pairs, rows))


def _criteria(
    frame: Frame, rows: pd.DataFrame, *, system: str, criteria: Iterable[Criterion]
) -> tuple[CriterionSummary, ...]:
    return tuple(_criterion(frame, rows, system=system, criterion=criterion) for criterion in criteria)


def _criterion(frame: Frame, rows: pd.DataFrame, *, system: str, criterion: Criterion) -> CriterionSummary:
    if criterion.is_checklist:
        return CriterionSummary(criterion.key, criterion.label, None, _ticks(rows, system, criterion))
    values = _values(rows, column(system, criterion.key))
    scores = values.map(score_maps(frame.definition)[criterion.key]).astype("float64")
    has_scores = any(choice.score is not None for choice in criterion.choices)
    return CriterionSummary(
        criterion.key,
        criterion.label,
        score=_score(scores, rows["item_id"]) if has_scores else None,
        shares=_value_shares(values, ((choice.value, choice.label) for choice in criterion.choices)),
    )


def _values(rows: pd.DataFrame, name: str) -> "pd.Series[str]":
    return rows[name] if name in rows else pd.Series(pd.NA, index=rows.index, dtype="str")


def _score(scores: "pd.Series[float]", items: "pd.Series[str]") -> Score:
    given = scores.dropna().sort_values()  # a sum must not depend on the order of the rows
    by_item = given.groupby(items[given.index]).mean()
    return Score(
        rating_mean=float(given.mean()) if len(given) else None,
        item_mean=float(by_item.mean()) if len(given) else None,
        ratings=len(given),
        items=len(by_item),
        blanks=len(scores) - len(given),
    )


def _value_shares(values: "pd.Series[str]", choices: Iterable[tuple[str, str]]) -> tuple[Share, ...]:
    counts = values.value_counts()
    shares = [Share(value, label, int(counts.get(value, 0)), len(values)) for value, label in choices]
    return (*shares, Share(BLANK, "Blank", int(values.isna().sum()), len(values)))


def _ticks(rows: pd.DataFrame, system: str, criterion: Criterion) -> tuple[Share, ...]:
    """Return a share per option, of all rows; for an explicit None, of the rows that ticked nothing else."""
    ticked = {
        choice.value: _values(rows, column(system, f"{criterion.key}.{choice.value}")) == SELECTED
        for choice in criterion.choices
        if choice.value != criterion.exclusive
    }
    shares = [
        Share(choice.value, choice.label, int(ticked[choice.value].sum()), len(rows))
        for choice in criterion.choices
        if choice.value in ticked
    ]
    anything = pd.DataFrame(ticked, index=rows.index).any(axis=1)
    return (*shares, Share("nothing", "Nothing ticked", len(rows) - int(anything.sum()), len(rows)))


def _preference(frame: Frame, rows: pd.DataFrame) -> tuple[Share, ...]:
    """Return how often each system was preferred, no preference, and blank, of all rows."""
    if frame.definition.preference is None:
        return ()
    key = frame.definition.preference.key
    values = {system: _values(rows, column(system, key)) for system in frame.systems}
    given = pd.DataFrame({system: v.notna() for system, v in values.items()}, index=rows.index).any(axis=1)
    none = pd.DataFrame({s: v == NO_PREFERENCE for s, v in values.items()}, index=rows.index).any(axis=1)
    shares = [Share(s, s, int((v == PREFERRED).sum()), len(rows)) for s, v in values.items()]
    return (
        *shares,
        Share(NO_PREFERENCE, "No preference", int(none.sum()), len(rows)),
        Share(BLANK, "Blank", len(rows) - int(given.sum()), len(rows)),
    )


def _task_scores(frame: Frame, rows: pd.DataFrame, *, system: str) -> TaskScores | None:
    if system not in frame.models or not frame.is_graded:
        return None
    said = rows[column(system, "answer")].replace("", pd.NA)
    graded = rows[said.notna() & rows["gold"].notna()]
    right = graded[graded[column(system, "answer")] == graded["gold"]]
    items, items_right = int(graded["item_id"].nunique()), int(right["item_id"].nunique())
    given = _headline_scores(frame, right, system=system).dropna().sort_values()
    return TaskScores(
        task=items_right / items if items else None,
        items_right=items_right,
        items=items,
        explanation=float(given.mean()) if len(given) else None,
    )
