"""6: a frame becomes counts, scores, shares and intervals."""

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
from surveys.aggregation.summary import summarise

__all__ = [
    "BLANK",
    "Counts",
    "CriterionSummary",
    "Difference",
    "Minutes",
    "Score",
    "Selection",
    "Share",
    "Summary",
    "SystemSummary",
    "TaskScores",
    "summarise",
]
