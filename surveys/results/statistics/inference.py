"""How sure a mean or a difference is: the one place that p values, intervals and daggers come from.

One worker rates many items and one item has several raters, so ratings do not stand for themselves. The variance is
the two-way one of A. C. Cameron, J. B. Gelbach & D. L. Miller, "Robust inference with multiway clustering", Journal of
Business & Economic Statistics 29(2), 2011: that over items, plus that over workers, less that over the ratings of one
worker on one item, which both hold. Each of the three leaves out one item, worker or cell at a time and computes the
number anew (the cluster jackknife of J. G. MacKinnon, M. O. Nielsen & M. D. Webb, "Fast and reliable jackknife and
bootstrap methods for cluster-robust inference", Journal of Applied Econometrics 38(5), 2023), since the usual sums are
too small where few workers do most of the work. It is never below the larger of the first two, so never negative.
Tests and intervals are Student's t with min(items, effective workers) - 1 degrees of freedom. The effective number is
Kish's, (sum n)^2 / sum n^2 (L. Kish, "Survey Sampling", 1965): how many equally busy workers would tell as much. That a
t test with clusters of unequal size has no more to lean on is the point of A. V. Carter, K. T. Schnepel & D. G.
Steigerwald, "Asymptotic behavior of a t-test robust to cluster heterogeneity", Review of Economics and Statistics
99(4), 2017; their own number is this one where ratings of one worker have nothing in common, and else smaller.
A mean that can't leave its scale has Wilson's interval (E. B. Wilson, "Probable inference, the law of succession, and
statistical inference", Journal of the American Statistical Association 22, 1927) with the effective number that its
error tells, as surveys have it (C. Franco, R. J. A. Little, T. A. Louis & E. V. Slud, "Comparative study of confidence
intervals for proportions in complex sample surveys", Journal of Survey Statistics and Methodology 7(3), 2019): near an
end the spread that was seen tells too little of what was not.
Nothing is drawn: equal ratings give equal numbers in whatever order they come. The pigeonhole bootstrap (A. B. Owen,
Annals of Applied Statistics 1(2), 2007) estimates the same variance, on the wide side; it stands beside these in tests.

`benchmarks/inference.py` measures how often these tests and intervals err.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from surveys.results.statistics.numbering import Codes, numbered

LEVEL = 0.95
ALPHA = 0.05
FEW_WORKERS = 10.0  # effective ones; below, cluster methods lean on luck
BUSIEST = 3
NOTHING = 1e-24  # a variance that is rounding
# Why nothing is tested.
ALL_ALIKE = "all items say the same"
ALL_OF_ONE = "it rests on one person"

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[Any]
Kernel = Literal["difference", "superiority"]


@dataclass(frozen=True, slots=True)
class Support:
    """What a number rests on; of a comparison, its thinner side. `workers` is 0 where nobody knows who rated what:
    then only items count as drawn.

    `effective` is how many equally busy workers would tell as much, (sum n)^2 / sum n^2 of what each rated, and
    `busiest` the share of all ratings that the busiest three gave; both None where workers are unknown.
    """

    items: int
    workers: int
    effective: float | None = None
    busiest: float | None = None

    @property
    def has_few_workers(self) -> bool:
        """Too few to know how workers differ: p values and intervals can't be trusted, the interval is too narrow."""
        return self.effective is not None and round(self.effective, 1) < FEW_WORKERS

    @property
    def warning(self) -> str:
        """What stands beside every number that rests on few workers; "" beside the others."""
        if not self.has_few_workers:
            return ""
        return f"few workers: {self.workers}, as good as {self.effective:.1f}"


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval, and what it rests on. At LEVEL it is to hold the true value in that share of all studies.

    At another `level` it is the one of Holm's step, so that it agrees with the dagger, and promises no coverage.
    """

    low: float
    high: float
    support: Support
    level: float = LEVEL

    @property
    def has_few_workers(self) -> bool:
        return self.support.has_few_workers

    @property
    def places(self) -> int:
        """How many decimal places are known: to the first digit of half its width, to the second where that is 1.

        More where an end would else be printed as 0 and is not with 4, which is most.
        """
        half = (self.high - self.low) / 2
        if half <= 0:
            return 4
        first = math.floor(math.log10(half))
        places = min(max(-first + int(half < 2 * 10.0**first), 0), 4)
        ends = [end for end in (self.low, self.high) if round(end, 4)]
        while any(not round(end, places) for end in ends):
            places += 1
        return places

    def within(self, low: float, high: float) -> "Interval":
        """Return the part that is possible: a mean can't leave its scale."""
        return replace(self, low=max(self.low, low), high=min(self.high, high))

    def divided(self, by: float) -> "Interval":
        return replace(self, low=self.low / by, high=self.high / by)


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings one by one, shape (n,): values, and the labels of their items and workers.

    `workers` is None where they are unknown.
    """

    values: Floats
    items: Labels
    workers: Labels | None


@dataclass(frozen=True, slots=True)
class Effect:
    """A number, its standard error and degrees of freedom, from which its test and its interval both come.

    `null` is its value where there is no effect. `error` is None where nothing tells the spread; `why_not` says why.
    """

    value: float
    error: float | None
    freedom: float
    support: Support
    null: float = 0.0
    why_not: str = ""

    @property
    def p(self) -> float | None:
        """The two-sided p value of `null`; None where nothing tells the spread."""
        from scipy.special import stdtr  # not scipy.stats, which takes a second to import

        if self.error is None:
            return None
        return float(2 * stdtr(self.freedom, -abs(self.value - self.null) / self.error))

    def interval(self, *, alpha: float = ALPHA) -> Interval | None:
        """Return the interval at level 1 - `alpha`: it leaves out `null` exactly where p < `alpha`."""
        from scipy.special import stdtrit

        if self.error is None:
            return None
        reach = float(stdtrit(self.freedom, 1 - alpha / 2)) * self.error
        return Interval(self.value - reach, self.value + reach, self.support, level=1 - alpha)

    def interval_on(self, low: float, high: float, *, alpha: float = ALPHA) -> Interval | None:
        """Return Wilson's interval at level 1 - `alpha` of what lies between `low` and `high`, with Student's t.

        It holds the means that differ from this one by no more than t errors, were the error larger or smaller as
        place * (1 - place) on the scale is. It stays on the scale and has nothing to do with `p`. At an end itself it
        is the plain one, cut off there.
        """
        plain = self.interval(alpha=alpha)
        if plain is None or not low < self.value < high:
            return plain and plain.within(low, high)
        width, place = high - low, (self.value - low) / (high - low)
        spread, reach = place * (1 - place), (plain.high - self.value) / width
        doubt = reach**2 / spread  # t^2 / n of n ratings that tell as much
        middle, half = place + doubt / 2, math.sqrt(reach**2 + doubt**2 / 4)
        ends = ((middle - half) / (1 + doubt), (middle + half) / (1 + doubt))
        return replace(plain, low=low + width * ends[0], high=low + width * ends[1])


PValues = dict[tuple[str, str], float | None]


def holm(p: Mapping[tuple[str, str], float | None]) -> PValues:
    """Return Holm's adjusted p values; what is None stays so and does not count as a comparison.

    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6(2), 1979.
    """
    known = sorted((value, name) for name, value in p.items() if value is not None)
    adjusted: PValues = dict.fromkeys(p)
    highest = 0.0
    for place, (value, name) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - place) * value))
        adjusted[name] = highest
    return adjusted


def level_of(p: float, adjusted: float) -> float:
    """Return the alpha at which a p value was tested when it became `adjusted`.

    An interval at that alpha leaves out "no effect" exactly where `adjusted` is below ALPHA.
    """
    return ALPHA * p / adjusted if adjusted else ALPHA


def mean_effect(ratings: Ratings) -> Effect | None:
    """Return the mean of all ratings; None with fewer than two items or two workers.

    The error is None where all ratings are equal: that no spread was seen does not say that there is none.
    """
    if not len(ratings.values):
        return None
    items, workers, support, _ = _coded([ratings])
    if support.items < 2 or support.workers == 1:
        return None
    n, total = len(ratings.values), float(np.sort(ratings.values).sum())
    groups = [items[0]] if not support.workers else [items[0], workers[0], _pairs(items[0], workers[0])]
    variances = [_left_out(ratings.values, codes, n=n, total=total) for codes in groups]
    return _effect(total / n, variances, support)


def interval_on_scale(ratings: Ratings, *, low: float, high: float) -> Interval | None:
    """Return the interval of the mean of ratings that go from `low` to `high`; None as `mean_effect`.

    Where all are the same it is as wide as so many people of one mind allow.
    """
    effect = mean_effect(ratings)
    if effect and np.ptp(ratings.values) == 0:
        return unanimous_interval(float(ratings.values[0]), effect.support, low=low, high=high)
    return effect.interval_on(low, high) if effect else None


def unanimous_interval(value: float, support: Support, *, low: float, high: float) -> Interval:
    """Return the interval of a mean on a scale from `low` to `high` when all ratings were the same.

    Of n units that all said the same, the share of those who would not is below 1 - ALPHA^(1/n), about 3/n, and they
    might say anything on the scale (J. A. Hanley & A. Lippman-Hand, "If nothing goes wrong, is everything all right?",
    JAMA 249(13), 1983). Units are items or effective workers, whichever are fewer.
    """
    n = min(float(support.items), support.effective or math.inf)
    others = 1 - ALPHA ** (1 / n)
    return Interval(value - others * (value - low), value + others * (high - value), support)


def difference_effect(ours: Ratings, theirs: Ratings, *, kernel: Kernel = "difference") -> Effect | None:
    """Return `ours` less `theirs` over the items both have: the mean over items of the difference of item means.

    With kernel "superiority" the probability that a rating of ours is above one of theirs on the same item, ties
    counting half; no effect is 1/2. None with fewer than two shared items or two workers. If one side knows its
    workers and the other doesn't, neither does. The error is None where all items differ by the same amount.
    """
    pair = paired(ours, theirs)
    return pair.effect(kernel) if pair else None


def paired(ours: Ratings, theirs: Ratings) -> "Paired | None":
    """Return both sides counted on the items they share; None with fewer than two items or two workers."""
    shared = np.intersect1d(ours.items, theirs.items)
    sides = [_only(side, shared) for side in (ours, theirs)]
    if len(shared) < 2:
        return None
    items, workers, support, n_workers = _coded(sides)
    if n_workers == 1:
        return None
    scale, tables, keys, width = _counted(sides, items, workers)
    return Paired(scale, tables, keys // width, keys % width, support, n_workers)


def why_no_effect(n_items: int) -> str:
    """Return why there is no effect at all; "" where items are too few, which their number says."""
    return ALL_OF_ONE if n_items > 1 else ""


def unpaired_effect(ours: Ratings, theirs: Ratings) -> Effect | None:
    """Return the difference of means of item means of two systems that share no items; workers may be shared.

    Degrees of freedom are Welch's over items, and at most workers - 1. None with fewer than two items a side.
    """
    sides = [_only(side, np.unique(side.items)) for side in (ours, theirs)]
    means = [_item_means(side) for side in sides]
    if any(len(side) < 2 for side in means):
        return None
    _, workers, support, n_workers = _coded(sides)
    if n_workers == 1:
        return None
    squares = [float(side.var(ddof=1)) / len(side) for side in means]
    freedom = _welch(squares, [len(side) for side in means])
    variances = [sum(squares)]
    if n_workers:
        variances += _unpaired_workers(sides, workers, n_workers)
        freedom = min(freedom, freedom_of(support))
    found = _effect(float(means[0].mean() - means[1].mean()), variances, support)
    return replace(found, freedom=freedom)


def effect_of(value: float, shifts: Sequence[Floats], support: Support) -> Effect:
    """Return a number as an effect, given how it shifts when one item is left out, one worker and one cell of both; or
    one item alone, where nobody knows the workers.
    """
    variances = [_jackknife(shift) if np.isfinite(shift).all() else math.inf for shift in shifts]
    return _effect(value, variances, support)


def _effect(value: float, variances: list[float], support: Support, *, null: float = 0.0) -> Effect:
    """Put together items, workers and cells. No spread at all is a lack of an answer, not one."""
    variance = variances[0]
    if len(variances) == 3:
        variance = max(variances[0], variances[1], variances[0] + variances[1] - variances[2])
    why_not = ALL_OF_ONE if math.isinf(variance) else ALL_ALIKE if variance <= NOTHING else ""
    return Effect(
        value, None if why_not else math.sqrt(variance), freedom_of(support), support, null, why_not
    )


def freedom_of(support: Support) -> float:
    """Return Student's degrees of freedom: one less than items or effective workers, whichever are fewer."""
    n = min(float(support.items), support.effective or math.inf)
    return max(n - 1.0, 1.0)


def _left_out(values: Floats, codes: Codes, *, n: int, total: float) -> float:
    """Return the jackknife variance of a mean when one group of ratings is left out at a time."""
    sizes, sums = np.bincount(codes).astype("float64"), _sums(values, codes)
    sizes, sums = sizes[sizes > 0], sums[sizes > 0]
    if (sizes == n).any():
        return math.inf
    return _jackknife((total - sums) / (n - sizes) - total / n)


def _sums(values: Floats, codes: Codes, *, n: int = 0) -> Floats:
    """Return the sum of each group, added up in the order of size: the order of rows must not tell."""
    order = np.argsort(values, kind="stable")
    return np.bincount(codes[order], weights=values[order], minlength=n).astype("float64")


def _jackknife(shifts: Floats) -> float:
    n = len(shifts)
    return (n - 1) / n * float((np.sort(np.abs(shifts)) ** 2).sum()) if n else 0.0


def _only(ratings: Ratings, items: Labels) -> Ratings:
    is_in = np.isin(ratings.items, items)
    if is_in.all():
        return ratings
    workers = None if ratings.workers is None else ratings.workers[is_in]
    return Ratings(ratings.values[is_in], ratings.items[is_in], workers)


def _coded(sides: list[Ratings]) -> tuple[list[Codes], list[Codes], Support, int]:
    """Return items and workers of each side as numbers, equal ones alike on all sides, what they amount to, and
    how many workers there are on all sides together, 0 where they are unknown.

    A comparison is as well supported as its thinner side: many on one system tell nothing of three on another.
    """
    items, n_items = _codes([side.items for side in sides])
    labels = [side.workers for side in sides if side.workers is not None]
    if len(labels) < len(sides):
        return items, [np.zeros(len(side), "intp") for side in items], Support(n_items, 0), 0
    workers, n_workers = _codes(labels)
    thinnest = min((support_of(n_items, side) for side in workers), key=lambda side: side.effective or 0.0)
    return items, workers, thinnest, n_workers


def support_of(items: int, workers: Codes | None) -> Support:
    """Return what ratings by `workers`, shape (n,), numbers from 0, rest on; None where they are unknown."""
    if workers is None:
        return Support(items, 0)
    counts = np.bincount(workers)
    loads = np.sort(counts[counts > 0])[::-1].astype("float64")
    return _support(items, len(loads), loads)


def _support(items: int, workers: int, loads: Floats) -> Support:
    total = float(loads.sum())
    effective = total**2 / float((loads**2).sum())
    return Support(items, workers, effective, float(loads[:BUSIEST].sum()) / total)


def _codes(labels: list[Labels]) -> tuple[list[Codes], int]:
    names, codes = numbered(np.concatenate(labels))
    return np.split(codes, np.cumsum([len(side) for side in labels])[:-1]), len(names)


def _pairs(items: Codes, workers: Codes) -> Codes:
    return numbered(items * (workers.max() + 1) + workers)[1]


@dataclass(frozen=True, slots=True)
class Paired:
    """How often each worker gave each value to each item that both sides have: `cells`, shape (2 sides, cells, values).

    `items` and `workers` are those of the cells, shape (cells,); of `n_workers`, which is 0 where they are unknown.
    """

    values: Floats
    cells: Floats
    items: Codes
    workers: Codes
    support: Support
    n_workers: int

    def effect(self, kernel: Kernel = "difference") -> Effect:
        """Return what `difference_effect` is about."""
        matrix = _matrix(self.values, kernel)
        of_items = np.stack([self._by_item(side, self.support.items) for side in self.cells])
        theta, _ = _compared(of_items, matrix)
        mean = float(np.sort(theta).mean())
        variances = [_jackknife((mean - theta) / (self.support.items - 1))]
        if self.n_workers:
            variances += self._without(of_items, matrix, theta, mean)
        return _effect(mean, variances, self.support, null=0.5 if kernel == "superiority" else 0.0)

    def _by_item(self, side: Floats, n: int) -> Floats:
        columns = [np.bincount(self.items, weights=column, minlength=n) for column in side.T]
        return np.stack(columns, axis=1).astype("float64")

    def _without(self, of_items: Floats, matrix: Floats, theta: Floats, mean: float) -> list[float]:
        """Return the variances over workers and over cells. An item left without one side drops out."""
        left, has_both = _compared(of_items[:, self.items] - self.cells, matrix)
        old = theta[self.items]
        changes = np.where(has_both, left - old, mean - old)
        lost = (~has_both).astype("float64")
        n = len(theta)
        sums = _sums(changes, self.workers, n=self.n_workers)
        rest = n - np.bincount(self.workers, weights=lost, minlength=self.n_workers)
        if (rest == 0).any():
            return [math.inf, 0.0]
        return [_jackknife(sums / rest), _jackknife(changes / (n - lost))]


def _compared(counts: Floats, matrix: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the mean of the kernel over all pairs of ratings of each row, and whether there are any."""
    totals = ((counts[0] @ matrix) * counts[1]).sum(axis=1)
    sizes = counts[0].sum(axis=1) * counts[1].sum(axis=1)
    has_both = sizes > 0
    return np.divide(totals, sizes, out=np.zeros_like(totals), where=has_both), has_both


def _matrix(values: Floats, kernel: Kernel) -> Floats:
    differences = np.subtract.outer(values, values)
    return differences if kernel == "difference" else (np.sign(differences) + 1) / 2


def _counted(
    sides: list[Ratings], items: list[Codes], workers: list[Codes]
) -> tuple[Floats, Floats, Codes, int]:
    """Return the values given, the counts, shape (2, cells, values), and each cell's item * width + worker."""
    values, _ = _codes([side.values for side in sides])
    scale = np.unique(np.concatenate([side.values for side in sides]))
    width = int(max(codes.max() for codes in workers)) + 1
    joined = [item * width + worker for item, worker in zip(items, workers, strict=True)]
    keys = numbered(np.concatenate(joined))[0]
    cells, n = _codes(joined)
    shape = (n, len(scale))
    tables = [
        np.bincount(cell * shape[1] + value, minlength=shape[0] * shape[1]).reshape(shape)
        for cell, value in zip(cells, values, strict=True)
    ]
    return scale, np.stack(tables).astype("float64"), keys, width


def _item_means(side: Ratings) -> Floats:
    codes = numbered(side.items)[1]
    return _sums(side.values, codes) / np.bincount(codes)


def _welch(squares: list[float], sizes: list[int]) -> float:
    below = sum(square**2 / (n - 1) for square, n in zip(squares, sizes, strict=True))
    return sum(squares) ** 2 / below if below else float(min(sizes) - 1)


def _unpaired_workers(sides: list[Ratings], workers: list[Codes], n: int) -> list[float]:
    """Return the variances over workers and over cells of a difference without shared items."""
    by_worker, by_cell = np.zeros(n), []
    for sign, side, who in zip((1, -1), sides, workers, strict=True):
        items = numbered(side.items)[1]
        found = _without_workers(side.values, items, who, n=n)
        if found is None:
            return [math.inf, 0.0]
        by_worker += sign * found[0]
        by_cell.append(found[1])
    return [_jackknife(by_worker), _jackknife(np.concatenate(by_cell))]


def _without_workers(values: Floats, items: Codes, who: Codes, *, n: int) -> tuple[Floats, Floats] | None:
    """Return how the mean of item means shifts without each worker, and without each cell; None if nothing is left."""
    keys, codes = numbered(items * n + who)
    item, worker = keys // n, keys % n
    sums, sizes = _sums(values, items), np.bincount(items)
    means = sums / sizes
    mean = float(np.sort(means).mean())
    rest = sizes[item] - np.bincount(codes)
    left = (sums[item] - _sums(values, codes)) / np.maximum(rest, 1)
    changes = np.where(rest > 0, left - means[item], mean - means[item])
    lost = (rest == 0).astype("float64")
    remaining = len(means) - np.bincount(worker, weights=lost, minlength=n)
    if (remaining == 0).any():
        return None
    return _sums(changes, worker, n=n) / remaining, changes / (len(means) - lost)
