"""How well automatic metrics go with what people say: Pearson, Spearman and Kendall's tau-b, with intervals.

At item level a point is one output: its metric beside the mean of its ratings. At system level a point is one
system: the means over its outputs. Intervals are the middle 95 % of a percentile bootstrap that draws items anew,
all systems of an item together, because outputs about one item resemble each other. Kendall's tau-b after M. G.
Kendall, "The treatment of ties in ranking problems", Biometrika 33, 1945.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

RESAMPLES = 1000
SEED = 1945
LEVEL = 0.95
FEWEST_OUTPUTS = 10
FEWEST_SYSTEMS = 3
PAIRWISE_UP_TO = 1500  # outputs; beyond that a table of all pairs would take more than 18 MB

Level = Literal["item", "system"]
Floats = npt.NDArray[np.float64]
Statistic = Callable[[Floats, Floats], float]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient; `low` and `high` are None where the resamples leave it open."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Correlation:
    """One metric beside one criterion. `why_not` says why there are no coefficients, "" if there are.

    `points` are (system, metric, mean rating), one for each output or system.
    """

    metric: str
    criterion: str
    level: Level
    n: int
    pearson: Coefficient | None
    spearman: Coefficient | None
    kendall: Coefficient | None
    why_not: str
    points: tuple[tuple[str, float, float], ...]


def correlations(ratings: pd.DataFrame, scores: pd.DataFrame) -> list[Correlation]:
    """Correlate every metric with every criterion, at both levels.

    `ratings`: columns system, item_id, criterion, score, one row per rating. `scores`: system, item_id, metric, value.
    """
    means = ratings.dropna(subset=["score"]).groupby(["criterion", "system", "item_id"], sort=True)["score"]
    people = means.mean().rename("rating").reset_index()
    both = people.merge(scores.dropna(subset=["value"]), on=["system", "item_id"])
    return [
        correlation
        for (metric, criterion), table in both.groupby(["metric", "criterion"], sort=False)
        for correlation in _of(str(metric), str(criterion), table)
    ]


def _of(metric: str, criterion: str, table: pd.DataFrame) -> Iterator[Correlation]:
    drawn = _resamples(table)
    yield _correlation(metric, criterion, "item", _Points.of_outputs(table), drawn)
    yield _correlation(metric, criterion, "system", _Points.of_systems(table), drawn)


@dataclass(frozen=True, slots=True)
class _Points:
    """Labels, x (metric) and y (mean rating) of the points, and how they are made anew from a resample's weights."""

    systems: list[str]
    x: Floats
    y: Floats
    remade: Callable[[Floats], tuple[Floats, Floats]]

    @classmethod
    def of_outputs(cls, table: pd.DataFrame) -> "_Points":
        x, y = table["value"].to_numpy("float64"), table["rating"].to_numpy("float64")

        def remade(weights: Floats) -> tuple[Floats, Floats]:
            times = weights.astype("intp")
            return np.repeat(x, times), np.repeat(y, times)

        return cls(table["system"].tolist(), x, y, remade)

    @classmethod
    def of_systems(cls, table: pd.DataFrame) -> "_Points":
        names, codes = np.unique(table["system"].to_numpy("U64"), return_inverse=True)
        values = table[["value", "rating"]].to_numpy("float64")

        def remade(weights: Floats) -> tuple[Floats, Floats]:
            counts = np.bincount(codes, weights=weights, minlength=len(names))
            with np.errstate(invalid="ignore"):
                x, y = (
                    np.bincount(codes, weights=weights * column, minlength=len(names)) / counts
                    for column in values.T
                )
            return x[counts > 0], y[counts > 0]

        x, y = remade(np.ones(len(table)))
        return cls(names.tolist(), x, y, remade)


def _correlation(metric: str, criterion: str, level: Level, points: _Points, drawn: Floats) -> Correlation:
    why_not = _why_not(points, level)
    coefficients = dict.fromkeys(STATISTICS) if why_not else _coefficients(points, level, drawn)
    return Correlation(
        metric=metric,
        criterion=criterion,
        level=level,
        n=len(points.x),
        **coefficients,
        why_not=why_not,
        points=tuple(zip(points.systems, points.x.tolist(), points.y.tolist(), strict=True)),
    )


def _why_not(points: _Points, level: Level) -> str:
    fewest = FEWEST_OUTPUTS if level == "item" else FEWEST_SYSTEMS
    if len(points.x) < fewest:
        return f"Only {len(points.x)} {'outputs' if level == 'item' else 'systems'}; it takes {fewest}."
    if np.ptp(points.x) == 0:
        return "The metric is the same for all."
    if np.ptp(points.y) == 0:
        return "The mean rating is the same for all."
    return ""


def _coefficients(points: _Points, level: Level, drawn: Floats) -> dict[str, Coefficient | None]:
    resampled = [points.remade(weights) for weights in drawn]
    fast = _pairwise_tau(points, drawn) if level == "item" and len(points.x) <= PAIRWISE_UP_TO else None
    return {
        name: _coefficient(
            statistic(points.x, points.y),
            fast
            if name == "kendall" and fast is not None
            else np.array([statistic(*xy) for xy in resampled]),
        )
        for name, statistic in STATISTICS.items()
    }


def _coefficient(value: float, resampled: Floats) -> Coefficient:
    known = resampled[np.isfinite(resampled)]
    if len(known) < LEVEL * len(resampled):
        return Coefficient(value, None, None)
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Coefficient(value, float(low), float(high))


def _resamples(table: pd.DataFrame) -> Floats:
    """Return how often each row counts in each resample, shape (resamples, rows): as often as its item was drawn."""
    names, codes = np.unique(table["item_id"].to_numpy("U255"), return_inverse=True)
    rng = np.random.default_rng(SEED)
    drawn = rng.integers(len(names), size=(RESAMPLES, len(names)))
    return np.stack([np.bincount(row, minlength=len(names))[codes] for row in drawn]).astype("float64")


def _pairwise_tau(points: _Points, drawn: Floats) -> Floats:
    """Return tau-b of each resample from the signs of all pairs: a pair counts weight times weight."""
    dx = np.sign(np.subtract.outer(points.x, points.x))
    dy = np.sign(np.subtract.outer(points.y, points.y))

    def total(signs: Floats) -> Floats:
        return np.asarray(((drawn @ signs) * drawn).sum(axis=1), dtype="float64")

    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total(dx * dy) / np.sqrt(total(np.abs(dx)) * total(np.abs(dy))), dtype="float64")


def _pearson(x: Floats, y: Floats) -> float:
    dx, dy = x - x.mean(), y - y.mean()
    length = np.sqrt((dx * dx).sum() * (dy * dy).sum()) if len(x) else 0.0
    return float((dx * dy).sum() / length) if length else float("nan")


def _spearman(x: Floats, y: Floats) -> float:
    return _pearson(stats.rankdata(x), stats.rankdata(y))


def _kendall(x: Floats, y: Floats) -> float:
    return float(stats.kendalltau(x, y).statistic) if len(x) else float("nan")


STATISTICS: dict[Any, Statistic] = {"pearson": _pearson, "spearman": _spearman, "kendall": _kendall}
