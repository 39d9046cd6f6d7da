"""How well automatic metrics go with what people say: Pearson, Spearman and Kendall's tau-b, with intervals.

At item level a point is one output: its metric beside the mean of its ratings. At system level a point is one
system: the means over its outputs. The item level mixes whether a metric knows better outputs and whether it knows the
better system. Within systems is the first alone: the coefficient of each system's outputs, averaged over systems, which
count alike ("group-by-system" in D. Deutsch, G. Foster & M. Freitag, "Ties matter: meta-evaluating modern metrics with
pairwise accuracy and tie calibration", EMNLP 2023).

Intervals are the middle 95 % of a percentile bootstrap that draws items anew, all systems of an item together, because
outputs about one item resemble each other. Systems are not drawn: an interval over them is about these very systems,
and no test of whether a metric goes with people at all. Kendall's tau-b after M. G. Kendall, "The treatment of ties in
ranking problems", Biometrika 33, 1945.
"""

import math
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from surveys.results.statistics.numbering import Codes, numbered

RESAMPLES = 1000
SEED = 1945
LEVEL = 0.95
FEWEST_OUTPUTS = 10
FEWEST_SYSTEMS = 3
CELLS_AT_ONCE = 2_000_000  # of (resamples, outputs): 16 MB
PAIRWISE_UP_TO = 1500  # outputs; beyond that a table of all pairs would take more than 18 MB
RESAMPLES_OF_MANY = 200  # of more outputs than that, whose intervals are narrow

ROUNDING = 1e-9  # of the largest value
FEWEST_WITHIN = 2  # systems; of one alone the item level says the same

Level = Literal["item", "within", "system"]
EVERY_LEVEL: tuple[Level, ...] = ("item", "within", "system")
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

    `points` are (system, metric, mean rating), one for each output or system; within systems none, as they are those of
    the item level.
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


def correlations(
    ratings: pd.DataFrame, scores: pd.DataFrame, *, levels: Container[Level] = EVERY_LEVEL
) -> list[Correlation]:
    """Correlate every metric with every criterion: at item level, within systems where there are several, by system.

    `ratings`: columns system, item_id, criterion, score, one row per rating. `scores`: system, item_id, metric, value.
    """
    means = ratings.dropna(subset=["score"]).groupby(["criterion", "system", "item_id"], sort=True)["score"]
    people = means.mean().rename("rating").reset_index()
    both = people.merge(scores.dropna(subset=["value"]), on=["system", "item_id"])
    return [
        correlation
        for (metric, criterion), table in both.groupby(["metric", "criterion"], sort=False)
        for correlation in _of(str(metric), str(criterion), table, levels=levels)
    ]


def _of(
    metric: str, criterion: str, table: pd.DataFrame, *, levels: Container[Level]
) -> Iterator[Correlation]:
    outputs, systems = _Outputs.of(table), _Systems.of(table)
    within = [_Within.of(outputs)] if len(systems.x) >= FEWEST_WITHIN else []
    every: list[_Outputs | _Within | _Systems] = [outputs, *within, systems]
    asked = [points for points in every if points.level in levels]
    telling = [points for points in asked if not points.why_not]
    parts = [[points.resampled(drawn) for points in telling] for drawn in _drawn(table)] if telling else []
    resampled = {points.level: [part[n] for part in parts] for n, points in enumerate(telling)}
    for points in asked:
        yield _correlation(metric, criterion, points, resampled.get(points.level, []))


Resampled = dict[str, Floats]


@dataclass(frozen=True, slots=True)
class _Points:
    """The system, x (the metric) and y (the mean rating) of each point, shape (n,)."""

    level: ClassVar[Level]
    fewest: ClassVar[int]
    noun: ClassVar[str]
    systems: list[str]
    x: Floats
    y: Floats

    @property
    def n(self) -> int:
        return len(self.x)

    @property
    def points(self) -> tuple[tuple[str, float, float], ...]:
        return tuple(zip(self.systems, self.x.tolist(), self.y.tolist(), strict=True))

    @property
    def why_not(self) -> str:
        if self.n < self.fewest:
            return f"Only {self.n} {self.noun}{'s' * (self.n != 1)}; it takes {self.fewest}."
        if _is_constant(self.x):
            return "The metric is the same for all."
        if _is_constant(self.y):
            return "The mean rating is the same for all."
        return ""

    @property
    def values(self) -> dict[str, float]:
        return {name: statistic(self.x, self.y) for name, statistic in STATISTICS.items()}


@dataclass(frozen=True, slots=True)
class _Outputs(_Points):
    """One point an output."""

    level = "item"
    fewest = FEWEST_OUTPUTS
    noun = "output"

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
class _Within:
    """The outputs of each system that has enough of them, and where among all outputs they stand."""

    level: ClassVar[Level] = "within"
    points: ClassVar[tuple[tuple[str, float, float], ...]] = ()
    parts: list[tuple[Codes, _Outputs]]

    @classmethod
    def of(cls, outputs: _Outputs) -> Self:
        names, codes = numbered(np.array(outputs.systems))
        places = [np.flatnonzero(codes == code) for code in range(len(names))]
        parts = [
            (own, _Outputs([str(name)] * len(own), outputs.x[own], outputs.y[own]))
            for name, own in zip(names, places, strict=True)
        ]
        return cls([(own, part) for own, part in parts if not part.why_not])

    @property
    def n(self) -> int:
        return sum(part.n for _, part in self.parts)

    @property
    def why_not(self) -> str:
        if (n := len(self.parts)) >= FEWEST_WITHIN:
            return ""
        found = {0: "No system has", 1: "Only one system has"}[n]
        return f"{found} {FEWEST_OUTPUTS} outputs that differ; it takes {FEWEST_WITHIN}."

    @property
    def values(self) -> dict[str, float]:
        of_systems = [part.values for _, part in self.parts]
        return {name: float(np.mean([values[name] for values in of_systems])) for name in STATISTICS}

    def resampled(self, weights: Floats) -> Resampled:
        of_systems = [part.resampled(weights[:, own]) for own, part in self.parts]
        return {name: np.mean([values[name] for values in of_systems], axis=0) for name in STATISTICS}


@dataclass(frozen=True, slots=True)
class _Systems(_Points):
    """One point a system, the means over its outputs: `codes`, `scores` and `ratings` are the outputs'."""

    level = "system"
    fewest = FEWEST_SYSTEMS
    noun = "system"
    codes: Codes
    scores: Floats
    ratings: Floats

    @classmethod
    def of(cls, table: pd.DataFrame) -> Self:
        names, codes = np.unique(table["system"].to_numpy("U64"), return_inverse=True)
        scores, ratings = table["value"].to_numpy("float64"), table["rating"].to_numpy("float64")
        counts = np.bincount(codes)
        return cls(
            systems=names.tolist(),
            x=np.bincount(codes, weights=scores) / counts,
            y=np.bincount(codes, weights=ratings) / counts,
            codes=codes,
            scores=scores,
            ratings=ratings,
        )

    def resampled(self, weights: Floats) -> Resampled:
        """Return each coefficient of each resample; a system of which nothing was drawn is left out of it."""
        member = (self.codes[:, None] == np.arange(len(self.systems))).astype("float64")
        counts = weights @ member
        x, y = ((weights * column) @ member / np.maximum(counts, 1) for column in (self.scores, self.ratings))
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
    metric: str, criterion: str, points: _Outputs | _Within | _Systems, resampled: list[Resampled]
) -> Correlation:
    coefficients: dict[str, Any] = dict.fromkeys(STATISTICS)
    if not points.why_not:
        coefficients = {
            name: _coefficient(value, np.concatenate([part[name] for part in resampled]))
            for name, value in points.values.items()
        }
    return Correlation(
        metric=metric,
        criterion=criterion,
        level=points.level,
        n=points.n,
        **coefficients,
        why_not=points.why_not,
        points=points.points,
    )


def _coefficient(value: float, resampled: Floats) -> Coefficient | None:
    if not math.isfinite(value):
        return None
    known = resampled[np.isfinite(resampled)]
    if len(known) < LEVEL * len(resampled):
        return Coefficient(value, None, None)
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Coefficient(value, float(low), float(high))


def _is_constant(values: Floats) -> bool:
    """Say whether values differ by no more than rounding."""
    return bool(np.ptp(values) <= ROUNDING * np.abs(values).max())


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
