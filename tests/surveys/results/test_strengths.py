"""Bradley-Terry strengths beside other people's code: `choix` without ties, a search for Davidson's maximum else."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, permutations

import choix
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog, minimize

from surveys.protocols.preferences import WAYS
from surveys.results.statistics.davidson import Compared
from surveys.results.statistics.inference import FEW_WORKERS
from surveys.results.statistics.strengths import _counts, _rates, fitted

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


def tallied(*rows: tuple[int, int, int, int, int]) -> Compared:
    """Return comparisons from (system, other, wins, ties, losses), each of an item and a worker of its own."""
    made = [
        (i, j, won)
        for i, j, *counts in rows
        for won, n in zip((1.0, 0.5, 0.0), counts, strict=True)
        for _ in range(n)
    ]
    first, second, won = map(np.array, zip(*made, strict=True))
    return Compared(first, second, won, np.arange(len(won)), np.arange(len(won)))


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


def test_two_who_won_as_often_are_as_strong_as_each_other_and_not_without_strengths() -> None:
    """Wins and losses that are as many leave nothing over; ties beside them don't make all of it ties."""
    found = fitted(tallied((0, 1, 3, 2, 3)), systems="ab")
    assert (found.why_not, values(found)) == ("", pytest.approx({"a": 0.0, "b": 0.0}))


def test_a_win_rate_is_read_from_both_sides() -> None:
    found = fitted(drawn(), systems=SIX)
    one, other = found.rate("a", "f"), found.rate("f", "a")
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    assert (one.rate + other.rate, one.expected + other.expected) == pytest.approx((1.0, 1.0))
    assert (one.interval.low, one.corrected) == pytest.approx((1 - other.interval.high, other.corrected))
    assert 0 < one.interval.low < one.rate < one.interval.high < 1
    assert found.rate("a", "a") is None


def test_who_won_every_time_has_a_rate_with_an_interval_of_so_many_of_one_mind() -> None:
    wins = Compared(
        first=np.zeros(30, "intp"),
        second=np.ones(30, "intp"),
        won=np.ones(30),
        items=np.arange(30),
        workers=np.tile(np.arange(10), 3),
    )
    (one,) = _rates(wins, ["a", "b"])
    assert (one.wins, one.interval.high) == (30, 1.0)
    assert one.interval.low == pytest.approx(0.05 ** (1 / 10))


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


TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
# Games of the American League's east in 1987: won and lost at home, against the others in this order.
AT_HOME = (
    "43 42 43 61 42 60", "33 42 43 60 61 43", "25 43 24 43 42 60", "33 51 25 43 42 61", "51 25 33 42 52 60",
    "25 33 34 43 42 24", "25 15 16 24 16 34",
)  # fmt: skip


def games() -> Iterator[tuple[int, int, int, int, int]]:
    pairs = permutations(range(len(TEAMS)), 2)
    for (home, away), (won, lost) in zip(pairs, " ".join(AT_HOME).split(), strict=True):
        yield home, away, int(won), 0, int(lost)


def test_published_strengths_of_baseball_teams() -> None:
    """A. Agresti, Categorical Data Analysis, 2002, 10.6; the numbers are those of H. Turner & D. Firth,
    "Bradley-Terry models in R: the BradleyTerry2 package", Journal of Statistical Software 48(9), 2012.
    """
    found = values(fitted(tallied(*games()), systems=TEAMS))
    assert {team: round(value - found["Baltimore"], 4) for team, value in found.items()} == {
        "Milwaukee": 1.5814, "Detroit": 1.4364, "Toronto": 1.2945, "New York": 1.2476, "Boston": 1.1077,
        "Cleveland": 0.6839, "Baltimore": 0.0,
    }  # fmt: skip


def test_strengths_that_can_grow_with_ties_are_not_computed() -> None:
    """Ties alone join the two: the more ties are expected, the further apart they can be."""
    reason = "No finite strengths: every way from a system through wins back to itself takes as many ties."
    assert fitted(tallied((0, 1, 1, 4999, 0)), systems="ab").why_not == reason
    assert fitted(tallied((0, 1, 10, 1, 0), (1, 2, 10, 1, 0)), systems="abc").why_not == reason
    found = fitted(tallied((0, 1, 1, 50, 0), (1, 2, 1, 50, 0), (0, 2, 1, 50, 0)), systems="abc")
    assert (found.why_not, [one.system for one in found.strengths]) == ("", ["a", "b", "c"])


def has_maximum(rows: list[tuple[int, int, int, int, int]], n_systems: int) -> bool:
    """Tell by linear programming whether outcomes overlap (Albert & Anderson 1984), strengths first, then log v."""
    has_ties, margins = any(ties for *_, ties, _ in rows), []
    for i, j, wins, ties, losses in rows:
        half, v = np.zeros(n_systems + 1), np.zeros(n_systems + 1)
        half[i], half[j], v[-1] = 0.5, -0.5, 1.0
        margins += [
            side
            for side, n in ((half, wins), (-half, losses))
            if n
            for side in (2 * side, *([side - v] * has_ties))
        ]
        margins += [v - half, v + half] if ties else []
    matrix = np.array(margins)
    bounds = [(-1, 1)] * n_systems + [(-1, 1) if has_ties else (0, 0)]
    best = linprog(-matrix.sum(axis=0), A_ub=-matrix, b_ub=np.zeros(len(matrix)), bounds=bounds)
    return -best.fun < 1e-9 and np.linalg.matrix_rank(matrix) == n_systems - 1 + has_ties


def test_strengths_are_told_just_where_the_likelihood_has_a_maximum() -> None:
    chance, told = np.random.default_rng(5), []
    for _ in range(150):
        n = int(chance.integers(2, 6))
        pairs = [pair for pair in combinations(range(n), 2) if chance.random() < 0.8]
        counts = chance.integers(0, 3, (len(pairs), 3)) * (chance.random((len(pairs), 3)) < 0.5)
        rows = [(i, j, *map(int, of)) for (i, j), of in zip(pairs, counts, strict=True) if of.sum()]
        if rows:
            told.append((not fitted(tallied(*rows), systems=SIX[:n]).why_not, has_maximum(rows, n)))
    assert [ours for ours, _ in told] == [theirs for _, theirs in told]
    assert {ours for ours, _ in told} == {True, False}


@pytest.mark.parametrize("wins", [10, 5000])
def test_two_systems_are_told_by_their_odds(wins: int) -> None:
    found = fitted(tallied((0, 1, wins, 0, 1)), systems="ab")
    assert values(found) == pytest.approx({"a": np.log(wins) / 2, "b": -np.log(wins) / 2})


def test_twelve_systems_in_a_chain_of_one_sided_pairs() -> None:
    found = fitted(tallied(*((n, n + 1, 500, 1, 1) for n in range(11))), systems="abcdefghijkl")
    steps = -np.diff([one.value for one in found.strengths])
    assert [one.system for one in found.strengths] == list("abcdefghijkl")
    assert steps == pytest.approx(np.full(11, np.log(500)))


def test_intervals_hold_the_true_strength_as_often_as_they_say() -> None:
    truth = np.linspace(-0.8, 0.8, 4)
    held = []
    for seed in range(120):
        found = fitted(drawn(n=300, systems=4, seed=seed), systems="abcd")
        held += [
            one.interval.low <= truth["abcd".index(one.system)] <= one.interval.high
            for one in found.strengths
        ]
    assert 0.92 < np.mean(held) < 0.985
