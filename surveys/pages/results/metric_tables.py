"""The tables of automatic metrics: means, and how they go together with ratings."""

from collections.abc import Iterator, Mapping, Sequence

from surveys.pages.results.cells import Cell, Row
from surveys.results.printed import NOTHING, number
from surveys.results.statistics.correlation import Coefficient, Correlation
from surveys.results.statistics.metrics import MetricMean, MetricSummary, RatingMean

SHADES = 4
COEFFICIENTS = {"spearman": "Spearman", "kendall": "Kendall’s tau-b", "pearson": "Pearson"}
LEVELS = {
    "item": "outputs",
    "within": "the outputs of one system, averaged over systems",
    "system": "systems",
}


def means_of_metrics(summary: MetricSummary, *, systems: Sequence[str]) -> Iterator[Row]:
    """Yield a row a metric, a cell a system; behind it are the answers about its outputs."""
    means = {(mean.metric, mean.system): mean for mean in summary.means}
    for metric in dict.fromkeys(mean.metric for mean in summary.means):
        yield Row(metric, tuple(_mean(means.get((metric, system))) for system in systems), {})


def means_of_ratings(
    summary: MetricSummary, *, systems: Sequence[str], criteria: Mapping[str, str]
) -> Iterator[Row]:
    """Yield a row for each of the `criteria` ({key: label}) that was rated, a cell a system."""
    means = {(rating.criterion, rating.system): rating for rating in summary.ratings}
    for key, label in criteria.items():
        of_systems = [means.get((key, system)) for system in systems]
        if any(of_systems):
            yield Row(label, tuple(map(_mean, of_systems)), {"criterion": key})


def _mean(mean: MetricMean | RatingMean | None) -> Cell:
    return Cell(number(mean.mean), f"n = {mean.n}") if mean else Cell(NOTHING)


def heat_maps(
    correlations: Sequence[Correlation], *, metrics: Sequence[str], criteria: Mapping[str, str]
) -> Iterator[tuple[str, tuple[Row, ...]]]:
    """Yield a title and a table for each coefficient on each level: criteria down, metrics across."""
    by_place: dict[tuple[str, str, str], Correlation] = {
        (one.level, one.metric, one.criterion): one for one in correlations
    }
    for level, of in LEVELS.items():
        if not any(one.level == level and not one.why_not for one in correlations):
            continue
        for name, label in COEFFICIENTS.items():
            rows = [
                Row(
                    title,
                    tuple(_coefficient(by_place.get((level, metric, key)), name) for metric in metrics),
                    {"criterion": key},
                )
                for key, title in criteria.items()
            ]
            yield f"{label}, over {of}", tuple(rows)


def _coefficient(correlation: Correlation | None, name: str) -> Cell:
    coefficient: Coefficient | None = getattr(correlation, name) if correlation else None
    if coefficient is None or correlation is None:
        return Cell(NOTHING)
    low, high = coefficient.low, coefficient.high
    has_ends = low is not None and high is not None
    between = f"{number(low, places=2)} to {number(high, places=2)},\n" if has_ends else ""
    shade = round(SHADES * coefficient.value) if _tells(correlation, coefficient) else 0
    # Of each system by itself it is fewer: those of all of them count towards the mean over systems.
    counted = f"n = {correlation.n}{' in all' if correlation.level == 'within' else ''}"
    return Cell(number(coefficient.value, places=2), f"{between}{counted}", shade=str(shade))


def _tells(correlation: Correlation, coefficient: Coefficient) -> bool:
    """Tell whether a coefficient is more than chance makes: what has a colour is read as a finding.

    Over systems an interval draws items, never systems: of five, a metric that knew nothing left 0 out in four of ten
    studies. So nothing has a colour there.
    """
    low, high = coefficient.low, coefficient.high
    leaves_zero_out = low is not None and high is not None and (low > 0 or high < 0)
    return leaves_zero_out and correlation.level != "system"
