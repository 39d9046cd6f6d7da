"""What was said on each criterion by itself: its mean, its interval and how its values are spread."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from surveys.protocols.definition import Criterion
from surveys.results.frames.base import SELECTED, Frame, column, score_maps
from surveys.results.statistics.intervals import Interval, Ratings, mean_interval
from surveys.results.statistics.numbers import BLANK, CriterionSummary, Score, Share

GOOD = "good"


def criterion_summaries(
    frame: Frame, rows: pd.DataFrame, *, system: str, criteria: Iterable[Criterion]
) -> tuple[CriterionSummary, ...]:
    """Return one summary per criterion of `rows`, about `system`; "" is the item itself."""
    return tuple(_criterion(frame, rows, system=system, criterion=criterion) for criterion in criteria)


def values_of(rows: pd.DataFrame, name: str) -> "pd.Series[str]":
    """Return a column of values; blanks where nobody gave any."""
    return rows[name] if name in rows else pd.Series(pd.NA, index=rows.index, dtype="str")


def scores_of(frame: Frame, rows: pd.DataFrame, *, system: str, key: str = "") -> "pd.Series[float]":
    """Return a score per row on criterion `key` (default: the headline) about `system`; a blank is missing."""
    key = key or frame.definition.headline
    return values_of(rows, column(system, key)).map(score_maps(frame.definition)[key]).astype("float64")


def ratings_of(scores: "pd.Series[float]", rows: pd.DataFrame) -> Ratings:
    """Return the scores given, with items and workers; no workers where any of them is unknown."""
    given = scores.dropna()
    names = rows.loc[given.index, ["item_id", "worker"]]
    is_known = bool(names["worker"].notna().all())
    return Ratings(
        np.asarray(given, dtype=np.float64),
        items=names["item_id"].to_numpy(dtype=object),
        workers=names["worker"].to_numpy(dtype=object) if is_known else None,
    )


def interval_of(scores: "pd.Series[float]", rows: pd.DataFrame) -> Interval | None:
    """Return the interval of the mean of scores; see `surveys.results.statistics.intervals`."""
    ratings = ratings_of(scores, rows)
    return mean_interval(ratings.values, items=ratings.items, workers=ratings.workers)


def _criterion(frame: Frame, rows: pd.DataFrame, *, system: str, criterion: Criterion) -> CriterionSummary:
    if criterion.is_checklist:
        return CriterionSummary(criterion.key, criterion.label, None, _ticks(rows, system, criterion))
    values = values_of(rows, column(system, criterion.key))
    shares = _value_shares(values, ((choice.value, choice.label) for choice in criterion.choices))
    if criterion.is_text:
        return CriterionSummary(criterion.key, criterion.label, None, shares)
    scores = scores_of(frame, rows, system=system, key=criterion.key)
    return CriterionSummary(
        criterion.key,
        criterion.label,
        score=_score(scores, rows["item_id"]),
        shares=shares,
        interval=interval_of(scores, rows),
        good=_good(scores, at_least=frame.definition.good_from),
        scale=tuple(choice.score for choice in criterion.choices if choice.score is not None),
    )


def _score(scores: "pd.Series[float]", items: "pd.Series[str]") -> Score:
    given = scores.dropna().sort_values()  # a sum must not depend on the order of the rows
    by_item = given.groupby(items[given.index]).mean()
    return Score(
        rating_mean=float(given.mean()) if len(given) else None,
        item_mean=float(by_item.mean()) if len(given) else None,
        sd=float(given.std()) if len(given) > 1 else None,
        ratings=len(given),
        items=len(by_item),
        blanks=len(scores) - len(given),
    )


def _good(scores: "pd.Series[float]", *, at_least: float | None) -> Share | None:
    if at_least is None:
        return None
    given = scores.dropna()
    return Share(GOOD, f"{at_least:g} or more", int((given >= at_least).sum()), len(given))


def _value_shares(values: "pd.Series[str]", choices: Iterable[tuple[str, str]]) -> tuple[Share, ...]:
    counts = values.value_counts()
    shares = [Share(value, label, int(counts.get(value, 0)), len(values)) for value, label in choices]
    return (*shares, Share(BLANK, "Blank", int(values.isna().sum()), len(values)))


def _ticks(rows: pd.DataFrame, system: str, criterion: Criterion) -> tuple[Share, ...]:
    """Return a share per option, of all rows; for an explicit None, of the rows that ticked nothing else."""
    ticked = {
        choice.value: values_of(rows, column(system, f"{criterion.key}.{choice.value}")) == SELECTED
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
