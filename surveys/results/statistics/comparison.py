"""How systems stand beside each other on each criterion, and whether the differences may be chance.

Two methods. `PAIRED` is ours: items that both systems were rated on, one difference of item means per item, Student's
t on those differences, p values corrected for all comparisons of the table at once. `POOLED` is what the VTT authors
did (scripts/human_evaluation/human_results_summary.py at https://github.com/hughplay/VTT): every rating stands for
itself, skips are averaged in as -1, nothing is corrected. It is there to reproduce tables, not to be believed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from surveys.results.frames.base import Frame
from surveys.results.statistics.criteria import ratings_of, scores_of
from surveys.results.statistics.intervals import Interval, difference_interval
from surveys.results.statistics.student import paired_p, pooled_p

ALPHA = 0.05
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


PAIRED = Method(
    key="paired_t_by_item",
    name=(
        "Two-sided paired t test on item means, over the items on which both systems were rated; Holm's correction "
        "over all criteria and systems of the table. Skips are missing values."
    ),
    correction="holm",
    source=(
        'Student, "The probable error of a mean", Biometrika 6(1), 1908; S. Holm, "A simple sequentially rejective '
        'multiple test procedure", Scandinavian Journal of Statistics 6(2), 1979'
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
class PairedDifference:
    """A system less the one compared with, on the `items` both were rated on: means of item means.

    `p` is before correction. `interval` is the clustered one of the difference of means, both on those items.
    """

    system: str
    criterion: str
    mean: float | None
    items: int
    p: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`estimates`: {system: {criterion: Estimate}}, scales only. `against` is "" where there is no system."""

    method: Method
    against: str
    estimates: Mapping[str, Mapping[str, Estimate]]
    differences: tuple[PairedDifference, ...] = ()


Scores = Mapping[str, Mapping[str, "pd.Series[float]"]]
PValues = dict[tuple[str, str], float | None]


def compare(frame: Frame, *, against: str = "", method: Method = PAIRED) -> Comparison:
    """Compare the kept ratings of every system with those of `against`, by default the reference or the best one.

    The best system has the highest mean on the most criteria; among equals the highest mean on the headline decides.
    Raises UnknownSystemError.
    """
    if against and against not in frame.systems:
        raise UnknownSystemError(f"There is no system {against!r}; there is {', '.join(frame.systems)}.")
    scores = {system: _scores(frame, system=system) for system in frame.systems}
    estimates = {
        name: {key: _estimate(found, method=method) for key, found in of_system.items()}
        for name, of_system in scores.items()
    }
    against = against or _usual(frame, estimates)
    pairs = () if method.has_skips else tuple(_differences(frame, scores, against=against))
    p = holm({(pair.system, pair.criterion): pair.p for pair in pairs})
    if method.has_skips:
        p = _pooled(scores, against=against)
    return Comparison(method, against, _with_p(estimates, p), pairs)


def holm(p: Mapping[tuple[str, str], float | None]) -> PValues:
    """Return Holm's adjusted p values; what is None stays so and does not count as a comparison."""
    known = sorted((value, name) for name, value in p.items() if value is not None)
    adjusted: PValues = dict.fromkeys(p)
    highest = 0.0
    for place, (value, name) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - place) * value))
        adjusted[name] = highest
    return adjusted


def _scores(frame: Frame, *, system: str) -> dict[str, "pd.Series[float]"]:
    """Return a score per kept response about `system` by criterion; a skip is missing."""
    rows = frame.about(frame.kept, system=system)
    scales = [criterion.key for criterion in frame.definition.output_criteria if criterion.is_scale]
    return {key: scores_of(frame, rows, system=system, key=key) for key in scales}


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
    leads = {s: sum(of[key] == highest[key] for key in of) for s, of in means.items()}
    return max(frame.systems, key=lambda s: (leads[s], means[s][frame.definition.headline]))


def _number(mean: float | None) -> float:
    return float("-inf") if mean is None else mean


def _pooled(scores: Scores, *, against: str) -> PValues:
    p: PValues = {}
    for system, of_system in scores.items():
        for key, found in of_system.items():
            if system != against:
                sides = (_counted(side, method=POOLED) for side in (found, scores[against][key]))
                p[system, key] = pooled_p(*sides)
    return p


def _differences(frame: Frame, scores: Scores, *, against: str) -> Iterator[PairedDifference]:
    for system, of_system in scores.items():
        for key, found in of_system.items():
            if system != against:
                yield _paired(frame, found, scores[against][key], system=system, criterion=key)


def _paired(
    frame: Frame, ours: "pd.Series[float]", theirs: "pd.Series[float]", *, system: str, criterion: str
) -> PairedDifference:
    items = frame.responses["item_id"]
    means = [side.dropna().sort_values().groupby(items).mean() for side in (ours, theirs)]
    shared = means[0].index.intersection(means[1].index)
    differences = means[0].loc[shared] - means[1].loc[shared]
    on_shared = [ratings_of(side[items[side.index].isin(shared)], frame.responses) for side in (ours, theirs)]
    return PairedDifference(
        system=system,
        criterion=criterion,
        mean=float(differences.mean()) if len(shared) else None,
        items=len(shared),
        p=paired_p(differences),
        interval=difference_interval(*on_shared),
    )


def _with_p(estimates: Mapping[str, Mapping[str, Estimate]], p: PValues) -> dict[str, dict[str, Estimate]]:
    return {
        system: {key: _tested(found, p.get((system, key))) for key, found in of_system.items()}
        for system, of_system in estimates.items()
    }


def _tested(estimate: Estimate, p: float | None) -> Estimate:
    return replace(estimate, p=p, dagger=p is not None and p < ALPHA)
