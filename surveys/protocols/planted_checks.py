"""Items with a known verdict, planted among the others."""

from dataclasses import dataclass
from typing import ClassVar

from surveys.protocols.rules import Evidence, Flag, Rule, refuse

LEAST_FAILED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedChecks(Rule):
    """The worker failed `failed` or more of the planted checks shown in this batch.

    One failed check proposes no rejection: Prolific asks for at least two in studies of five minutes or more
    (researcher help, "Attention and comprehension checks"), and single checks measure badly (Berinsky et al. 2014,
    doi 10.1111/ajps.12081). With `failed` 1 a first failure is flagged for a person and counts for nothing more.
    """

    kind: ClassVar[str] = "planted_checks"
    label: ClassVar[str] = "Failed planted checks"

    failed: int = LEAST_FAILED

    def __post_init__(self) -> None:
        if self.failed < 1:
            raise refuse(self.kind, "'failed' must be 1 or more.")

    def notice(self, evidence: Evidence) -> Flag | None:
        n_failed = sum(not is_passed for is_passed in evidence.worker.checks)
        if n_failed < self.failed:
            return None
        shown = f"{n_failed} of {len(evidence.worker.checks)} questions that check attention were answered wrongly."
        return Flag(self.kind, shown, is_hit=n_failed >= LEAST_FAILED)

    def in_words(self) -> str:
        return f"{self.failed} or more planted checks failed"

    def told(self) -> str:
        return "by somebody who failed the attention checks among the questions"
