"""Intervals of means that share raters and items."""

import numpy as np
import pytest

from surveys.results.statistics.intervals import Interval, Ratings, difference_interval, mean_interval


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
    monkeypatch.setattr("surveys.results.statistics.intervals.CELLS_AT_ONCE", 30 * 7)
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


def by_item(values, items):
    return mean_interval(np.array(values, dtype="float64"), items=np.array(items), workers=None)


def test_unknown_workers_leave_items_to_draw():
    """Two items of 0 and 1, drawn twice: the mean is 0 or 1 a quarter of the time each."""
    assert by_item([0, 1], ["a", "b"]) == Interval(0.0, 1.0, items=2, workers=0)
    assert by_item([0, 1], ["a", "a"]) is None
    assert by_item([0, 1], ["a", "b"]).has_few_workers is False


def test_by_items_as_computed_once_more():
    """The same bootstrap drawn by other means; both have the noise of 2000 draws."""
    rng = np.random.default_rng(5)
    items = np.repeat(np.arange(60), 2)
    values = rng.integers(1, 6, size=60).repeat(2) + rng.integers(0, 2, size=120).astype(float)
    found = by_item(values, items)

    sums = values.reshape(60, 2).mean(axis=1)
    means = [sums[rng.integers(60, size=60)].mean() for _ in range(20_000)]
    assert found.low == pytest.approx(np.quantile(means, 0.025), abs=0.04)
    assert found.high == pytest.approx(np.quantile(means, 0.975), abs=0.04)


def ratings(values, items, workers=None):
    known = None if workers is None else np.array(workers)
    return Ratings(np.array(values, dtype="float64"), items=np.array(items), workers=known)


def test_a_difference_that_is_the_same_on_every_item_is_sure():
    items = ["a", "b", "c", "d"]
    found = difference_interval(ratings([1, 2, 3, 5], items), ratings([2, 3, 4, 6], items))
    assert (round(found.low, 12), round(found.high, 12), found.items) == (-1.0, -1.0, 4)


def test_both_sides_are_drawn_together():
    """Items differ by 10, systems by 0 or 1: what items have in common does not count."""
    items = [f"i{n}" for n in range(20)]
    base = np.arange(20) * 10.0
    found = difference_interval(ratings(base + np.arange(20) % 2, items), ratings(base, items))
    assert 0.2 < found.low < 0.5 < found.high < 0.8


def test_workers_count_only_where_both_sides_know_them():
    items, workers = ["a", "b", "a", "b"], ["v", "v", "w", "w"]
    both = ratings([1, 2, 2, 1], items, workers), ratings([2, 2, 1, 1], items, workers)
    assert difference_interval(*both).workers == 2
    assert difference_interval(both[0], ratings([2, 2, 1, 1], items)).workers == 0
    assert difference_interval(both[0], ratings([], [])) is None
