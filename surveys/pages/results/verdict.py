"""What came out, in a sentence or two, with its uncertainty: the headline criterion on kept rows."""

from collections.abc import Iterator

from surveys.pages.results.cells import ends, few, probability
from surveys.results.printed import known, level_text, number
from surveys.results.statistics.choices import Choices, Preferred
from surveys.results.statistics.comparison import Comparison, Difference
from surveys.results.statistics.numbers import CriterionSummary, Summary
from surveys.results.statistics.strengths import Strengths

MOST = 3


def verdict(summary: Summary, comparison: Comparison) -> tuple[str, ...]:
    """Return what a reader takes away: each system beside the one compared with, or a single system's mean.

    A difference that was not shown is never called none. Of many systems the first differences are told, as many as
    are read; then how many of all tests of the table showed one.
    """
    headline = _headline(summary)
    if headline is None:
        return ()
    found = [one for one in comparison.differences if one.criterion == headline.key]
    if not found:
        return tuple(_alone(summary, headline))
    found.sort(key=lambda one: not one.dagger)
    told = [_between(one, against=comparison.against, criterion=headline) for one in found[:MOST]]
    caution = [comparison.caution] if comparison.caution else []
    return (*told, *_all_tests(comparison, told=len(told)), *caution)


def _headline(summary: Summary) -> CriterionSummary | None:
    criteria = summary.kept.systems[0].criteria if summary.kept.systems else ()
    scales = {one.key: one for one in criteria if one.score is not None}
    return scales.get(summary.headline)


def _alone(summary: Summary, headline: CriterionSummary) -> Iterator[str]:
    for system in summary.kept.systems[:MOST]:
        rated = next(one for one in system.criteria if one.key == headline.key)
        if rated.score and rated.score.rating_mean is not None:
            mean = number(rated.score.rating_mean, places=rated.interval.places if rated.interval else 2)
            between = (
                f" ({level_text(rated.interval.level)}: {ends(rated.interval)})" if rated.interval else ""
            )
            yield f"{_about(headline)} ratings of {system.system} have a mean of {mean}{between}."


def _between(found: Difference, *, against: str, criterion: CriterionSummary) -> str:
    interval = found.interval
    if interval is None or found.mean is None or found.corrected is None:
        about = f"{_about(criterion)} {found.system} beside {against}"
        size = "" if found.mean is None else f" (difference {number(found.mean)})"
        return f"{about}{size} can't be tested on {found.items} shared items{found.why_not and f': {found.why_not}'}."
    size = f"{ends(interval)}, {probability(found.corrected)}{few(found)}"
    if found.dagger:
        way = "higher" if found.mean > 0 else "lower"
        mean = known(abs(found.mean), interval)
        return f"{_about(criterion)} {found.system} is rated {mean} {way} than {against} (difference {size})."
    return (
        f"{_about(criterion)} whether {found.system} or {against} is rated higher can't be told "
        f"(difference {known(found.mean, interval)}, {size})."
    )


def _about(criterion: CriterionSummary) -> str:
    """Return the name of a criterion before what is said of it; a question stands in quotes."""
    label = criterion.label
    return f"“{label}”:" if label.endswith("?") else f"{label}:"


def _all_tests(comparison: Comparison, *, told: int) -> Iterator[str]:
    tested = [one for one in comparison.differences if one.corrected is not None]
    if len(tested) > told:
        shown = sum(one.dagger for one in tested)
        yield f"Of all {len(tested)} tests of this table, {shown} show a difference."


def preferred(choices: Choices) -> Iterator[str]:
    """Yield what came out where two systems stood beside each other: first what was shown, as many as are read."""
    stood = [one for one in choices.preferred if one.n]
    pairs = sorted(stood, key=lambda one: (not one.dagger, one.corrected is None))
    for found in pairs[:MOST]:
        yield f"Beside each other: {_which(found)}"
    tested = [one for one in pairs if one.corrected is not None]
    if len(tested) > MOST:
        yield f"Of all {len(tested)} pairs that are tested, {sum(one.dagger for one in tested)} show a difference."


def _which(found: Preferred) -> str:
    counts = f"{found.system} won {found.wins}, tied {found.ties}, lost {found.losses}"
    if found.interval is None or found.net is None or found.corrected is None:
        return f"{found.system} and {found.against} are {found.untested} ({counts})."
    size = f"won less lost {known(found.net, found.interval)}, {ends(found.interval)}"
    tested = f"({counts}; {size}, {probability(found.corrected)}{few(found)})"
    if not found.dagger:
        return f"whether {found.system} or {found.against} is preferred can't be told {tested}."
    pair = (found.system, found.against) if found.net > 0 else (found.against, found.system)
    return f"{pair[0]} is preferred to {pair[1]} {tested}."


def strongest(found: Strengths | None) -> Iterator[str]:
    """Yield which systems may be the strongest, or why that can't be told."""
    if found is None:
        return
    if found.why_not:
        yield found.why_not
        return
    first = [one.system for one in found.strengths if one.best_rank == 1]
    if len(first) == 1:
        yield f"{first[0]} is the strongest of {len(found.strengths)} systems: preferred to each other one."
    elif len(first) == len(found.strengths):
        yield f"Which of {len(first)} systems is the strongest can't be told."
    else:
        yield f"Of {len(found.strengths)} systems {len(first)} may be the strongest: {', '.join(first)}."
