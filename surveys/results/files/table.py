"""The table of results: a line per system and criterion, of the kept rows and of each stratum."""

from collections.abc import Iterator
from typing import IO, Any

import pandas as pd

from surveys.results.files.cells import neutralised
from surveys.results.files.csv_text import write_csv
from surveys.results.frames.base import Frame
from surveys.results.statistics.comparison import PAIRED, Comparison, Method, compare
from surveys.results.statistics.numbers import BLANK, CriterionSummary, Score, Selection
from surveys.results.statistics.summary import summarise

ALL = "all"
COUNT = "n_{value}"


def results_table(frame: Frame, *, against: str = "", method: Method = PAIRED) -> pd.DataFrame:
    """Return the numbers of every scale; there is no line over several criteria.

    `model_correct` is the stratum: whether what the system decided was right, "all" for the kept rows. Mean, sd and p
    of the lines "all" are those of `compare`; strata are not tested. `n_<value>` count how often a value was given.
    Raises UnknownSystemError.
    """
    summary, comparison = summarise(frame), compare(frame, against=against, method=method)
    selections = {ALL: summary.kept, **{stratum.name: stratum for stratum in summary.strata}}
    lines = [
        line
        for name, selection in selections.items()
        for line in _lines(selection, stratum=name, comparison=comparison)
    ]
    return pd.DataFrame(lines)


def write_table(frame: Frame, stream: IO[str], *, against: str = "", method: Method = PAIRED) -> None:
    write_csv(neutralised(results_table(frame, against=against, method=method)), stream)


def _lines(selection: Selection, *, stratum: str, comparison: Comparison) -> Iterator[dict[str, Any]]:
    for system in selection.systems:
        for criterion in system.criteria:
            if criterion.score is not None:
                names = {"system": system.system, "criterion": criterion.key, "model_correct": stratum}
                numbers = _numbers(criterion, criterion.score, skipped=system.skipped)
                yield {**names, **numbers, **_tested(comparison, system.system, criterion.key, stratum)}


def _numbers(criterion: CriterionSummary, score: Score, *, skipped: int) -> dict[str, Any]:
    interval, good = criterion.interval, criterion.good
    return {
        "n": score.ratings,
        "skipped": skipped + score.blanks,
        "mean": score.rating_mean,
        "sd": score.sd,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "good": good.count if good else None,
        "good_share": good.share if good else None,
        "against": None,
        "p": None,
        "dagger": None,
        **{COUNT.format(value=share.key): share.count for share in criterion.shares if share.key != BLANK},
    }


def _tested(comparison: Comparison, system: str, criterion: str, stratum: str) -> dict[str, Any]:
    if stratum != ALL:
        return {}
    found = comparison.estimates[system][criterion]
    return {
        "n": found.n,
        "skipped": found.skipped,
        "mean": found.mean,
        "sd": found.sd,
        "against": comparison.against,
        "p": found.p,
        "dagger": found.dagger,
    }
