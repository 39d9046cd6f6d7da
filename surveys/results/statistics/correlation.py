"""How well automatic metrics go with what people say: Pearson, Spearman and Kendall's tau-b, with intervals.

At item level a point is one output: its metric beside the mean of its ratings. At system level a point is one
system: the means over its outputs. Intervals are the middle 95 % of a percentile bootstrap that draws items anew,
all systems of an item together, because outputs about one item resemble each other. Systems are not drawn: an interval
over them is about these very systems, and no test of whether a metric goes with people at all. Kendall's tau-b after
M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33, 1945.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

RESAMPLES = 1000
SEED = 1945
LEVEL = 0.95
FEWEST_OUTPUTS = 10
FEWEST_SYSTEMS = 3
CELLS_AT_ONCE = 2_000_000  # of (resamples, outputs): 16 MB
PAIRWISE_UP_TO = 1500  # outputs; beyond that a table of all pairs would take more than 18 MB
RESAMPLES_OF_MANY = 200  # of more outputs than that, whose intervals are narrow

Level = Literal["item", "system"]
Floats = npt.NDArray[np.float64]


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
    levels: tuple[_Outputs, _Systems] = _Outputs.of(table), _Systems.of(table)
    telling = [points for points in levels if not _why_not(points)]
    parts = [[points.resampled(drawn) for points in telling] for drawn in _drawn(table)] if telling else []
    resampled = {points.level: [part[n] for part in parts] for n, points in enumerate(telling)}
    for points in levels:
        yield _correlation(metric, criterion, points, resampled.get(points.level, []))


Resampled = dict[str, Floats]


@dataclass(frozen=True, slots=True)
class _Outputs:
    """One point an output: its system, x (the metric) and y (the mean rating), shape (n,)."""

    systems: list[str]
    x: Floats
    y: Floats
    level: Level = "item"
    fewest: int = FEWEST_OUTPUTS

    @classmethod
    def of(cls, table: pd.DataFrame) -> Self:
        return cls(
            table["system"].tolist(),
            table["value"].to_numpy("float64"),
            table["rating"].to_numpy("float64"),
        )

    def resampled(self, weights: Floats) -> Resampled:
        """Return each coefficient of each resample; `weights` (resamples, n) say how often a point was drawn."""
        ranks = _weighted_ranks(self.x, weights), _weighted_ranks(self.y, weights)
        return {
            "pearson": _weighted_pearson(self.x[None, :], self.y[None, :], weights),
            "spearman": _weighted_pearson(*ranks, weights),
            "kendall": self._kendall(weights),
        }

    def _kendall(self, weights: Floats) -> Floats:
        if len(self.x) > PAIRWISE_UP_TO:
            times = weights.astype("intp")
            return np.array([_kendall(np.repeat(self.x, n), np.repeat(self.y, n)) for n in times])
        dx, dy = _signs(self.x), _signs(self.y)

        def total(signs: Floats) -> Floats:
            return np.asarray(((weights @ signs) * weights).sum(axis=1), dtype="float64")

        return _ratio(total(dx * dy), total(np.abs(dx)) * total(np.abs(dy)))


@dataclass(frozen=True, slots=True)
class _Systems:
    """One point a system: x and y are the means over its outputs, shape (systems,)."""

    systems: list[str]
    x: Floats
    y: Floats
    codes: npt.NDArray[np.intp]
    values: Floats
    ratings: Floats
    level: Level = "system"
    fewest: int = FEWEST_SYSTEMS

    @classmethod
    def of(cls, table: pd.DataFrame) -> Self:
        names, codes = np.unique(table["system"].to_numpy("U64"), return_inverse=True)
        values, ratings = table["value"].to_numpy("float64"), table["rating"].to_numpy("float64")
        counts = np.bincount(codes)
        return cls(
            systems=names.tolist(),
            x=np.bincount(codes, weights=values) / counts,
            y=np.bincount(codes, weights=ratings) / counts,
            codes=codes,
            values=values,
            ratings=ratings,
        )

    def resampled(self, weights: Floats) -> Resampled:
        """Return each coefficient of each resample; a system of which nothing was drawn is left out of it."""
        member = (self.codes[:, None] == np.arange(len(self.systems))).astype("float64")
        counts = weights @ member
        x, y = ((weights * column) @ member / np.maximum(counts, 1) for column in (self.values, self.ratings))
        there = (counts > 0).astype("float64")
        pairs = there[:, :, None] * there[:, None, :]
        dx, dy = (_signs(column) * pairs for column in (x, y))
        ranks = dx.sum(axis=2), dy.sum(axis=2)  # ranks, but for a constant and a factor
        return {
            "pearson": _weighted_pearson(x, y, there),
            "spearman": _weighted_pearson(*ranks, there),
            "kendall": _ratio(
                (dx * dy).sum(axis=(1, 2)), np.abs(dx).sum(axis=(1, 2)) * np.abs(dy).sum(axis=(1, 2))
            ),
        }


def _correlation(
    metric: str, criterion: str, points: _Outputs | _Systems, resampled: list[Resampled]
) -> Correlation:
    why_not = _why_not(points)
    coefficients: dict[str, Any] = dict.fromkeys(STATISTICS)
    if not why_not:
        coefficients = {
            name: _coefficient(
                statistic(points.x, points.y), np.concatenate([part[name] for part in resampled])
            )
            for name, statistic in STATISTICS.items()
        }
    return Correlation(
        metric=metric,
        criterion=criterion,
        level=points.level,
        n=len(points.x),
        **coefficients,
        why_not=why_not,
        points=tuple(zip(points.systems, points.x.tolist(), points.y.tolist(), strict=True)),
    )


def _why_not(points: _Outputs | _Systems) -> str:
    if (n := len(points.x)) < points.fewest:
        noun = "output" if points.level == "item" else "system"
        return f"Only {n} {noun}{'s' * (n != 1)}; it takes {points.fewest}."
    if np.ptp(points.x) == 0:
        return "The metric is the same for all."
    if np.ptp(points.y) == 0:
        return "The mean rating is the same for all."
    return ""


def _coefficient(value: float, resampled: Floats) -> Coefficient:
    known = resampled[np.isfinite(resampled)]
    if len(known) < LEVEL * len(resampled):
        return Coefficient(value, None, None)
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Coefficient(value, float(low), float(high))


def _drawn(table: pd.DataFrame) -> Iterator[Floats]:
    """Yield, in parts of shape (resamples, rows), how often each row counts: as often as its item was drawn."""
    names, codes = np.unique(table["item_id"].to_numpy("U255"), return_inverse=True)
    rng = np.random.default_rng(SEED)
    resamples = RESAMPLES if len(table) <= PAIRWISE_UP_TO else RESAMPLES_OF_MANY
    at_once = max(1, min(resamples, CELLS_AT_ONCE // len(table)))
    for start in range(0, resamples, at_once):
        drawn = rng.integers(len(names), size=(min(at_once, resamples - start), len(names)))
        yield np.stack([np.bincount(row, minlength=len(names))[codes] for row in drawn]).astype("float64")


def _weighted_ranks(values: Floats, weights: Floats) -> Floats:
    """Return the middle ranks of `values` (n,) where each stands there as often as `weights` (resamples, n) says."""
    _, codes = np.unique(values, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    of_value = np.add.reduceat(weights[:, order], starts, axis=1)
    middle = np.cumsum(of_value, axis=1) - of_value + (of_value + 1) / 2
    return np.asarray(middle[:, codes], dtype="float64")


def _weighted_pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Return r of each row; `x` and `y` are (resamples, n), or (1, n) where all have the same."""
    total = weights.sum(axis=1)
    dx, dy = (column - (_product_sum(weights, column) / total)[:, None] for column in (x, y))
    return _ratio(
        _product_sum(weights, dx, dy), _product_sum(weights, dx, dx) * _product_sum(weights, dy, dy)
    )


def _product_sum(*columns: Floats) -> Floats:
    """Return the sum of products over each row, without a table of the products."""
    return np.asarray(np.einsum(",".join(["ij"] * len(columns)) + "->i", *columns), dtype="float64")


def _signs(values: Floats) -> Floats:
    """Return the sign of each difference along the last axis, shape (..., n, n)."""
    return np.asarray(np.sign(values[..., :, None] - values[..., None, :]), dtype="float64")


def _ratio(product: Floats, squares: Floats) -> Floats:
    """Return product / sqrt(squares); NaN where one side does not vary, but for rounding."""
    varies = squares > 1e-18
    return np.where(varies, product / np.sqrt(np.where(varies, squares, 1)), np.nan)


def _pearson(x: Floats, y: Floats) -> float:
    return float(_weighted_pearson(x[None, :], y[None, :], np.ones((1, len(x))))[0])


def _spearman(x: Floats, y: Floats) -> float:
    ones = np.ones((1, len(x)))
    return float(_weighted_pearson(_weighted_ranks(x, ones), _weighted_ranks(y, ones), ones)[0])


def _kendall(x: Floats, y: Floats) -> float:
    from scipy.stats import kendalltau  # it takes a second to start, which only this page should wait for

    return float(kendalltau(x, y).statistic)


STATISTICS = {"pearson": _pearson, "spearman": _spearman, "kendall": _kendall}
