"""The same rating everywhere."""

from dataclasses import dataclass
from typing import ClassVar

from surveys.protocols.rules import Evidence, Flag, Rule, refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class StraightLining(Rule):
    """All ratings on scales of an assignment, `at_least` so many, are the same.

    It never rejects alone: 30 % of the assignments OFA-X paid for VQA-X look like that, mostly because good
    explanations are all rated "yes", and long strings find careless answers no better than chance (Goldammer et al.
    2024, doi 10.3758/s13428-024-02484-3).
    """

    kind: ClassVar[str] = "straight_lining"
    label: ClassVar[str] = "The same rating everywhere"

    at_least: int = 8

    def __post_init__(self) -> None:
        if self.rejects_alone:
            raise refuse(self.kind, "it can't reject alone; good outputs deserve the same rating.")
        if self.at_least < 2:
            raise refuse(self.kind, "'at_least' must be 2 or more ratings.")

    def notice(self, evidence: Evidence) -> Flag | None:
        n = len(evidence.scores)
        if n < self.at_least or len(set(evidence.scores)) > 1:
            return None
        return Flag(self.kind, f"You gave the same rating {n} times out of {n}.")

    def in_words(self) -> str:
        return f"the same rating everywhere, with {self.at_least} ratings or more"

    def told(self) -> str:
        return "with the same rating everywhere"
