"""Automatic metrics beside human scores: means per system, and how the two go together."""

from collections.abc import Container, Iterator
from dataclasses import dataclass

import pandas as pd

from surveys.results.frames.base import Frame
from surveys.results.statistics.correlation import EVERY_LEVEL, Correlation, Level, correlations


@dataclass(frozen=True, slots=True)
class MetricMean:
    """One metric of one system: its mean over `n` outputs, and how many outputs have no score."""

    system: str
    metric: str
    mean: float | None
    n: int
    unscored: int
    version: str


@dataclass(frozen=True, slots=True)
class RatingMean:
    """What people say of one system on one scale: the mean over its `n` rated outputs, each with its own mean."""

    system: str
    criterion: str
    mean: float
    n: int


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """What metrics say about each system, and beside what people say (kept rows, scales only)."""

    means: tuple[MetricMean, ...]
    ratings: tuple[RatingMean, ...]
    correlations: tuple[Correlation, ...]


def summarise_metrics(
    frame: Frame, scores: pd.DataFrame, *, levels: Container[Level] = EVERY_LEVEL
) -> MetricSummary:
    """Put `scores` (system, item_id, metric, value, version) beside the kept ratings of a frame.

    Human means are over the raters of an output, so that an output counts once however many rated it.
    """
    keys = {criterion.key for criterion in frame.definition.output_criteria if criterion.has_score}
    ratings = frame.tidy().query("included")
    ratings = ratings[ratings["criterion"].isin(keys)]
    return MetricSummary(
        means=tuple(_means(scores)),
        ratings=tuple(_rating_means(ratings)),
        correlations=tuple(correlations(ratings, scores, levels=levels)),
    )


def _rating_means(ratings: pd.DataFrame) -> Iterator[RatingMean]:
    rated = ratings.dropna(subset=["score"]).groupby(["criterion", "system", "item_id"])["score"].mean()
    for (criterion, system), table in rated.reset_index().groupby(["criterion", "system"]):
        yield RatingMean(str(system), str(criterion), mean=float(table["score"].mean()), n=len(table))


def _means(scores: pd.DataFrame) -> list[MetricMean]:
    return [
        MetricMean(
            system=str(system),
            metric=str(metric),
            mean=float(values["value"].mean()) if values["value"].notna().any() else None,
            n=int(values["value"].notna().sum()),
            unscored=int(values["value"].isna().sum()),
            version=", ".join(sorted(set(values["version"]))),
        )
        for (metric, system), values in scores.groupby(["metric", "system"], sort=False)
    ]
