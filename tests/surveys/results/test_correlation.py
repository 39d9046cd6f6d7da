"""Human ratings beside automatic metrics; every coefficient against scipy's own."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from surveys.results.statistics import correlation as module
from surveys.results.statistics.correlation import FEWEST_OUTPUTS, correlations


def study(n: int = 40, *, systems: tuple[str, ...] = ("a", "b", "c"), ties: bool = True):
    """Ratings of 1 to 5 by three raters each, and a metric that follows them with some noise."""
    rng = np.random.default_rng(3)
    ratings, scores = [], []
    for system_number, system in enumerate(systems):
        for item in range(n):
            worth = rng.normal(3 + 0.3 * system_number, 1)
            given = np.clip(np.rint(worth + rng.normal(0, 0.7, 3)), 1, 5)
            ratings += [(system, f"i{item}", "quality", score) for score in given]
            value = worth / 5 + rng.normal(0, 0.1)
            scores.append((system, f"i{item}", "text_f1", round(value, 1) if ties else value))
    return (
        pd.DataFrame(ratings, columns=["system", "item_id", "criterion", "score"]),
        pd.DataFrame(scores, columns=["system", "item_id", "metric", "value"]),
    )


def points(found) -> tuple[list[float], list[float]]:
    return [x for _, x, _ in found.points], [y for _, _, y in found.points]


def test_item_level_is_what_scipy_says_of_the_means() -> None:
    item, *_ = correlations(*study())
    x, y = points(item)
    assert (item.level, item.n, item.why_not) == ("item", 120, "")
    assert item.pearson.value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    assert item.spearman.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert item.kendall.value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_a_point_is_the_mean_of_an_output_s_ratings() -> None:
    ratings, scores = study()
    item, *_ = correlations(ratings, scores)
    means = ratings.groupby(["system", "item_id"])["score"].mean()
    expected = [(s, v, means[s, i]) for s, i, _, v in scores.itertuples(index=False)]
    assert sorted(item.points) == sorted(expected)


def test_system_level_is_of_the_systems_means() -> None:
    ratings, scores = study()
    *_, system = correlations(ratings, scores)
    assert (system.level, system.n) == ("system", 3)
    x = scores.groupby("system")["value"].mean()
    y = ratings.groupby(["system", "item_id"])["score"].mean().groupby("system").mean()
    assert system.pearson.value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)


def test_within_systems_is_the_mean_of_scipy_s_coefficients_of_each_system() -> None:
    ratings, scores = study()
    item, within, _ = correlations(ratings, scores)
    of_systems = [[(x, y) for name, x, y in item.points if name == system] for system in "abc"]
    expected = np.mean([stats.kendalltau(*zip(*pairs, strict=True)).statistic for pairs in of_systems])
    assert within.kendall.value == pytest.approx(expected, abs=1e-12)
    assert (within.level, within.n, within.points, within.why_not) == ("within", 120, (), "")


def test_a_metric_that_only_knows_the_system_goes_with_people_over_outputs_alone() -> None:
    ratings, scores = study(n=100)
    rng = np.random.default_rng(1)
    worth = scores["system"].map({"a": 0.0, "b": 1.0, "c": 2.0})
    better = ratings.assign(score=ratings["score"] + 2 * ratings["system"].map({"a": 0, "b": 1, "c": 2}))
    item, within, system = correlations(better, scores.assign(value=worth + rng.normal(0, 0.1, len(worth))))
    assert (item.pearson.value > 0.8, system.pearson.value > 0.99) == (True, True)
    assert within.pearson.low < 0 < within.pearson.high
    assert abs(within.pearson.value) < 0.15


def test_within_systems_takes_two_that_can_tell_and_is_not_asked_of_one() -> None:
    ratings, scores = study(n=12, systems=("a", "b"))
    flat = scores.assign(value=scores["value"].where(scores["system"] == "a", 0.5))
    _, within, _ = correlations(ratings, flat)
    assert (within.why_not, within.n) == ("Only one system has 10 outputs that differ; it takes 2.", 12)
    assert (within.pearson, within.kendall) == (None, None)
    few, scored = study(n=9, systems=("a", "b"))
    assert correlations(few, scored)[1].why_not == "No system has 10 outputs that differ; it takes 2."
    assert [one.level for one in correlations(*study(n=12, systems=("a",)))] == ["item", "system"]


@pytest.mark.parametrize("level", ["item", "within", "system"])
def test_intervals_are_those_of_scipy_s_coefficients_of_each_resample(level: str, monkeypatch) -> None:
    monkeypatch.setattr(module, "RESAMPLES", 200)
    ratings, scores = study(n=15)
    (found,) = [one for one in correlations(ratings, scores) if one.level == level]
    means = ratings.groupby(["system", "item_id"])["score"].mean().rename("rating").reset_index()
    table = means.merge(scores, on=["system", "item_id"])
    (drawn,) = module._drawn(table)
    rows = [table.loc[np.repeat(table.index, times.astype(int))] for times in drawn]
    if level == "system":
        rows = [row.groupby("system")[["value", "rating"]].mean() for row in rows]
    for name, of in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        parts = [[part for _, part in row.groupby("system")] if level == "within" else [row] for row in rows]
        values = [np.mean([of(p["value"], p["rating"]).statistic for p in part]) for part in parts]
        interval = getattr(found, name)
        assert (interval.low, interval.high) == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=1e-9)


@pytest.mark.parametrize("ties", [True, False])
def test_the_fast_kendall_of_resamples_is_scipy_s(ties: bool, monkeypatch) -> None:
    fast, *_ = correlations(*study(ties=ties))
    monkeypatch.setattr(module, "PAIRWISE_UP_TO", 0)
    monkeypatch.setattr(module, "RESAMPLES_OF_MANY", module.RESAMPLES)
    slow, *_ = correlations(*study(ties=ties))
    assert (fast.kendall.low, fast.kendall.high) == pytest.approx(
        (slow.kendall.low, slow.kendall.high), abs=1e-12
    )


def test_many_outputs_are_drawn_less_often(monkeypatch) -> None:
    monkeypatch.setattr(module, "RESAMPLES_OF_MANY", 7)
    ratings, scores = study(n=15)
    table = ratings.groupby(["system", "item_id"])["score"].mean().reset_index()
    assert [len(drawn) for drawn in module._drawn(table)] == [module.RESAMPLES]
    monkeypatch.setattr(module, "PAIRWISE_UP_TO", len(table) - 1)
    assert [len(drawn) for drawn in module._drawn(table)] == [7]
    item, *_ = correlations(ratings, scores)
    assert item.kendall.low < item.kendall.value < item.kendall.high


def test_parts_make_up_the_number_of_resamples_and_what_one_part_would_be(monkeypatch) -> None:
    ratings, _ = study(n=5)
    table = ratings.groupby(["system", "item_id"])["score"].mean().reset_index()
    monkeypatch.setattr(module, "RESAMPLES", 7)
    (whole,) = module._drawn(table)
    monkeypatch.setattr(module, "CELLS_AT_ONCE", 3 * len(table))
    parts = list(module._drawn(table))
    assert [part.shape for part in parts] == [(3, 15), (3, 15), (1, 15)]
    assert np.concatenate(parts).tolist() == whole.tolist()


def test_intervals_hold_their_value_and_come_out_the_same_again() -> None:
    first, second = correlations(*study()), correlations(*study())
    assert first == second
    for coefficient in (first[0].pearson, first[0].spearman, first[0].kendall):
        assert coefficient.low < coefficient.value < coefficient.high
        assert (coefficient.low >= -1, coefficient.high <= 1) == (True, True)


def test_outputs_of_one_item_are_drawn_together() -> None:
    """Ten copies of every system say nothing new, so the interval must not shrink."""
    ratings, scores = study(systems=("a",))
    copies = [f"copy{n}" for n in range(10)]
    many = [pd.concat([frame.assign(system=name) for name in copies]) for frame in (ratings, scores)]
    single, copied = correlations(ratings, scores)[0], correlations(*many)[0]
    assert (copied.pearson.low, copied.pearson.high) == pytest.approx(
        (single.pearson.low, single.pearson.high), abs=1e-9
    )


@pytest.mark.parametrize(
    ("change", "why_not"),
    [
        ({"n": FEWEST_OUTPUTS - 1}, "Only 9 outputs; it takes 10."),
        ({"value": 0.5}, "The metric is the same for all."),
        ({"score": 4.0}, "The mean rating is the same for all."),
    ],
)
def test_too_little_to_go_by_is_said(change, why_not: str) -> None:
    ratings, scores = study(n=change.get("n", 20), systems=("a",))
    item, system = correlations(
        ratings.assign(**{k: v for k, v in change.items() if k == "score"}),
        scores.assign(**{k: v for k, v in change.items() if k == "value"}),
    )
    assert (item.why_not, item.pearson, item.kendall) == (why_not, None, None)
    assert system.why_not == "Only 1 system; it takes 3."


def test_texts_and_outputs_without_a_score_are_left_out() -> None:
    ratings, scores = study(n=12)
    item, *_ = correlations(
        ratings.assign(score=ratings["score"].where(ratings["item_id"] != "i3")),
        scores.assign(value=scores["value"].where(scores["item_id"] != "i4")),
    )
    assert item.n == 30
    assert not any(math.isnan(x) or math.isnan(y) for _, x, y in item.points)


def test_nothing_in_common_is_nothing() -> None:
    ratings, scores = study(n=12)
    assert correlations(ratings, scores.assign(item_id="elsewhere")) == []


def test_what_differs_by_rounding_does_not_differ() -> None:
    """A reference beside itself: 100 but for the last bit, which has no rank and no correlation."""
    ratings, scores = study(n=12)
    is_a = scores["system"] == "a"
    bits = pd.Series(np.where(np.arange(len(scores)) % 2, 100.0, 100.0 + 1e-13))
    found = correlations(ratings, scores.assign(value=scores["value"].where(~is_a, bits)))
    (within,) = [one for one in found if one.level == "within"]
    assert within.n == 24
    assert math.isfinite(within.pearson.value)
    alone = correlations(ratings[ratings["system"] == "a"], scores[is_a].assign(value=bits[is_a]))
    assert alone[0].why_not == "The metric is the same for all."
