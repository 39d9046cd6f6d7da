"""6: a frame becomes counts, scores, shares and intervals."""

from surveys.aggregation.comparison import (
    ALPHA,
    PAIRED,
    POOLED,
    Comparison,
    Estimate,
    Method,
    PairedDifference,
    UnknownSystemError,
    compare,
    holm,
)
from surveys.aggregation.metrics import MetricMean, MetricSummary, RatingMean, summarise_metrics
from surveys.aggregation.numbers import (
    BLANK,
    Counts,
    CriterionSummary,
    Difference,
    Minutes,
    Score,
    Selection,
    Share,
    Summary,
    SystemSummary,
    TaskScores,
)
from surveys.aggregation.subsets import used_without
from surveys.aggregation.summary import summarise

__all__ = [
    "ALPHA",
    "BLANK",
    "PAIRED",
    "POOLED",
    "Comparison",
    "Counts",
    "CriterionSummary",
    "Difference",
    "Estimate",
    "Method",
    "MetricMean",
    "MetricSummary",
    "Minutes",
    "PairedDifference",
    "RatingMean",
    "Score",
    "Selection",
    "Share",
    "Summary",
    "SystemSummary",
    "TaskScores",
    "UnknownSystemError",
    "compare",
    "holm",
    "summarise",
    "summarise_metrics",
    "used_without",
]
