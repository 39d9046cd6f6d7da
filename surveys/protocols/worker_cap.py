"""Nobody does most of a batch."""

from dataclasses import dataclass
from math import floor
from typing import ClassVar

from surveys.protocols.rules import Evidence, Flag, Rule, refuse

SHARE = 0.1
ROUNDING = 1e-9  # 0.1 * 30 is a little less, or more, than 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerCap(Rule):
    """More than a share of the batch's wanted assignments by one worker, in the order they were handed in.

    Three workers gave about half of each OFA-X batch, so half of its numbers is their taste. Toloka guards against
    robots by the same 10 %. It says nothing about the work: it flags, and is no part of what proposes a rejection. It
    is kept at the door too, so what it flags came in by two doors at once, or before the rule. People invited by a
    personal link are named, and it is not for them.
    """

    kind: ClassVar[str] = "worker_cap"
    label: ClassVar[str] = "More than one person’s share"
    counts: ClassVar[bool] = False

    share: float = SHARE

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise refuse(self.kind, "'share' is more than 0 and at most 1.")
        if self.rejects_alone:
            raise refuse(self.kind, "it can't reject alone; it says nothing about the work.")

    def notice(self, evidence: Evidence) -> Flag | None:
        if evidence.is_named or evidence.n_before < most_assignments(self.share, n_wanted=evidence.n_wanted):
            return None
        n = evidence.n_before + 1
        return Flag(
            self.kind, f"This is your assignment number {n} here; one person may do {self.share:.0%} of them."
        )

    def in_words(self) -> str:
        return f"One worker may do at most {self.share:.0%} of the batch."

    def told(self) -> str:
        return f"One person may do at most {self.share:.0%} of these HITs."


def most_assignments(share: float, *, n_wanted: int) -> int:
    """Return how many assignments one worker may have of so many: at least one."""
    return max(1, floor(share * n_wanted + ROUNDING))
