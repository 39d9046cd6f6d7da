"""Intervals of means that share raters and items."""

import numpy as np
import pytest

from surveys.intervals import Interval, mean_interval


def interval(values, items, workers):
    return mean_interval(np.array(values, dtype="float64"), items=np.array(items), workers=np.array(workers))


def crossed(table):
    """Return values, items and workers of a table in which every worker (a column) rated every item (a row)."""
    table = np.array(table, dtype="float64")
    n_items, n_workers = table.shape
    return (
        table.ravel().tolist(),
        [f"item{i}" for i in range(n_items) for _ in range(n_workers)],
        [f"worker{w}" for _ in range(n_items) for w in range(n_workers)],
    )


def test_equal_ratings_leave_no_doubt():
    assert interval(*crossed(np.full((3, 2), 0.5))) == Interval(0.5, 0.5, items=3, workers=2)


def test_two_workers_who_always_differ_may_both_have_been_the_same():
    """Resampled workers are (a, a), (a, b) or (b, b): the mean is 0, 1/2 or 1, a quarter of the time at each end."""
    assert interval(*crossed([[0, 1], [0, 1], [0, 1]])) == Interval(0.0, 1.0, items=3, workers=2)


def test_items_that_differ_count_as_workers_do():
    values, items, workers = crossed([[0, 1], [0, 1], [0, 1]])
    assert interval(values, workers, items) == Interval(0.0, 1.0, items=2, workers=3)


def test_the_order_of_the_ratings_is_of_no_matter():
    rng = np.random.default_rng(1)
    values, items, workers = rng.random(200), rng.integers(40, size=200), rng.integers(9, size=200)
    mixed = rng.permutation(200)
    found = mean_interval(values, items=items, workers=workers)
    assert mean_interval(values[mixed], items=items[mixed], workers=workers[mixed]) == found
    assert (found.items, found.workers, found.has_few_workers) == (39, 9, False)


def test_the_names_of_the_workers_are_of_no_matter():
    values, items, workers = crossed(np.random.default_rng(3).random((20, 9)))
    renamed = [{f"worker{w}": f"{w * 5 % 9}" for w in range(9)}[worker] for worker in workers]
    assert interval(values, items, renamed) == interval(values, items, workers)


def test_in_parts_or_at_once_it_holds_the_mean(monkeypatch):
    values, items, workers = crossed(np.random.default_rng(2).random((30, 10)))
    monkeypatch.setattr("surveys.intervals.CELLS_AT_ONCE", 30 * 7)
    in_parts = interval(values, items, workers)
    assert in_parts.low < np.mean(values) < in_parts.high


@pytest.mark.parametrize(
    ("items", "workers"), [([], []), (["a"], ["w"]), (["a", "b"], ["w", "w"]), (["a", "a"], ["v", "w"])]
)
def test_one_item_or_one_worker_tells_nothing_about_others(items, workers):
    assert interval([0.5] * len(items), items, workers) is None


def test_seven_workers_are_few():
    assert interval(*crossed(np.eye(7))).has_few_workers is True
    assert interval(*crossed(np.eye(8))).has_few_workers is False
