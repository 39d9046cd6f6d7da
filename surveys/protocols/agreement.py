"""Ratings that have nothing to do with anybody else's."""

from dataclasses import dataclass
from typing import ClassVar

from surveys.protocols.rules import Evidence, Flag, Rule, refuse

LEAST = 10  # below that a correlation of .1 is noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Rule):
    """The worker's scores hardly correlate with the means of everybody else's for the same outputs (leave one out).

    Pooled over what the worker did in the batch, on the headline criterion; fewer than `at_least` outputs that others
    rated too say nothing, nor do scores that are all the same. It finds who answers right but rates at random, which
    gold can't see: on simulated crowds .78 to .82 of bad assignments at a precision of .95 to .97 for r < .1.
    Filtering by agreement alone is too conservative (Mathur et al. 2018, U18-1010): a minority opinion is no fault.
    """

    kind: ClassVar[str] = "agreement"
    label: ClassVar[str] = "Ratings unlike everybody else’s"

    below: float = 0.1
    at_least: int = LEAST

    def __post_init__(self) -> None:
        if not -1 <= self.below < 1:
            raise refuse(self.kind, "'below' is a correlation, from -1 to less than 1.")
        if self.at_least < LEAST:
            raise refuse(self.kind, f"'at_least' must be {LEAST} outputs or more.")

    def notice(self, evidence: Evidence) -> Flag | None:
        n, r = len(evidence.worker.ratings), evidence.worker.correlation
        if n < self.at_least or r is None or r >= self.below:
            return None
        unlike = f"Your {n} ratings have hardly anything in common with those that other people gave"
        return Flag(self.kind, f"{unlike} (correlation {r:.2f}).".replace("-", "−"))

    def in_words(self) -> str:
        return f"ratings that correlate less than {self.below:g} with everybody else’s"

    def told(self) -> str:
        return "by somebody whose ratings have nothing in common with everybody else’s"
