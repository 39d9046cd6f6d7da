"""The table of results: a line per system and criterion, of the kept rows and of each stratum."""

from collections.abc import Iterator
from typing import IO, Any

import pandas as pd

from surveys.results.files.csv_text import write_csv
from surveys.results.frames.base import Frame
from surveys.results.statistics.choices import Choices, choices
from surveys.results.statistics.comparison import CLUSTERED, Comparison, Difference, Method, compare
from surveys.results.statistics.inference import Support
from surveys.results.statistics.numbers import BLANK, CriterionSummary, Score, Selection, Share
from surveys.results.statistics.strengths import Strengths, strengths
from surveys.results.statistics.summary import summarise

ALL = "all"
COUNT = "n_{value}"
COUNTS = ("n", "skipped", "good", "shared_items", "workers")
EFFECT = (
    "shared_items", "level",
    "difference", "difference_low", "difference_high",
    "standardised", "standardised_low", "standardised_high",
    "superiority", "superiority_low", "superiority_high",
    "workers", "effective_workers", "busiest_three", "few_workers",
)  # fmt: skip


def results_table(frame: Frame, *, against: str = "", method: Method = CLUSTERED) -> pd.DataFrame:
    """Return the numbers of every scale; there is no line over several criteria.

    `model_correct` is the stratum: whether what the system decided was right, "all" for the kept rows. Mean, sd and p
    of the lines "all" are those of `compare`, and so are the difference and its effect sizes, on the items both systems
    were rated on, with intervals at `level`, which leave out 0 exactly where there is a dagger; strata are not tested.
    `workers` to `few_workers` say what the test rests on, of the side with fewer.
    `n_<value>` count how often a value was given. After the scales comes a line for each option of a checklist, its
    mean the share that ticked it, and one for each system's preference over the one compared with: its mean is the win
    rate with ties half, its difference the net, tested; families of tests of their own. Where systems are ranked, each
    has a line `<preference>.strength`, its mean the strength and its n the comparisons it was in.
    Raises UnknownSystemError.
    """
    summary, comparison = summarise(frame), compare(frame, against=against, method=method)
    selections = {ALL: summary.kept, **{stratum.name: stratum for stratum in summary.strata}}
    lines = [
        line
        for name, selection in selections.items()
        for line in _lines(selection, stratum=name, comparison=comparison)
    ]
    found = choices(frame, against=comparison.against)
    lines += [*_ticked_lines(summary.kept, found, comparison.against), *_preferred_lines(found)]
    lines += _strength_lines(strengths(frame))
    return _whole(pd.DataFrame(lines))


def _whole(table: pd.DataFrame) -> pd.DataFrame:
    """Return counts as whole numbers, whatever is blank in other lines."""
    counts = [name for name in table if name in COUNTS or str(name).startswith(COUNT.format(value=""))]
    return table.astype(dict.fromkeys(counts, "Int64"))


def _ticked_lines(selection: Selection, found: Choices, against: str) -> Iterator[dict[str, Any]]:
    for system in selection.systems:
        for criterion in system.criteria:
            for share in criterion.shares if criterion.is_checklist else ():
                key = f"{criterion.key}.{share.key}"
                names, tested = (
                    {"system": system.system, "criterion": key},
                    found.difference(system.system, key),
                )
                yield {
                    **names,
                    **_of_share(share, skipped=system.skipped),
                    "against": against,
                    **effect_cells(tested),
                }


def _of_share(share: Share, *, skipped: int) -> dict[str, Any]:
    return {
        "model_correct": ALL,
        "n": share.total,
        "skipped": skipped,
        "mean": share.share,
        "low": share.interval and share.interval.low,
        "high": share.interval and share.interval.high,
        "dagger": False,
    }


def _preferred_lines(found: Choices) -> Iterator[dict[str, Any]]:
    for one in found.preferred:
        interval, rate = one.interval, one.rate_interval
        yield {
            "system": one.system,
            "criterion": one.criterion,
            "model_correct": ALL,
            "n": one.n,
            "mean": one.rate,
            "low": rate and rate.low,
            "high": rate and rate.high,
            "against": one.against,
            "p": one.corrected,
            "dagger": one.dagger,
            "shared_items": one.support and one.support.items,
            "level": interval and interval.level,
            "difference": one.net,
            "difference_low": interval and interval.low,
            "difference_high": interval and interval.high,
            **_support(one.support),
            "n_won": one.wins,
            "n_tied": one.ties,
            "n_lost": one.losses,
        }


def _strength_lines(found: Strengths | None) -> Iterator[dict[str, Any]]:
    if found is None:
        return
    for one in found.strengths:
        yield {
            "system": one.system,
            "criterion": f"{found.criterion}.strength",
            "model_correct": ALL,
            "n": sum(pair.n for pair in found.rates if one.system in (pair.system, pair.against)),
            "mean": one.value,
            "low": one.interval and one.interval.low,
            "high": one.interval and one.interval.high,
            **_support(found.support),
        }


def write_table(frame: Frame, stream: IO[str], *, against: str = "", method: Method = CLUSTERED) -> None:
    write_csv(results_table(frame, against=against, method=method), stream)


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
        **dict.fromkeys(EFFECT),
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
        **effect_cells(comparison.difference(system, criterion)),
    }


def effect_cells(found: Difference | None) -> dict[str, Any]:
    """Return a difference and its test; the p of a comparison that corrects nothing stands beside it alone."""
    if found is None:
        return {}
    names = {
        "difference": (found.mean, found.interval),
        "standardised": (found.standardised, found.standardised_interval),
        "superiority": (found.superiority, found.superiority_interval),
    }
    cells: dict[str, Any] = {"p": found.corrected, "dagger": found.dagger, "shared_items": found.items}
    cells["level"] = found.interval and found.interval.level
    for name, (value, interval) in names.items():
        cells |= {name: value, f"{name}_low": interval and interval.low}
        cells[f"{name}_high"] = interval and interval.high
    return cells | _support(found.support)


def _support(support: Support | None) -> dict[str, Any]:
    if support is None:
        return {}
    return {
        "workers": support.workers,
        "effective_workers": support.effective,
        "busiest_three": support.busiest,
        "few_workers": support.has_few_workers,
    }
