"""How sure a mean of ratings is: the two-way pigeonhole bootstrap.

One worker rates many items and one item has several raters, so ratings do not stand for themselves. Items and
workers are both drawn anew with replacement, and a rating counts as often as its item was drawn times as often as
its worker was. Source: A. B. Owen, "The pigeonhole bootstrap", Annals of Applied Statistics 1(2), 2007. It errs on
the wide side.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

RESAMPLES = 2000
SEED = 2007
LEVEL = 0.95
FEW_WORKERS = 8
CELLS_AT_ONCE = 4_000_000  # of the (resamples, items) table: 32 MB

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[Any]
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Interval:
    """The middle 95 % of the resampled means, and the numbers of items and workers it rests on.

    `workers` is 0 where nobody knows who rated what: then only items were drawn anew.
    """

    low: float
    high: float
    items: int
    workers: int

    @property
    def has_few_workers(self) -> bool:
        """Too few to know how workers differ: the interval may then be too narrow."""
        return 0 < self.workers < FEW_WORKERS


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings one by one, shape (n,): values, and the labels of their items and workers.

    `workers` is None where they are unknown.
    """

    values: Floats
    items: Labels
    workers: Labels | None


def mean_interval(values: Floats, *, items: Labels, workers: Labels | None) -> Interval | None:
    """Return the interval of the mean of `values`, shape (n,); `items` and `workers` are their labels, shape (n,).

    None with fewer than two items or two workers. Equal ratings give an equal interval, in whatever order they come
    and whatever the workers are called: pseudonyms differ between installations.
    """
    return _interval([Ratings(values, items, workers)])


def difference_interval(ours: Ratings, theirs: Ratings) -> Interval | None:
    """Return the interval of the mean of `ours` less the mean of `theirs`; items and workers are drawn for both.

    None as with `mean_interval`; if one side knows its workers and the other doesn't, neither does.
    """
    return _interval([ours, theirs])


def _interval(sides: list[Ratings]) -> Interval | None:
    if not all(len(side.values) for side in sides):
        return None
    tables, n_items, n_workers = _tables(sides)
    if n_items < 2 or n_workers == 1:
        return None
    means = np.concatenate(list(_means(tables, has_workers=n_workers > 0)))
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high), n_items, n_workers)


def _tables(sides: list[Ratings]) -> tuple[Floats, int, int]:
    """Return sums and counts of each side, shape (2 * sides, items, workers), and how many there are of both.

    Workers stand in the order of what they said. Unknown workers are one column and count as none.
    """
    labels = [side.workers for side in sides]
    known = [label for label in labels if label is not None] if all(x is not None for x in labels) else []
    items, n_items = _codes([side.items for side in sides])
    workers, n_workers = _codes(known) if known else ([np.zeros(len(x), "intp") for x in items], 0)
    shape = (n_items, max(n_workers, 1))
    tables = np.stack(
        [
            table
            for side, item, worker in zip(sides, items, workers, strict=True)
            for table in _sums_and_counts(side.values, item, worker, shape=shape)
        ]
    )
    by_content = np.lexsort(tables.reshape(-1, shape[1]))
    return tables[:, :, by_content], n_items, n_workers


def _sums_and_counts(
    values: Floats, items: Codes, workers: Codes, *, shape: tuple[int, int]
) -> tuple[Floats, Floats]:
    order = np.lexsort((values, workers, items))
    cells, size = (items * shape[1] + workers)[order], shape[0] * shape[1]
    sums = np.bincount(cells, weights=values[order], minlength=size).reshape(shape)
    return sums.astype("float64"), np.bincount(cells, minlength=size).reshape(shape).astype("float64")


def _codes(labels: list[Labels]) -> tuple[list[Codes], int]:
    """Return the labels of each side as numbers, equal ones alike on all sides, and how many there are."""
    names, codes = np.unique(np.concatenate(labels), return_inverse=True)
    return np.split(codes, np.cumsum([len(side) for side in labels])[:-1]), len(names)


def _means(tables: Floats, *, has_workers: bool) -> Iterator[Floats]:
    """Yield resampled means (of two sides: differences) in parts. A resample that drew no rating has none."""
    rng = np.random.default_rng(SEED)
    n_items, n_workers = tables.shape[1:]
    at_once = max(1, min(RESAMPLES, CELLS_AT_ONCE // n_items))
    for start in range(0, RESAMPLES, at_once):
        times = min(at_once, RESAMPLES - start)
        of_items = _drawn(rng, n_items, times=times)
        of_workers = _drawn(rng, n_workers, times=times) if has_workers else np.ones((times, 1))
        totals = [((of_items @ table) * of_workers).sum(axis=1) for table in tables]
        sums, counts = np.stack(totals[::2]), np.stack(totals[1::2])
        is_drawn = (counts > 0).all(axis=0)
        means = sums[:, is_drawn] / counts[:, is_drawn]
        yield means[0] - means[1] if len(means) == 2 else means[0]


def _drawn(rng: np.random.Generator, n: int, *, times: int) -> Floats:
    """Return how often each of `n` was drawn in `n` draws with replacement, shape (times, n)."""
    drawn = rng.integers(n, size=(times, n)) + n * np.arange(times)[:, None]
    return np.bincount(drawn.ravel(), minlength=times * n).reshape(times, n).astype("float64")
