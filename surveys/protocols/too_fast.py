"""Time in which nobody could have read what was shown."""

from dataclasses import dataclass
from typing import ClassVar

from surveys.protocols.rules import Evidence, Flag, Rule, refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class TooFast(Rule):
    """Active time below what reading takes, or below a `divisor`-th of the batch's median.

    Active is what the page measured while it was visible and in focus; MTurk's clock runs from accepting, queueing
    included, and can't tell. Reading: words at 450 a minute, nearly twice the 238 of silent reading (Brysbaert 2019,
    doi 10.1016/j.jml.2019.104047), 2 s a picture, 1 s an input. Slow is never a fault. In OFA-X's data assignments
    below a third of the median were no less accurate, so time alone says little.
    """

    kind: ClassVar[str] = "too_fast"
    label: ClassVar[str] = "Faster than anyone can read"

    words_per_minute: float = 450.0
    seconds_per_picture: float = 2.0
    seconds_per_input: float = 1.0
    divisor: float = 3.0

    def __post_init__(self) -> None:
        if self.words_per_minute <= 0 or self.seconds_per_picture < 0 or self.seconds_per_input < 0:
            raise refuse(self.kind, "nobody reads in less than no time.")
        if self.divisor <= 1:
            raise refuse(self.kind, "'divisor' must be more than 1: half of all people are below the median.")

    def notice(self, evidence: Evidence) -> Flag | None:
        if evidence.seconds is None:
            return None
        floor = self.floor(evidence)
        if evidence.seconds >= floor:
            return None
        took = f"Your answers took {evidence.seconds:.0f} seconds"
        return Flag(self.kind, f"{took}; reading and answering this takes at least {floor:.0f}.")

    def floor(self, evidence: Evidence) -> float:
        """Return the seconds below which an assignment is too fast."""
        reading = 60 * evidence.n_words / self.words_per_minute
        reading += self.seconds_per_picture * evidence.n_pictures
        reading += self.seconds_per_input * evidence.n_inputs
        return max(reading, (evidence.median_seconds or 0) / self.divisor)

    def in_words(self) -> str:
        return f"less active time than reading takes, or less than the median divided by {self.divisor:g}"

    def told(self) -> str:
        return "finished faster than it can be read"
