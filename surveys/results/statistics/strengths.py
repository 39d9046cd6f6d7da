"""How strong systems are, by who was preferred to whom: Bradley-Terry with ties, and win rates.

The chance that i is preferred to j is p_i / (p_i + p_j + v sqrt(p_i p_j)), that of a tie v sqrt(p_i p_j) over the same
(R. R. Davidson, "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments", Journal of
the American Statistical Association 65, 1970); without any tie v is 0 and the model that of R. A. Bradley & M. E.
Terry, Biometrika 39, 1952. Strengths are the logarithms of p, less their mean, by maximum likelihood. They exist just
where no group of systems was preferred in all its comparisons with the others (L. R. Ford, American Mathematical
Monthly 64(8), 1957; a tie counts for both) and, if there are ties, some way of wins and ties from a system back to
itself has more wins than ties: else strengths can grow with v without end, and no outcome becomes less likely (the
condition of A. Albert & J. A. Anderson, Biometrika 71(1), 1984, for what is chosen of the scores h, -h and log v, with
h half the difference of two strengths). Where they don't exist nothing is computed, and the reason is told.

A comparison is of two systems by one worker on one item. A ranking and a choice of best and worst are taken as the
comparisons they imply, which depend on each other; so do those of one worker and of one item. The variance is therefore
that of `inference`: over items, plus over workers, less over the cells of both, each by the jackknife, here with one
step of Newton's method from the estimate instead of all (the estimate of D. Pregibon, Annals of Statistics 9(4), 1981).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import pandas as pd

from surveys.protocols.preferences import BEST, WAYS, WORST, BestWorst, Choice, InParts, Ranking
from surveys.publishing.drawing import parts
from surveys.results.frames.base import Frame, column, only
from surveys.results.statistics.criteria import coded, values_of
from surveys.results.statistics.davidson import NEAR, TIE, WIN, Compared, Likelihood, estimate, summed
from surveys.results.statistics.inference import (
    ALPHA,
    Effect,
    Floats,
    Interval,
    Ratings,
    Support,
    effect_of,
    holm,
    interval_on_scale,
    support_of,
)
from surveys.results.statistics.numbering import Codes, known_people, numbered

METHOD = (
    "Bradley-Terry strengths with ties (Davidson), as logarithms of odds about a mean of 0; 95 % intervals by item and "
    "by worker, with min(items, effective workers) - 1 degrees of freedom. Ranks are those that Holm's procedure over "
    "all pairs of systems leaves possible at 5 %."
)


TOO_ONE_SIDED = "No strengths could be computed: the comparisons are too one-sided."


@dataclass(frozen=True, slots=True)
class Strength:
    """A system's strength, and the ranks that the tests of all pairs leave possible; None where there is none."""

    system: str
    value: float | None
    interval: Interval | None
    best_rank: int | None = None
    worst_rank: int | None = None


@dataclass(frozen=True, slots=True)
class WinRate:
    """How two systems did against each other: wins of `system`, ties, wins of `against`.

    `rate` counts a tie as half a win, with its interval; `expected` is the rate by the strengths. `corrected` is the p
    of no difference between the strengths, by Holm over all pairs.
    """

    system: str
    against: str
    wins: int
    ties: int
    losses: int
    interval: Interval | None = None
    expected: float | None = None
    corrected: float | None = None

    @property
    def n(self) -> int:
        return self.wins + self.ties + self.losses

    @property
    def rate(self) -> float | None:
        return (self.wins + self.ties / 2) / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Strengths:
    """What comparisons tell of all systems, the strongest first. `why_not` is empty where strengths exist.

    `ties` is v, how common ties are; None where there was none. `groups` never met. `counts`, of each system: `shown`,
    how often it was judged beside others; of a ranking its `mean_rank`, else how often it was `best` and `worst`.
    """

    criterion: str
    strengths: tuple[Strength, ...] = ()
    rates: tuple[WinRate, ...] = ()
    ties: float | None = None
    n: int = 0
    why_not: str = ""
    groups: tuple[tuple[str, ...], ...] = ()
    support: Support | None = None
    counts: dict[str, dict[str, float]] = field(default_factory=dict)

    def rate(self, system: str, against: str) -> WinRate | None:
        """Return how `system` did against another; None of itself."""
        for one in self.rates:
            if (one.system, one.against) == (system, against):
                return one
            if (one.system, one.against) == (against, system):
                return _turned(one)
        return None


def _turned(one: WinRate) -> WinRate:
    interval = one.interval and replace(one.interval, low=1 - one.interval.high, high=1 - one.interval.low)
    expected = None if one.expected is None else 1 - one.expected
    return WinRate(one.against, one.system, one.losses, one.ties, one.wins, interval, expected, one.corrected)


def strengths(frame: Frame, rows: pd.DataFrame | None = None) -> Strengths | None:
    """Return the strengths by the kept rows, or others; None where the survey type does not rank systems."""
    preference = frame.definition.preference
    if preference is None or not frame.definition.has_strengths or len(frame.systems) < 2:
        return None
    rows = frame.kept if rows is None else rows
    rows = only(rows, ~rows["is_skipped"]).reset_index(drop=True)
    way = WAYS[preference.by]
    places = {system: values_of(rows, column(system, preference.key)) for system in frame.systems}
    levels = [_of_places(given, way.level) for given in places.values()]
    found = fitted(_compared(levels, coded(rows), way), systems=frame.systems, criterion=preference.key)
    return replace(found, counts={system: _counts(given, way) for system, given in places.items()})


def _of_places(places: "pd.Series[str]", number: Callable[[str], float]) -> Floats:
    return np.asarray(places.map(number, na_action="ignore"), dtype=np.float64)


def _counts(places: "pd.Series[str]", way: Choice | InParts) -> dict[str, float]:
    """Return how often a system was shown, and in a ranking its mean rank, or how often it was best and worst."""
    shown = int(places.notna().sum())
    if isinstance(way, Ranking) and shown:
        return {"shown": shown, "mean_rank": float(np.nanmean(np.sort(_of_places(places, way.score))))}
    if isinstance(way, BestWorst):
        return {"shown": shown, **{place: int((places == place).sum()) for place in (BEST, WORST)}}
    return {"shown": shown}


def _compared(levels: Sequence[Floats], names: pd.DataFrame, way: Choice | InParts) -> Compared:
    """Return the comparisons that levels imply."""
    rows: list[tuple[Codes, int, int, Floats]] = []
    for (i, ours), (j, theirs) in combinations(enumerate(levels), 2):
        difference = ours - theirs
        tied = [level for level in np.unique(ours[difference == 0]) if way.is_tied(level)]
        kept = np.flatnonzero((difference > 0) | (difference < 0) | ((difference == 0) & np.isin(ours, tied)))
        rows.append((kept, i, j, (np.sign(difference[kept]) + 1) / 2))
    places = np.concatenate([kept for kept, *_ in rows])
    workers = known_people(names["worker"].to_numpy()[places], unknown=len(names))
    return Compared(
        np.concatenate([np.full(len(kept), i, "intp") for kept, i, _, _ in rows]),
        np.concatenate([np.full(len(kept), j, "intp") for kept, _, j, _ in rows]),
        np.concatenate([won for *_, won in rows]),
        numbered(names["item_id"].to_numpy()[places])[1],
        None if workers is None else numbered(workers)[1],
    )


def fitted(found: Compared, *, systems: Sequence[str], criterion: str = "") -> Strengths:
    """Return the strengths of systems by comparisons, or why there are none."""
    n = len(found.won)
    rates = tuple(_rates(found, systems))
    told = Strengths(criterion, tuple(Strength(s, None, None) for s in systems), rates, n=n)
    if not n:
        return replace(told, why_not="Nothing was compared.")
    support = support_of(len(np.unique(found.items)), found.workers)
    told = replace(told, support=support)
    met = [(rate.system, rate.against) for rate in rates if rate.n]
    groups = tuple(map(tuple, parts(systems, pairs=met)))
    if len(groups) > 1:
        return replace(told, why_not=_of_groups(groups), groups=groups)
    if reason := _of_winners(rates, systems):
        return replace(told, why_not=reason)
    return _with_strengths(told, found, systems, support)


def _of_groups(groups: Sequence[Sequence[str]]) -> str:
    named = "; ".join(", ".join(group) for group in groups)
    return f"Not all systems can be compared: they fall into {len(groups)} groups that never met ({named})."


def _of_winners(rates: Sequence[WinRate], systems: Sequence[str]) -> str:
    """Say which systems were never beaten by any of the others; "" if strengths exist (Ford's condition)."""
    beaten: dict[str, set[str]] = {system: set() for system in systems}
    for one in rates:
        beaten[one.against] |= {one.system} if one.wins or one.ties else set()
        beaten[one.system] |= {one.against} if one.losses or one.ties else set()
    for system in systems:
        above = _reached(system, beaten)
        if len(above) < len(systems):
            names = ", ".join(name for name in systems if name in above)
            verb = "was" if len(above) == 1 else "were"
            return f"No finite strengths: {names} {verb} preferred in every comparison with the others."
    return _of_ties(rates, systems)


def _of_ties(rates: Sequence[WinRate], systems: Sequence[str]) -> str:
    """Say why strengths and ties can grow together without end; "" if they can't, or nothing was a tie."""
    if not any(one.ties for one in rates):
        return ""
    if not any(one.wins + one.losses for one in rates):
        return "No finite strengths: every comparison was a tie."
    if _can_part(list(_steps(rates)), systems):
        return "No finite strengths: every way from a system through wins back to itself takes as many ties."
    return ""


def _steps(rates: Sequence[WinRate]) -> Iterator[tuple[str, str, int]]:
    """Yield (lower, higher, by): how far one of two has to be above the other, or may be (below 0), for growing v."""
    for one in rates:
        if one.wins:
            yield one.against, one.system, 1
        if one.losses:
            yield one.system, one.against, 1
        if one.ties:
            yield from ((one.against, one.system, -1), (one.system, one.against, -1))


def _can_part(steps: Sequence[tuple[str, str, int]], systems: Sequence[str]) -> bool:
    """Tell whether there are heights that are all far enough apart, by R. Bellman's longest ways (1958)."""
    heights = dict.fromkeys(systems, 0)
    for _ in range(len(systems) + 1):
        raised = [(high, heights[low] + by) for low, high, by in steps if heights[low] + by > heights[high]]
        if not raised:
            return True
        for high, to in raised:
            heights[high] = max(heights[high], to)
    return False


def _reached(start: str, beaten: Mapping[str, set[str]]) -> set[str]:
    found, waiting = {start}, [start]
    while waiting:
        new = beaten[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _rates(found: Compared, systems: Sequence[str]) -> Iterator[WinRate]:
    for i, j in combinations(range(len(systems)), 2):
        of_pair = (found.first == i) & (found.second == j)
        won = found.won[of_pair]
        wins, ties, losses = (int((won == value).sum()) for value in (WIN, TIE, 0.0))
        workers = None if found.workers is None else found.workers[of_pair]
        between = interval_on_scale(Ratings(won, found.items[of_pair], workers), low=0.0, high=1.0)
        yield WinRate(systems[i], systems[j], wins, ties, losses, between)


def _centred(n: int) -> Floats:
    """Return the matrix from n - 1 free strengths (the last is 0) to n strengths about a mean of 0."""
    full = np.vstack([np.eye(n - 1), np.zeros((1, n - 1))])
    centred: Floats = full - full.mean(axis=0)
    return centred


def _with_strengths(told: Strengths, found: Compared, systems: Sequence[str], support: Support) -> Strengths:
    likelihood = Likelihood(found, len(systems))
    beta = estimate(likelihood)
    if beta is None:
        return replace(told, why_not=TOO_ONE_SIDED)
    values = _centred(len(systems)) @ beta[: likelihood.n_free]
    shifts = [_shifts(likelihood, beta, codes, n_systems=len(systems)) for codes in _clusterings(found)]
    effects = {
        (one.system, one.against): _contrast(one, systems, values, shifts, support) for one in told.rates
    }
    adjusted = holm({name: effect.p if effect else None for name, effect in effects.items()})
    ties = math.exp(beta[-1]) if likelihood.has_ties else None
    rates = tuple(_expected(one, systems, values, ties or 0.0, adjusted) for one in told.rates)
    alone = [
        effect_of(float(values[i]), [shift[:, i] for shift in shifts], support) for i in range(len(systems))
    ]
    ranks = _ranks(systems, effects, adjusted)
    ordered = sorted(range(len(systems)), key=lambda i: -values[i])
    return replace(
        told,
        strengths=tuple(
            Strength(systems[i], float(values[i]), alone[i].interval(), *ranks[systems[i]]) for i in ordered
        ),
        rates=rates,
        ties=ties,
    )


def _clusterings(found: Compared) -> list[Codes]:
    if found.workers is None:
        return [found.items]
    cells = numbered(found.items * (found.workers.max() + 1) + found.workers)[1]
    return [found.items, found.workers, cells]


def _shifts(likelihood: Likelihood, beta: Floats, codes: Codes, *, n_systems: int) -> Floats:
    """Return how strengths shift without each group, one step of Newton's method; shape (groups, systems).

    Infinite where the rest would not tell the strengths.
    """
    n = int(codes.max()) + 1
    slopes = summed(likelihood.slopes(beta), codes, n)
    own = likelihood.information(beta, codes, n)
    rest = own.sum(axis=0) - own
    is_known = np.linalg.cond(rest) < 1 / NEAR
    steps = np.full(slopes.shape, math.inf)
    steps[is_known] = np.linalg.solve(rest[is_known], -slopes[is_known][:, :, None])[:, :, 0]
    if not is_known.all():
        return np.full((n, n_systems), math.inf)
    return steps[:, : n_systems - 1] @ _centred(n_systems).T


def _contrast(
    one: WinRate, systems: Sequence[str], values: Floats, shifts: Sequence[Floats], support: Support
) -> Effect | None:
    i, j = systems.index(one.system), systems.index(one.against)
    if not all(np.isfinite(shift).all() for shift in shifts):
        return None
    return effect_of(float(values[i] - values[j]), [shift[:, i] - shift[:, j] for shift in shifts], support)


def _expected(
    one: WinRate,
    systems: Sequence[str],
    values: Floats,
    v: float,
    adjusted: Mapping[tuple[str, str], float | None],
) -> WinRate:
    half = float(values[systems.index(one.system)] - values[systems.index(one.against)]) / 2
    ours, theirs = math.exp(half), math.exp(-half)
    expected = (ours + v / 2) / (ours + theirs + v)
    return replace(one, expected=expected, corrected=adjusted[one.system, one.against])


def _ranks(
    systems: Sequence[str],
    effects: Mapping[tuple[str, str], Effect | None],
    adjusted: Mapping[tuple[str, str], float | None],
) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank of each system that no test rules out."""
    above, below = dict.fromkeys(systems, 0), dict.fromkeys(systems, 0)
    for (system, against), effect in effects.items():
        p = adjusted[system, against]
        if effect and p is not None and p < ALPHA:
            better, worse = (system, against) if effect.value > 0 else (against, system)
            above[worse] += 1
            below[better] += 1
    return {system: (1 + above[system], len(systems) - below[system]) for system in systems}
