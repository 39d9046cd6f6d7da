"""Right answers against what other people reach on the same items."""

from dataclasses import dataclass
from typing import ClassVar

from surveys.protocols.rules import Evidence, Flag, Rule, refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class DifficultyAdjusted(Rule):
    """Far fewer right answers than others have on the same items: z = (right - sum p) / sqrt(sum p (1 - p)).

    p is the share of the other workers' answers to an item that are right, with one answer's worth of the share over
    all items added. Pooled over what the worker did in the batch; fewer than `at_least` graded answers say nothing.
    Unlike a fixed minimum it does not punish for hard or mislabelled items: on simulated crowds with 20 % ambiguous
    gold it hit .2 % of honest assignments where fewer than 3 of 5 hit 11.4 %; the default -2.5 is from there. z grows
    with the number of answers, so the share right must be `margin` below the expected one too: in VQA-X somebody with
    94 % of 265 answers right has z = -5.
    """

    kind: ClassVar[str] = "difficulty_adjusted"
    label: ClassVar[str] = "Fewer right answers than others on the same items"
    needs_gold: ClassVar[bool] = True

    below: float = -2.5
    at_least: int = 10
    margin: float = 0.1

    def __post_init__(self) -> None:
        if not self.below < 0:
            raise refuse(self.kind, "'below' must be less than 0, else half of all people are below it.")
        if self.at_least < 1:
            raise refuse(self.kind, "'at_least' must be 1 or more.")
        if not 0 <= self.margin < 1:
            raise refuse(self.kind, "'margin' is a share, from 0 to less than 1.")

    def notice(self, evidence: Evidence) -> Flag | None:
        worker = evidence.worker
        n = len(worker.answers)
        if n < self.at_least or worker.z is None or worker.z >= self.below:
            return None
        if sum(worker.expected) - worker.n_right < self.margin * n:
            return None
        got = f"You answered {worker.n_right} of {n} questions correctly in these HITs"
        usual = f"other people have about {sum(worker.expected):.0f} of the same questions right"
        return Flag(self.kind, f"{got}; {usual}.")

    def in_words(self) -> str:
        return f"right answers more than {-self.below:g} deviations below what others reach on the same items"

    def told(self) -> str:
        return "by somebody with far fewer right answers than other people have on the same questions"
