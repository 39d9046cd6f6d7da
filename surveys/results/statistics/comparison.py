"""How systems stand beside each other on each criterion, and whether the differences may be chance.

Two methods. `CLUSTERED` is ours: see `surveys.results.statistics.inference`. Items that both systems were rated on are
paired, p values are corrected for all comparisons of the table at once, and every interval stands at the level its
own test was made at, so that a dagger and an interval without 0 are one statement. `POOLED` is what the VTT authors
did (scripts/human_evaluation/human_results_summary.py at https://github.com/hughplay/VTT): every rating stands for
itself, skips are averaged in as -1, nothing is corrected. It is there to reproduce tables, not to be believed.
"""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from surveys.protocols.definition import UNSEEN
from surveys.results.frames.base import ABOUT, Frame, column
from surveys.results.statistics.criteria import coded, ratings_of, scores_of
from surveys.results.statistics.inference import (
    ALPHA,
    NOTHING,
    Effect,
    Interval,
    Labels,
    Paired,
    PValues,
    Ratings,
    Support,
    holm,
    level_of,
    paired,
    unpaired_effect,
    why_no_effect,
)

SKIP_SCORE = -1.0


class UnknownSystemError(ValueError):
    """Nothing was said of the system to compare with; the message names those there are."""


@dataclass(frozen=True, slots=True)
class Method:
    """How p values were made, in words for a paper. `has_skips`: skips were averaged in as -1."""

    key: str
    name: str
    correction: str
    source: str
    has_skips: bool = False


CLUSTERED = Method(
    key="two_way_cluster_t",
    name=(
        "Two-sided t test on item means, over the items on which both systems were rated, its variance clustered by "
        "item and by worker, with min(items, effective workers) - 1 degrees of freedom; Holm's correction over all "
        "criteria and systems of the table. Skips are missing values."
    ),
    correction="holm",
    source=(
        'A. C. Cameron, J. B. Gelbach & D. L. Miller, "Robust inference with multiway clustering", Journal of Business '
        '& Economic Statistics 29(2), 2011; S. Holm, "A simple sequentially rejective multiple test procedure", '
        "Scandinavian Journal of Statistics 6(2), 1979"
    ),
)
POOLED = Method(
    key="pooled_t_by_rating",
    name=(
        "Student's t test, two-sided, equal variances, every rating taken as independent; no correction. Skips are "
        "averaged in as -1, as the VTT authors did."
    ),
    correction="none",
    source="scripts/human_evaluation/human_results_summary.py, https://github.com/hughplay/VTT",
    has_skips=True,
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """One system on one criterion: mean and standard deviation (n - 1) of `n` ratings.

    `skipped` responses have no rating there. `p` tests the difference from the system compared with, for which it is
    None, as where it is undefined; `dagger` marks p < 0.05.
    """

    mean: float | None
    sd: float | None
    n: int
    skipped: int
    p: float | None = None
    dagger: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """A system less the one compared with, on the `items` both were rated on: means of item means.

    `p` is before correction, `corrected` after. `interval` is that of `mean`, at the level at which Holm's procedure
    tested it: it leaves out 0 exactly where there is a dagger. `standardised` is `mean` in standard deviations of the
    ratings of both (Cohen's d), its interval the same divided by the same. `superiority` is the probability that a
    rating of the system is above one of the other on the same item, ties counting half; its interval stands at the
    same level, but nothing tests it. `unpaired` stands where
    too few items are shared: then the items of both are taken as two samples, and nothing else is tested. `why_not`
    says why enough shared items were not tested.
    """

    system: str
    criterion: str
    mean: float | None
    items: int
    p: float | None
    interval: Interval | None
    corrected: float | None = None
    standardised: float | None = None
    standardised_interval: Interval | None = None
    superiority: float | None = None
    superiority_interval: Interval | None = None
    unpaired: Effect | None = None
    why_not: str = ""

    @property
    def untested(self) -> str:
        """What stands in place of a test, and why; "" where there is one."""
        if self.corrected is not None and self.interval is not None:
            return ""
        noun = "item" if self.items == 1 else "items"
        return f"not tested, {self.items} shared {noun}{self.why_not and f': {self.why_not}'}"

    @property
    def dagger(self) -> bool:
        return self.corrected is not None and self.corrected < ALPHA

    @property
    def support(self) -> Support | None:
        """What the test rests on; None where nothing was tested."""
        return self.interval.support if self.interval else None


@dataclass(frozen=True, slots=True)
class Strangers:
    """A system that shares no item with the one compared with: how many each has, and how many seem to be the same.

    `equal_texts` counts texts (what the item is about, where the source has it, else the output) that stand under both.
    """

    system: str
    against: str
    items: int
    items_against: int
    equal_texts: int

    @property
    def reason(self) -> str:
        """Why nothing is compared, in a sentence or two."""
        counts = (
            f"{self.system} has {self.items} items, {self.against} {self.items_against}, and they share none"
        )
        likely = (
            f" {self.equal_texts} texts are equal under other names: it is likely that their items are named by other "
            f"ids. Give both the same ids to compare them."
        )
        return f"Not comparable item by item: {counts}.{likely if self.equal_texts else ''}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """`estimates`: {system: {criterion: Estimate}}, scales only. `against` is "" where there is no system, and
    `is_chosen` where it was named best after looking at these very ratings: no comparison planned beforehand.

    `differences` and the daggers of `estimates` are of the kept rows; `filtered` of those whose answer was right, a
    table of its own with a correction of its own, empty where nothing is graded. `strangers` share no item
    with `against`.
    """

    method: Method
    against: str
    estimates: Mapping[str, Mapping[str, Estimate]]
    differences: tuple[Difference, ...] = ()
    filtered: tuple[Difference, ...] = ()
    strangers: tuple[Strangers, ...] = ()
    is_chosen: bool = False

    @property
    def caution(self) -> str:
        """What choosing the best system after looking does to the p values, in a sentence; "" where nobody did."""
        if not self.is_chosen or len(self.estimates) < 2:
            return ""
        return (
            f"{self.against} was chosen after looking, as the best: no planned comparison, and p values lean towards "
            "daggers. Name the system to compare with beforehand."
        )

    def difference(self, system: str, criterion: str, *, filtered: bool = False) -> Difference | None:
        """Return the difference of a system on a criterion; None of the one compared with."""
        found = self.filtered if filtered else self.differences
        return next((d for d in found if (d.system, d.criterion) == (system, criterion)), None)


Scores = Mapping[str, Mapping[str, "pd.Series[float]"]]


def compare(frame: Frame, *, against: str = "", method: Method = CLUSTERED) -> Comparison:
    """Compare the kept ratings of every system with those of `against`, by default the reference or the best one.

    The best system has the highest mean on the most criteria; among equals the highest mean on the headline decides.
    Raises UnknownSystemError.
    """
    if against and against not in frame.systems:
        raise UnknownSystemError(f"There is no system {against!r}; there is {', '.join(frame.systems)}.")
    scores = _all_scores(frame, _compared_rows(frame, method))
    estimates = {
        name: {key: _estimate(found, method=method) for key, found in of_system.items()}
        for name, of_system in scores.items()
    }
    is_chosen = not against and frame.definition.reference_system not in frame.systems
    against = against or _usual(frame, estimates)
    if method.has_skips:
        p = _pooled(scores, against=against)
        return Comparison(method, against, _with_p(estimates, p), is_chosen=is_chosen)
    kept = _differences(frame, scores, against=against)
    filtered = (
        _differences(frame, _all_scores(frame, frame.filtered), against=against) if frame.is_graded else ()
    )
    p = {(found.system, found.criterion): found.corrected for found in kept}
    strangers = _strangers(frame, against)
    return Comparison(method, against, _with_p(estimates, p), kept, filtered, strangers, is_chosen)


def _compared_rows(frame: Frame, method: Method) -> pd.DataFrame:
    if method.has_skips:  # the authors' -1 is for their own reasons
        return frame.kept[~frame.kept["skip_reason"].isin(UNSEEN)]
    return frame.kept


def _strangers(frame: Frame, against: str) -> tuple[Strangers, ...]:
    shown = {system: frame.about(frame.kept, system=system) for system in frame.systems}
    items = {system: set(rows["item_id"]) for system, rows in shown.items()}
    return tuple(
        Strangers(
            system,
            against,
            len(items[system]),
            len(items[against]),
            len(_texts(shown[system], system) & _texts(shown[against], against)),
        )
        for system in frame.systems
        if system != against and items[system] and items[against] and not items[system] & items[against]
    )


def _texts(rows: pd.DataFrame, system: str) -> set[str]:
    has_about = ABOUT in rows and rows[ABOUT].notna().any()
    return set(rows[ABOUT if has_about else column(system, "text")].dropna()) - {""}


def _all_scores(frame: Frame, rows: pd.DataFrame) -> Scores:
    return {system: _scores(frame, rows, system=system) for system in frame.systems}


def _scores(frame: Frame, rows: pd.DataFrame, *, system: str) -> dict[str, "pd.Series[float]"]:
    """Return a score per response of `rows` about `system` by criterion; a skip is missing.

    Of a question that not everybody is asked there is a score of those who were, and nothing of anybody else.
    """
    rows = frame.about(rows, system=system)
    scales = [criterion for criterion in frame.definition.output_criteria if criterion.has_score]
    scores = {one.key: scores_of(frame, rows, system=system, key=one.key) for one in scales}
    return {one.key: scores[one.key].dropna() if one.asked_if else scores[one.key] for one in scales}


def _estimate(scores: "pd.Series[float]", *, method: Method) -> Estimate:
    values = _counted(scores, method=method)
    return Estimate(
        mean=float(values.mean()) if len(values) else None,
        sd=float(values.std()) if len(values) > 1 else None,
        n=len(values),
        skipped=int(scores.isna().sum()),
    )


def _counted(scores: "pd.Series[float]", *, method: Method) -> "pd.Series[float]":
    """Return the values that count, sorted: a sum must not depend on the order of the rows."""
    return (scores.fillna(SKIP_SCORE) if method.has_skips else scores.dropna()).sort_values()


def _usual(frame: Frame, estimates: Mapping[str, Mapping[str, Estimate]]) -> str:
    """Return the system to compare with where none is named: the reference, else the best."""
    reference = frame.definition.reference_system
    if reference in frame.systems or not frame.systems:
        return reference if frame.systems else ""
    means = {s: {key: _number(found.mean) for key, found in of.items()} for s, of in estimates.items()}
    highest = {key: max(of[key] for of in means.values()) for key in means[frame.systems[0]]}
    scales = [c.key for c in frame.definition.output_criteria if c.is_scale]  # more of a number is not better
    leads = {s: sum(of[key] == highest[key] for key in scales) for s, of in means.items()}
    return max(frame.systems, key=lambda s: (leads[s], means[s].get(frame.definition.headline, 0.0)))


def _number(mean: float | None) -> float:
    return float("-inf") if mean is None else mean


def _pooled(scores: Scores, *, against: str) -> PValues:
    """Return the published test's p values, as scipy.stats.ttest_ind gives them; None where it is undefined."""
    p: PValues = {}
    for system, of_system in scores.items():
        for key, found in of_system.items():
            if system != against:
                sides = (_counted(side, method=POOLED) for side in (found, scores[against][key]))
                p[system, key] = pooled_p(*sides)
    return p


def pooled_p(ours: "pd.Series[float]", theirs: "pd.Series[float]") -> float | None:
    """Return Student's p value of equal means, every value taken as independent; None where it is undefined."""
    from scipy import stats  # a second to import, so only for who reproduces the published table

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # too few values; two constant sides: p is 0 where they differ
        p = float(stats.ttest_ind(ours, theirs).pvalue)
    return None if math.isnan(p) else p


def _differences(frame: Frame, scores: Scores, *, against: str) -> tuple[Difference, ...]:
    """Return the differences of one table, corrected for each other."""
    names = coded(frame.responses)
    sides = {
        (system, key): (ratings_of(found, names), ratings_of(scores[against][key], names))
        for system, of_system in scores.items()
        for key, found in of_system.items()
        if system != against
    }
    return corrected(sides)


def corrected(sides: Mapping[tuple[str, str], tuple[Ratings, Ratings]]) -> tuple[Difference, ...]:
    """Return the differences of one family, by (system, criterion), each with Holm's p and an interval to match."""
    pairs = {name: paired(*both) for name, both in sides.items()}
    effects = {name: pair.effect() if pair else None for name, pair in pairs.items()}
    adjusted = holm({name: effect.p if effect else None for name, effect in effects.items()})
    return tuple(
        _difference(name, effect, pairs[name], *sides[name], adjusted=adjusted[name])
        for name, effect in effects.items()
    )


def _difference(
    name: tuple[str, str],
    effect: Effect | None,
    pair: Paired | None,
    ours: Ratings,
    theirs: Ratings,
    *,
    adjusted: float | None,
) -> Difference:
    shared = np.intersect1d(ours.items, theirs.items)
    if effect is None or pair is None:
        return Difference(
            *name,
            mean=_mean(ours, theirs, shared),
            items=len(shared),
            p=None,
            interval=None,
            unpaired=None if len(shared) else unpaired_effect(ours, theirs),
            why_not=why_no_effect(len(shared)),
        )
    alpha = ALPHA if effect.p is None or adjusted is None else level_of(effect.p, adjusted)
    interval = effect.interval(alpha=alpha)
    spread = _spread(ours, theirs, shared)
    above = pair.effect("superiority")
    return Difference(
        *name,
        mean=effect.value,
        items=len(shared),
        p=effect.p,
        interval=interval,
        corrected=adjusted,
        standardised=effect.value / spread if spread else None,
        standardised_interval=interval.divided(spread) if interval and spread else None,
        superiority=above.value,
        superiority_interval=above.interval_on(0.0, 1.0, alpha=alpha),
        why_not=effect.why_not,
    )


def _mean(ours: Ratings, theirs: Ratings, shared: Labels) -> float | None:
    """Return the difference on one item, of which nothing more can be said; None on none."""
    if len(shared) != 1:
        return None
    means = [float(np.sort(side.values[side.items == shared[0]]).mean()) for side in (ours, theirs)]
    return means[0] - means[1]


def _spread(ours: Ratings, theirs: Ratings, shared: Labels) -> float | None:
    """Return the pooled standard deviation of the ratings of both on the shared items; None where there is none."""
    sides = [np.sort(side.values[np.isin(side.items, shared)]) for side in (ours, theirs)]
    freedom = sum(len(side) - 1 for side in sides)
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in sides)
    return math.sqrt(squares / freedom) if freedom and squares > NOTHING else None


def _with_p(estimates: Mapping[str, Mapping[str, Estimate]], p: PValues) -> dict[str, dict[str, Estimate]]:
    return {
        system: {key: _tested(found, p.get((system, key))) for key, found in of_system.items()}
        for system, of_system in estimates.items()
    }


def _tested(estimate: Estimate, p: float | None) -> Estimate:
    return replace(estimate, p=p, dagger=p is not None and p < ALPHA)
