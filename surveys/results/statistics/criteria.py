"""What was said on each criterion by itself: its mean, its interval and how its values are spread."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from surveys.protocols.criteria import Criterion
from surveys.results.frames.base import SELECTED, Frame, column, only, rating_keys, score_maps, scored
from surveys.results.statistics.inference import Interval, Ratings, interval_on_scale, mean_effect
from surveys.results.statistics.numbering import known_people
from surveys.results.statistics.numbers import BLANK, CriterionSummary, Score, Share

GOOD = "good"
UNTICKED = "nothing"


def criterion_summaries(
    frame: Frame, rows: pd.DataFrame, *, system: str, criteria: Iterable[Criterion]
) -> tuple[CriterionSummary, ...]:
    """Return one summary per criterion of `rows`, about `system`; "" is the item itself."""
    names = coded(rows)
    return tuple(_criterion(frame, rows, names, system=system, criterion=criterion) for criterion in criteria)


def values_of(rows: pd.DataFrame, name: str) -> "pd.Series[str]":
    """Return a column of values; blanks where nobody gave any."""
    return rows[name] if name in rows else pd.Series(pd.NA, index=rows.index, dtype="str")


def scores_of(frame: Frame, rows: pd.DataFrame, *, system: str, key: str = "") -> "pd.Series[float]":
    """Return a score per row on criterion `key` (default: the headline) about `system`; a blank is missing."""
    key = key or frame.definition.headline
    return scored(values_of(rows, column(system, key)), by=score_maps(frame.definition)[key])


def coded(rows: pd.DataFrame) -> pd.DataFrame:
    """Return items and workers of `rows` as numbers, -1 for an unknown worker: quicker to group than names."""
    return pd.DataFrame(
        {name: pd.factorize(rows[name])[0] for name in ("item_id", "worker")}, index=rows.index
    )


def ratings_of(scores: "pd.Series[float]", names: pd.DataFrame) -> Ratings:
    """Return the scores given, with items and workers from `coded`; no workers where none of them is known."""
    values = np.asarray(scores, dtype=np.float64)
    of_scores = names if scores.index.equals(names.index) else names.loc[scores.index]
    items, workers = (of_scores[name].to_numpy() for name in ("item_id", "worker"))
    is_given = ~np.isnan(values)
    if not is_given.all():  # else no copy of what many criteria share
        values, items, workers = values[is_given], items[is_given], workers[is_given]
    return Ratings(values, items, known_people(workers, unknown=len(names)))


def interval_of(
    scores: "pd.Series[float]", names: pd.DataFrame, *, scale: tuple[float, ...] = ()
) -> Interval | None:
    """Return the interval of the mean of scores, on their scale where they have one; `names` are `coded`."""
    ratings = ratings_of(scores, names)
    if scale:
        return interval_on_scale(ratings, low=min(scale), high=max(scale))
    effect = mean_effect(ratings)
    return effect.interval() if effect else None


def _criterion(
    frame: Frame, rows: pd.DataFrame, names: pd.DataFrame, *, system: str, criterion: Criterion
) -> CriterionSummary:
    rows = where_asked(rows, system, criterion)
    if criterion.is_checklist:
        ticks = _ticks(rows, names, system=system, criterion=criterion)
        return CriterionSummary(criterion.key, criterion.label, None, ticks, is_checklist=True)
    values = values_of(rows, column(system, criterion.key))
    shares = _value_shares(values, ((choice.value, choice.label) for choice in criterion.choices))
    if criterion.is_text:
        return CriterionSummary(criterion.key, criterion.label, None, shares)
    scores = scores_of(frame, rows, system=system, key=criterion.key)
    scale = tuple(choice.score for choice in criterion.choices if choice.score is not None)
    return CriterionSummary(
        criterion.key,
        criterion.label,
        score=_score(scores, rows["item_id"]),
        shares=shares,
        interval=interval_of(scores, names, scale=scale),
        good=None if criterion.number else _good(scores, at_least=frame.definition.good_from),
        scale=scale,
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


def share_of(key: str, label: str, flags: "pd.Series[bool]", names: pd.DataFrame) -> Share:
    """Return how many of `flags` are set, with the interval of that share; `names` are `coded`."""
    interval = interval_of(flags.astype("float64"), names, scale=(0.0, 1.0))
    return Share(key, label, int(flags.sum()), len(flags), interval)


def where_asked(rows: pd.DataFrame, system: str, criterion: Criterion) -> pd.DataFrame:
    """Return the rows in which a criterion counts: all, or those that answer it where not everybody is asked."""
    if criterion.asked_if is None:
        return rows
    names = [name for key in rating_keys(criterion) if (name := column(system, key)) in rows]
    return only(rows, rows[names].notna().any(axis=1))


def flags_of(rows: pd.DataFrame, system: str, criterion: Criterion) -> dict[str, "pd.Series[bool]"]:
    """Return which rows ticked each option of a checklist, and "nothing": none but the explicit None, if any."""
    ticked = {
        choice.value: values_of(rows, column(system, f"{criterion.key}.{choice.value}")) == SELECTED
        for choice in criterion.choices
        if choice.value != criterion.exclusive
    }
    return {**ticked, UNTICKED: ~pd.DataFrame(ticked, index=rows.index).any(axis=1)}


def _ticks(
    rows: pd.DataFrame, names: pd.DataFrame, *, system: str, criterion: Criterion
) -> tuple[Share, ...]:
    """Return a share per option, of these rows; for an explicit None, of the rows that ticked nothing else."""
    labels = {**{choice.value: choice.label for choice in criterion.choices}, UNTICKED: "Nothing ticked"}
    flags = flags_of(rows, system, criterion)
    return tuple(share_of(value, labels[value], flag, names) for value, flag in flags.items())
