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


@dataclass(frozen=True, slots=True)
class Interval:
    """The middle 95 % of the resampled means, and the numbers of items and workers it rests on."""

    low: float
    high: float
    items: int
    workers: int

    @property
    def has_few_workers(self) -> bool:
        """Too few to know how workers differ: the interval may then be too narrow."""
        return self.workers < FEW_WORKERS


def mean_interval(values: Floats, *, items: Labels, workers: Labels) -> Interval | None:
    """Return the interval of the mean of `values`, shape (n,); `items` and `workers` are their labels, shape (n,).

    None with fewer than two items or two workers. Equal ratings give an equal interval, in whatever order they come
    and whatever the workers are called: pseudonyms differ between installations.
    """
    items, n_items = _codes(items)
    workers, n_workers = _codes(workers)
    if min(n_items, n_workers) < 2:
        return None
    order = np.lexsort((values, workers, items))
    cells = (items * n_workers + workers)[order]
    shape, size = (n_items, n_workers), n_items * n_workers
    counts = np.bincount(cells, minlength=size).reshape(shape).astype("float64")
    sums = np.bincount(cells, weights=values[order], minlength=size).reshape(shape).astype("float64")
    by_content = np.lexsort(np.concatenate([sums, counts]))
    means = np.concatenate(list(_means(sums[:, by_content], counts[:, by_content])))
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high), n_items, n_workers)


def _codes(labels: Labels) -> tuple[npt.NDArray[np.intp], int]:
    names, codes = np.unique(labels, return_inverse=True)
    return codes, len(names)


def _means(sums: Floats, counts: Floats) -> Iterator[Floats]:
    """Yield the resampled means in parts. A resample that drew no rating at all has none."""
    rng = np.random.default_rng(SEED)
    n_items, n_workers = sums.shape
    at_once = max(1, min(RESAMPLES, CELLS_AT_ONCE // n_items))
    for start in range(0, RESAMPLES, at_once):
        times = min(at_once, RESAMPLES - start)
        of_items, of_workers = _drawn(rng, n_items, times=times), _drawn(rng, n_workers, times=times)
        total = ((of_items @ counts) * of_workers).sum(axis=1)
        yield ((of_items @ sums) * of_workers).sum(axis=1)[total > 0] / total[total > 0]


def _drawn(rng: np.random.Generator, n: int, *, times: int) -> Floats:
    """Return how often each of `n` was drawn in `n` draws with replacement, shape (times, n)."""
    drawn = rng.integers(n, size=(times, n)) + n * np.arange(times)[:, None]
    return np.bincount(drawn.ravel(), minlength=times * n).reshape(times, n).astype("float64")
