"""Bradley-Terry strengths beside other people's code: `choix` without ties, a search for Davidson's maximum else."""

from dataclasses import replace
from itertools import combinations

import choix
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from surveys.protocols.preferences import WAYS
from surveys.results.statistics.inference import FEW_WORKERS
from surveys.results.statistics.strengths import Compared, _counts, fitted

SIX = tuple("abcdef")


def drawn(*, n: int = 900, systems: int = 6, v: float = 0.6, workers: int = 30, seed: int = 1) -> Compared:
    """Comparisons by Davidson's model, three of each item."""
    chance = np.random.default_rng(seed)
    strengths = np.linspace(-0.8, 0.8, systems)
    pairs = list(combinations(range(systems), 2))
    chosen = [pairs[k] for k in chance.permutation(n // 3) % len(pairs) for _ in range(3)]
    first, second = np.array(chosen).T
    half = (strengths[first] - strengths[second]) / 2
    whole = np.exp(half) + np.exp(-half) + v
    u = chance.random(len(first)) * whole
    won = np.where(u < np.exp(half), 1.0, np.where(u < np.exp(half) + v, 0.5, 0.0))
    who = np.concatenate([chance.choice(workers, 3, replace=False) for _ in range(n // 3)])
    return Compared(first, second, won, np.repeat(np.arange(n // 3), 3), who)


def values(found) -> dict[str, float]:
    return {one.system: one.value for one in found.strengths}


def test_without_ties_it_is_the_model_of_choix() -> None:
    made = drawn(v=0.0)
    won = made.won == 1
    data = list(
        zip(np.where(won, made.first, made.second), np.where(won, made.second, made.first), strict=True)
    )
    theirs = choix.opt_pairwise(6, data, alpha=0.0, method="Newton-CG", tol=1e-12)
    found = fitted(made, systems=SIX)
    assert found.ties is None
    assert values(found) == pytest.approx(dict(zip(SIX, theirs - theirs.mean(), strict=True)), abs=1e-4)


def test_with_ties_it_is_the_maximum_of_davidsons_likelihood() -> None:
    made = drawn()

    def unlikely(free: np.ndarray) -> float:
        half = (free[made.first] - free[made.second]) / 2
        v = np.exp(free[6])
        chosen = np.select([made.won == 1, made.won == 0], [np.exp(half), np.exp(-half)], v)
        return -np.log(chosen / (np.exp(half) + np.exp(-half) + v)).sum() + free[:6].mean() ** 2

    best = minimize(unlikely, np.zeros(7), method="BFGS", options={"gtol": 1e-8}).x
    found = fitted(made, systems=SIX)
    assert values(found) == pytest.approx(dict(zip(SIX, best[:6] - best[:6].mean(), strict=True)), abs=1e-5)
    assert found.ties == pytest.approx(np.exp(best[6]), abs=1e-5)


def test_the_one_step_jackknife_is_near_the_whole_one() -> None:
    """Of one item left out at a time, fitted anew; without workers that is all the variance there is."""
    made = replace(drawn(n=300), workers=None)
    left_out = []
    for item in range(100):
        kept = made.items != item
        parts = (made.first[kept], made.second[kept], made.won[kept], made.items[kept])
        left_out.append(values(fitted(Compared(*parts, None), systems=SIX)))
    found = fitted(made, systems=SIX)
    for one in found.strengths:
        shifts = np.array([other[one.system] - one.value for other in left_out])
        error = np.sqrt(99 / 100 * (shifts**2).sum())
        reach = (one.interval.high - one.interval.low) / 2 / 1.984  # Student's t, 99 degrees of freedom
        assert reach == pytest.approx(error, rel=0.02)


def width(found) -> float:
    interval = next(one.interval for one in found.strengths if one.system == "f")
    return interval.high - interval.low


def test_workers_who_each_have_a_mind_of_their_own_widen_the_intervals() -> None:
    """Half of them always prefer f, which is the second of its pairs, the others never."""
    made = drawn()
    won = np.where(made.second == 5, (made.workers % 2).astype(float), made.won)
    minded = replace(made, won=won)
    assert width(fitted(minded, systems=SIX)) > 1.5 * width(
        fitted(replace(minded, workers=None), systems=SIX)
    )


def test_what_somebody_says_twice_of_an_item_is_one_voice() -> None:
    once = drawn()
    assert once.workers is not None
    columns = (once.first, once.second, once.won, once.items, once.workers)
    twice = Compared(*(np.repeat(column, 2) for column in columns))
    ours, theirs = (
        {s.system: s.interval for s in fitted(made, systems=SIX).strengths} for made in (twice, once)
    )
    for system in SIX:
        assert (ours[system].low, ours[system].high) == pytest.approx(
            (theirs[system].low, theirs[system].high)
        )


def test_ranks_hold_what_the_tests_leave_possible() -> None:
    found = fitted(drawn(n=3000), systems=SIX)
    assert [one.system for one in found.strengths] == ["f", "e", "d", "c", "b", "a"]
    assert [one.best_rank <= n <= one.worst_rank for n, one in enumerate(found.strengths, 1)] == [True] * 6
    assert found.strengths[0].worst_rank < found.strengths[-1].best_rank


def test_groups_that_never_met_are_told_and_not_computed() -> None:
    made = drawn()
    kept = (made.first < 3) == (made.second < 3)
    parts = (made.first[kept], made.second[kept], made.won[kept], made.items[kept], made.workers[kept])
    found = fitted(Compared(*parts), systems=SIX)
    assert found.groups == (("a", "b", "c"), ("d", "e", "f"))
    assert found.why_not == (
        "Not all systems can be compared: they fall into 2 groups that never met (a, b, c; d, e, f)."
    )
    assert set(values(found).values()) == {None}
    assert found.rate("b", "a").n > 0


def test_who_always_won_has_no_finite_strength() -> None:
    made = drawn()
    won = np.where(made.first == 0, 1.0, made.won)  # `a` is the first of its pairs
    found = fitted(replace(made, won=won), systems=SIX)
    assert found.why_not == "No finite strengths: a was preferred in every comparison with the others."


def test_nothing_but_ties_and_nothing_at_all() -> None:
    made = drawn()
    ties = fitted(replace(made, won=np.full(len(made.won), 0.5)), systems=SIX)
    none = np.array([], "intp")
    empty = fitted(Compared(none, none, np.array([]), none, none), systems=SIX)
    assert (ties.why_not, empty.why_not) == (
        "No finite strengths: every comparison was a tie.",
        "Nothing was compared.",
    )


def test_a_win_rate_is_read_from_both_sides() -> None:
    found = fitted(drawn(), systems=SIX)
    one, other = found.rate("a", "f"), found.rate("f", "a")
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    assert (one.rate + other.rate, one.expected + other.expected) == pytest.approx((1.0, 1.0))
    assert (one.interval.low, one.corrected) == pytest.approx((1 - other.interval.high, other.corrected))
    assert found.rate("a", "a") is None


def test_the_rate_that_the_strengths_expect_is_davidsons() -> None:
    found = fitted(drawn(), systems=SIX)
    assert found.ties is not None
    ratio = {name: np.exp(value / 2) for name, value in values(found).items()}
    for one in found.rates:
        ours, theirs = ratio[one.system] / ratio[one.against], ratio[one.against] / ratio[one.system]
        won, tied = np.array([ours, found.ties]) / (ours + theirs + found.ties)
        assert one.expected == pytest.approx(won + tied / 2)


@pytest.mark.parametrize(
    ("way", "places", "counts"),
    [
        ("choice", ["preferred", "other", None], {"shown": 2}),
        ("ranking", ["1", "3", "2", None], {"shown": 3, "mean_rank": 2.0}),
        ("best_worst", ["best", "other", "best", "worst", None], {"shown": 4, "best": 2, "worst": 1}),
    ],
)
def test_how_often_a_system_was_shown_and_where_it_was_put(way, places, counts) -> None:
    assert _counts(pd.Series(places, dtype="object"), WAYS[way]) == counts


def test_few_workers_are_told() -> None:
    found = fitted(drawn(workers=4), systems=SIX)
    assert found.support.effective < FEW_WORKERS
    assert found.support.warning.startswith("few workers: 4")
