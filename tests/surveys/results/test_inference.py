"""Tests and intervals of ratings that share raters and items."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from surveys.results.printed import NOTHING, known
from surveys.results.statistics.criteria import ratings_of
from surveys.results.statistics.inference import (
    ALPHA,
    Effect,
    Interval,
    Ratings,
    Support,
    difference_effect,
    freedom_of,
    holm,
    interval_on_scale,
    level_of,
    mean_effect,
    unanimous_interval,
    unpaired_effect,
)


def ratings(values, items, workers=None):
    known = None if workers is None else np.array(workers)
    return Ratings(np.array(values, dtype="float64"), items=np.array(items), workers=known)


def crossed(table):
    """Return ratings of a table in which every worker (a column) rated every item (a row)."""
    table = np.array(table, dtype="float64")
    items, workers = np.indices(table.shape)
    return ratings(table.ravel(), items.ravel(), workers.ravel())


def drawn(seed, *, n=200, items=40, workers=15, values=5):
    rng = np.random.default_rng(seed)
    return ratings(rng.integers(values, size=n), rng.integers(items, size=n), rng.integers(workers, size=n))


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [3, 1, 0], [2]])
def test_ratings_are_the_scores_given_with_their_rows_item_and_worker(rows):
    names = pd.DataFrame({"item_id": [5, 6, 7, 8], "worker": [0, 1, 0, 2]}, index=[10, 11, 12, 13])
    scores = pd.Series([0.5, np.nan, np.nan, 1.0], index=names.index).iloc[rows]
    found = ratings_of(scores, names)
    given = [row for row in rows if row in (0, 3)]
    assert found.values.tolist() == [(0.5, 0, 0, 1.0)[row] for row in given]
    assert (found.items.tolist(), found.workers.tolist()) == (
        [(5, 6, 7, 8)[row] for row in given],
        [(0, 1, 0, 2)[row] for row in given],
    )


def test_one_rating_of_nobody_known_leaves_the_others_with_their_workers():
    """It is as one more person's. To take none of them for known would make p a hundredth of what it is."""
    rng = np.random.default_rng(7)
    names = pd.DataFrame({"item_id": np.repeat(np.arange(50), 3), "worker": rng.integers(8, size=150)})
    tastes = rng.normal(0, 1, size=8)
    scores = pd.Series(tastes[names["worker"]] + rng.normal(0.3, 0.5, size=150))
    some = names.assign(worker=[-1, *names["worker"][1:]])
    none = names.assign(worker=-1)
    of_all, of_some, of_none = (mean_effect(ratings_of(scores, each)) for each in (names, some, none))
    assert [one.support.workers for one in (of_all, of_some, of_none)] == [8, 9, 0]
    assert of_some.error == pytest.approx(of_all.error, rel=0.1)
    assert of_none.error < of_all.error / 2


def test_equal_ratings_tell_no_spread():
    found = mean_effect(crossed(np.full((3, 2), 0.5)))
    assert (found.value, found.error, found.p, found.interval()) == (0.5, None, None, None)
    assert found.support == Support(3, 2, 2.0, 1.0)


@pytest.mark.parametrize(
    ("value", "low", "high"), [(5.0, 3.9645, 5.0), (1.0, 1.0, 2.0355), (3.0, 2.4823, 3.5177)]
)
def test_ratings_all_the_same_have_the_interval_of_nobody_else_seen(value, low, high):
    """Of 10 who all say the same, up to 1 - .05^(1/10) = .2589 others are not ruled out: they might say anything."""
    found = unanimous_interval(value, Support(50, 12, 10.0, 0.4), low=1.0, high=5.0)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))
    assert stats.binom.pmf(0, 10, 0.2589) == pytest.approx(ALPHA, abs=1e-4)


def test_workers_unknown_the_items_are_those_of_one_mind():
    found = unanimous_interval(1.0, Support(20, 0), low=0.0, high=1.0)
    assert found.low == pytest.approx(0.05 ** (1 / 20))


def test_a_share_worked_by_hand():
    """90 of 100, t of 99 degrees 1.98422, its square in n .039371: the middle .919686 / 1.039371, its half .062696."""
    found = Effect(0.9, 0.03, 99.0, Support(100, 0)).interval_on(0.0, 1.0)
    assert (found.low, found.high) == (pytest.approx(0.82453, abs=1e-5), pytest.approx(0.94517, abs=1e-5))
    for end in (found.low, found.high):  # where t errors of its own lead to what was seen
        assert abs(end - 0.9) == pytest.approx(stats.t.ppf(0.975, 99) * math.sqrt(end * (1 - end) / 100))
    on_five = Effect(4.6, 0.12, 99.0, Support(100, 0)).interval_on(1.0, 5.0)
    assert (on_five.low, on_five.high) == pytest.approx((1 + 4 * found.low, 1 + 4 * found.high))
    assert on_five.support == Support(100, 0)


def test_an_interval_on_a_scale_is_the_same_from_either_end():
    """And at any level; in the middle it is nearly the plain one, if that is short."""
    effect, turned = (Effect(value, 0.1, 20.0, Support(21, 0)) for value in (1.3, 4.7))
    one, other = effect.interval_on(1.0, 5.0, alpha=0.01), turned.interval_on(1.0, 5.0, alpha=0.01)
    assert (one.low, one.high) == pytest.approx((6 - other.high, 6 - other.low))
    assert (one.level, one.low > 1.0) == (0.99, True)
    middle = replace(effect, value=3.0)
    plain, found = middle.interval(), middle.interval_on(1.0, 5.0)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=2e-3)


def test_at_an_end_or_without_spread_there_is_no_other_error():
    at_end = Effect(1.0, 0.1, 20.0, Support(21, 0))
    plain = at_end.interval()
    assert at_end.interval_on(0.0, 1.0) == replace(plain, high=1.0)
    assert at_end.interval_on(1.0, 2.0) == replace(plain, low=1.0)
    assert replace(at_end, error=None).interval_on(0.0, 1.0) is None
    assert interval_on_scale(ratings([1.0], ["a"]), low=0.0, high=1.0) is None


def test_a_rare_answer_is_in_the_interval_of_its_share_as_often_as_is_said():
    """Of 1,000 draws of 100 answers, 5 % of them so; the plain interval is too short on the side away from the end."""
    rng = np.random.default_rng(5)
    held = {"on scale": 0, "cut off": 0}
    for _ in range(1000):
        answers = ratings(rng.random(100) < 0.05, np.arange(100))
        of_scale, effect = interval_on_scale(answers, low=0.0, high=1.0), mean_effect(answers)
        cut = (effect.interval() or of_scale).within(0.0, 1.0)
        held["on scale"] += of_scale.low <= 0.05 <= of_scale.high
        held["cut off"] += cut.low <= 0.05 <= cut.high
    assert held["on scale"] >= 950 > 900 > held["cut off"]


def test_a_mean_worked_by_hand():
    """Items do not differ. Without the first worker the mean is 1, without the second 0: 1/2 * (1/4 + 1/4) = 1/4."""
    found = mean_effect(crossed([[0, 1], [0, 1], [0, 1]]))
    assert (found.value, found.error, found.freedom) == (0.5, 0.5, 1.0)
    assert found.interval().high == pytest.approx(0.5 + 0.5 * stats.t.ppf(0.975, 1))


def test_the_two_way_variance_against_loops():
    """Every item, worker and cell left out in turn, by plain loops."""
    one, other = drawn(1), drawn(2)
    keys = {name: [list(getattr(side, name)) for side in (one, other)] for name in ("items", "workers")}
    keys["cells"] = [
        list(zip(items, workers, strict=True))
        for items, workers in zip(keys["items"], keys["workers"], strict=True)
    ]

    def difference(kind, out):
        means = []
        for place, side in enumerate((one, other)):
            rows = [n for n, key in enumerate(keys[kind][place]) if key != out]
            items = [keys["items"][place][n] for n in rows]
            means.append(
                {
                    i: np.mean([side.values[n] for n, item in zip(rows, items, strict=True) if item == i])
                    for i in set(items)
                }
            )
        return np.mean([means[0][i] - means[1][i] for i in means[0].keys() & means[1].keys()])

    shared = set(keys["items"][0]) & set(keys["items"][1])
    whole, variances = difference("items", None), {}
    for kind, (ours, theirs) in keys.items():
        is_shared = [[i in shared for i in side] for side in keys["items"]]
        names = {
            k
            for side, ok in zip((ours, theirs), is_shared, strict=True)
            for k, o in zip(side, ok, strict=True)
            if o
        }
        shifts = [difference(kind, name) - whole for name in names]
        variances[kind] = (len(names) - 1) / len(names) * sum(shift**2 for shift in shifts)
    both = variances["items"] + variances["workers"] - variances["cells"]
    expected = math.sqrt(max(both, variances["items"], variances["workers"]))

    found = difference_effect(one, other)
    assert found.value == pytest.approx(whole, rel=1e-12)
    assert found.error == pytest.approx(expected, rel=1e-9)


def test_without_workers_it_is_students_paired_test():
    rng = np.random.default_rng(3)
    ours, theirs = rng.integers(1, 6, size=(2, 30, 2)).astype(float)
    items = np.repeat(np.arange(30), 2)

    found = difference_effect(ratings(ours.ravel(), items), ratings(theirs.ravel(), items))
    expected = stats.ttest_rel(ours.mean(axis=1), theirs.mean(axis=1))
    interval = expected.confidence_interval()
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert (found.interval().low, found.interval().high) == pytest.approx((interval.low, interval.high))
    assert found.interval().support == Support(30, 0)


def test_without_shared_items_it_is_welchs_test():
    rng = np.random.default_rng(4)
    ours, theirs = (
        rng.integers(1, 6, size=(20, 2)).astype(float),
        rng.integers(1, 6, size=(31, 2)).astype(float),
    )
    sides = (
        ratings(ours.ravel(), np.repeat(np.arange(20), 2)),
        ratings(theirs.ravel(), np.repeat(np.arange(50, 81), 2)),
    )

    expected = stats.ttest_ind(ours.mean(axis=1), theirs.mean(axis=1), equal_var=False)
    assert unpaired_effect(*sides).p == pytest.approx(expected.pvalue, rel=1e-9)
    assert difference_effect(*sides) is None


def test_without_shared_items_workers_and_cells_are_left_out_one_by_one():
    """Variance of items + workers - cells, each by leaving out, as the definition says it and nothing quicker.

    One item was seen by a single worker: without that cell it is gone.
    """
    rng = np.random.default_rng(9)
    items, workers = np.repeat(np.arange(12), 3), np.tile(np.arange(9), 4)
    keep = ~np.isin(np.arange(36), (3, 4))
    sides = []
    for shift, taste in ((0, 1), (100, -1)):
        values = rng.random(36) + taste * (workers % 4) + items % 5
        sides.append(ratings(values[keep], items[keep] + shift, workers[keep]))

    def mean(side, left):
        means = [side.values[left & (side.items == item)] for item in np.unique(side.items)]
        return np.mean([cell.mean() for cell in means if len(cell)])

    def difference(lefts):
        return mean(sides[0], lefts[0]) - mean(sides[1], lefts[1])

    def jackknife(shifts):
        return (len(shifts) - 1) / len(shifts) * np.sum(np.square(shifts))

    everything = [np.full(len(side.values), True) for side in sides]
    whole = difference(everything)
    by_worker = [difference([side.workers != who for side in sides]) - whole for who in range(9)]
    by_cell = [
        difference([everything[other] if other != n else np.arange(34) != cell for other in (0, 1)]) - whole
        for n in (0, 1)
        for cell in range(34)
    ]
    of_items = sum(
        np.var([side.values[side.items == item].mean() for item in np.unique(side.items)], ddof=1) / 12
        for side in sides
    )
    parts = of_items, jackknife(by_worker), jackknife(by_cell)
    variance = max(parts[0], parts[1], parts[0] + parts[1] - parts[2])
    assert variance == parts[0] + parts[1] - parts[2]
    assert unpaired_effect(*sides).error == pytest.approx(variance**0.5, rel=1e-9)


def test_workers_widen_what_has_no_items_in_common():
    """Each worker likes everything as much as the next thing: one opinion per worker, whatever the items."""
    workers, items = np.tile(np.arange(4), 10), np.repeat(np.arange(10), 4)
    values = np.array([1.0, 2.0, 4.0, 5.0])[workers] + items % 2
    ours, theirs = ratings(values, items, workers), ratings(values, items + 100, workers + 4)

    known = unpaired_effect(ours, theirs)
    unknown = unpaired_effect(Ratings(values, items, None), Ratings(values, items + 100, None))
    assert known.freedom < unknown.freedom
    assert known.error > 3 * unknown.error


def test_superiority_worked_by_hand():
    """Item a: 3 beats 1, ties with 3: 3/4. Item b: 2 loses to 4: 0. Their mean is 3/8."""
    found = difference_effect(
        ratings([3, 2], ["a", "b"]), ratings([1, 3, 4], ["a", "a", "b"]), kernel="superiority"
    )
    assert (found.value, found.null) == (0.375, 0.5)
    assert found.error == pytest.approx(np.std([0.75, 0.0], ddof=1) / math.sqrt(2))


def test_superiority_of_one_value_an_item_beside_scipy():
    """With the same number of ratings everywhere and one item's ratings all told, it is the Mann-Whitney U by n1 n2."""
    rng = np.random.default_rng(5)
    one, other = rng.integers(5, size=(2, 12)).astype(float)
    items = np.array(["a"] * 12 + ["b"] * 12)
    found = difference_effect(
        ratings(np.tile(one, 2), items), ratings(np.tile(other, 2), items), kernel="superiority"
    )
    assert found.value == pytest.approx(stats.mannwhitneyu(one, other).statistic / 144)


@pytest.mark.parametrize("effect", [mean_effect, lambda r: difference_effect(r, drawn(9))])
def test_the_order_of_rows_and_the_names_are_of_no_matter(effect):
    one = drawn(8)
    mixed = np.random.default_rng(1).permutation(200)
    names = np.array([f"w{n * 7 % 15}" for n in range(15)]) if effect is mean_effect else np.arange(15)
    again = Ratings(one.values[mixed], one.items[mixed], names[one.workers[mixed]])

    assert effect(again) == effect(one)


def test_ratings_beside_the_pigeonhole_bootstrap():
    """Owen's: items and workers drawn anew, a rating counts the product. It errs on the wide side, by a little."""
    rng = np.random.default_rng(6)
    items, workers = np.indices((60, 20)).reshape(2, -1)
    values = rng.normal(size=60)[items] + rng.normal(size=20)[workers] + rng.normal(size=1200)
    of_items = rng.multinomial(60, np.ones(60) / 60, size=4000)
    of_workers = rng.multinomial(20, np.ones(20) / 20, size=4000)
    table = values.reshape(60, 20)
    means = np.einsum("bi,iw,bw->b", of_items, table, of_workers) / 1200

    assert mean_effect(ratings(values, items, workers)).error == pytest.approx(means.std(), rel=0.05)


@pytest.mark.parametrize(
    ("items", "workers"), [([], []), (["a"], ["w"]), (["a", "b"], ["w", "w"]), (["a", "a"], ["v", "w"])]
)
def test_one_item_or_one_worker_tells_nothing_about_others(items, workers):
    assert mean_effect(ratings([0.5] * len(items), items, workers)) is None


def test_few_workers_are_counted_by_how_much_they_did():
    """Twenty people of whom one did half: (19 + 19)^2 / (19^2 + 19) = 3.8."""
    workers = [0] * 19 + list(range(1, 20))
    support = mean_effect(ratings(np.arange(38) % 5, np.arange(38), workers)).support
    assert (support.workers, support.effective, support.busiest) == (20, 38**2 / (19**2 + 19), 21 / 38)
    assert support.has_few_workers is True
    assert mean_effect(crossed(np.eye(10))).support.has_few_workers is False
    assert mean_effect(crossed(np.eye(9))).support.has_few_workers is True
    assert Support(100, 0).has_few_workers is False


def test_a_comparison_is_as_well_supported_as_its_thinner_side():
    """A model added later, rated by three people beside one that forty rated."""
    many = ratings(
        [n % 5 for n in range(120)], [n % 40 for n in range(120)], [f"a{n % 40}" for n in range(120)]
    )
    few = ratings(
        [n % 4 for n in range(120)], [n % 40 for n in range(120)], [f"b{n // 40}" for n in range(120)]
    )
    effect = difference_effect(many, few)
    assert effect.support == Support(40, 3, 3.0, 1.0)
    assert effect.support.has_few_workers
    assert freedom_of(effect.support) == 2.0
    assert difference_effect(few, many).support == effect.support


def test_a_difference_that_is_the_same_on_every_item_tells_no_spread():
    items = ["a", "b", "c", "d"]
    found = difference_effect(ratings([1, 2, 3, 5], items), ratings([2, 3, 4, 6], items))
    assert (found.value, found.p, found.interval()) == (-1.0, None, None)


def test_workers_count_only_where_both_sides_know_them():
    items, workers = ["a", "b", "a", "b"], ["v", "v", "w", "w"]
    both = ratings([1, 2, 2, 1], items, workers), ratings([2, 2, 1, 1], items, workers)
    assert difference_effect(*both).support.workers == 2
    assert difference_effect(both[0], ratings([2, 2, 1, 1], items)).support.workers == 0
    assert difference_effect(both[0], ratings([], [])) is None


def test_an_interval_leaves_out_no_effect_exactly_where_the_corrected_p_is_below_the_limit():
    rng = np.random.default_rng(7)
    n_daggers = 0
    for seed in range(60):
        other = drawn(seed, items=30, workers=12)
        family = {
            ("s", str(k)): difference_effect(
                Ratings(other.values + rng.normal(0.25, 1, 200).round(), other.items, other.workers), other
            )
            for k in range(4)
        }
        adjusted = holm({name: effect.p for name, effect in family.items()})
        for name, effect in family.items():
            interval = effect.interval(alpha=level_of(effect.p, adjusted[name]))
            assert (adjusted[name] < ALPHA) == (not interval.low <= 0 <= interval.high)
            n_daggers += adjusted[name] < ALPHA
    assert 20 < n_daggers < 220


@pytest.mark.parametrize(
    ("low", "high", "places"),
    [
        (0.7, 0.88, 2),
        (-0.144, 0.026, 2),
        (0.80, 0.825, 3),
        (2.1, 4.9, 1),
        (0.5, 0.5, 4),
        (-0.3, -0.004, 3),
        (1.0, 1.041, 2),
        (0.00001, 0.99999, 1),
        (0.0004, 0.62, 4),
    ],
)
def test_as_many_places_as_are_known(low, high, places):
    assert Interval(low, high, Support(9, 9)).places == places


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (-0.42, -3.0, 2.3, "−0.4"),
        (2.42, -3.0, 8.1, "2"),
        (0.0, -3.0, 3.0, "0"),
        (0.00001, -3.0, 3.0, "0.0000"),
    ],
)
def test_a_number_is_not_printed_as_nothing(value, low, high, text):
    assert known(value, Interval(low, high, Support(9, 9))) == text
    assert known(None, None) == NOTHING
