"""What one worker did in a batch as a whole, and what is worked out from it once for all their assignments."""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from statistics import StatisticsError, correlation

PRIOR = 1.0  # answers' worth of the batch's overall share: nobody is certain to be right, or wrong
JEFFREYS = 0.5


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """One of the worker's answers that could be graded, and how many of the other workers had that item right."""

    is_correct: bool
    n_others_right: int
    n_others: int


@dataclass(frozen=True, slots=True)
class RatedAlike:
    """One score the worker gave an output, and the mean of those that other workers gave it."""

    score: float
    mean_of_others: float


@dataclass(frozen=True)
class Record:
    """A worker in one batch: graded `answers` to items that others answered too, `ratings` on the headline criterion
    of outputs that others rated too, and `checks`, True for each planted check that was passed.

    `n_others_graded` and `n_others_right` count the graded answers of all other workers, on whatever items.
    """

    answers: tuple[GradedAnswer, ...] = ()
    n_others_graded: int = 0
    n_others_right: int = 0
    ratings: tuple[RatedAlike, ...] = ()
    checks: tuple[bool, ...] = ()

    @cached_property
    def expected(self) -> tuple[float, ...]:
        """How likely anybody is to have each of the items right, by the answers of the other workers."""
        overall = (self.n_others_right + JEFFREYS) / (self.n_others_graded + 2 * JEFFREYS)
        return tuple((a.n_others_right + PRIOR * overall) / (a.n_others + PRIOR) for a in self.answers)

    @cached_property
    def n_right(self) -> int:
        return sum(answer.is_correct for answer in self.answers)

    @cached_property
    def z(self) -> float | None:
        """By how many standard deviations the right answers differ from the expected ones; None without answers."""
        if not self.answers:
            return None
        return (self.n_right - sum(self.expected)) / sqrt(sum(p * (1 - p) for p in self.expected))

    @cached_property
    def correlation(self) -> float | None:
        """Pearson's r of own scores and others' means; None where one of them does not vary."""
        try:
            return correlation([r.score for r in self.ratings], [r.mean_of_others for r in self.ratings])
        except StatisticsError:
            return None
