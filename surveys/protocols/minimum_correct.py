"""Enough right answers in one assignment."""

from dataclasses import dataclass
from typing import ClassVar

from surveys.protocols.rules import Evidence, Flag, Rule, refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimumCorrect(Rule):
    """OFA-X's rule: fewer than `minimum` of `out_of` answers right.

    It judges only assignments whose every item has a gold answer; others wait for a person. Source: the published
    results of OFA-X (arXiv 2212.04231), where 22 assignments below 3 of 5 were rejected. An honest worker who has 74 %
    right fails 11 % of such HITs (binomial), so by itself it is hard on difficult items.
    """

    kind: ClassVar[str] = "minimum_correct"
    label: ClassVar[str] = "Too few right answers"
    needs_gold: ClassVar[bool] = True

    minimum: int
    out_of: int

    def __post_init__(self) -> None:
        if not 1 <= self.minimum <= self.out_of:
            raise refuse(self.kind, f"at least {self.minimum} of {self.out_of} right can't be asked for.")

    def check(self, *, items_per_hit: int) -> None:
        if self.out_of != items_per_hit:
            raise refuse(self.kind, f"it counts {self.out_of} answers, but a HIT has {items_per_hit}.")

    def notice(self, evidence: Evidence) -> Flag | None:
        n_correct, n_graded = evidence.n_correct, evidence.n_graded
        if n_graded != self.out_of:
            n_items = len(evidence.is_correct)
            sentence = f"{n_graded} of {n_items} answers could be graded; the rule needs {self.out_of}."
            return Flag(self.kind, sentence, is_hit=False)
        if n_correct >= self.minimum:
            return None
        answered = f"You answered {n_correct} of {self.out_of} questions correctly"
        return Flag(self.kind, f"{answered}; at least {self.minimum} are needed.")

    def in_words(self) -> str:
        return f"fewer than {self.minimum} of {self.out_of} answers right"

    def told(self) -> str:
        return f"with fewer than {self.minimum} of {self.out_of} right answers"
