"""Review policies: data on the batch, pure decisions. A policy proposes; review.py carries out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

APPROVE, REJECT, FLAG = "approve", "reject", "flag"


class PolicyError(ValueError):
    """The policy's data contradict themselves; the message says how."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do with one assignment, and the sentence the worker reads if it is a rejection."""

    verdict: str
    reason: str = ""
    n_correct: int | None = None
    n_graded: int | None = None


class Policy(Protocol):
    def decide(self, is_correct: Sequence[bool | None]) -> Verdict:
        """Judge one assignment by its answers, one per item; None where an item has no gold answer."""


@dataclass(frozen=True, slots=True)
class NeverReject:
    """Pay everybody who submitted."""

    def decide(self, is_correct: Sequence[bool | None]) -> Verdict:
        return Verdict(APPROVE, "", *_count(is_correct))


@dataclass(frozen=True, slots=True)
class MinimumCorrect:
    """OFA-X's rule: fewer than `minimum` of `out_of` answers right is rejected (or flagged) with the count.

    It judges only assignments whose every item has a gold answer; others wait for a person.
    """

    minimum: int
    out_of: int
    below: str = REJECT

    def __post_init__(self) -> None:
        if not 1 <= self.minimum <= self.out_of:
            raise PolicyError(f"At least {self.minimum} of {self.out_of} right can't be asked for.")

    def decide(self, is_correct: Sequence[bool | None]) -> Verdict:
        n_correct, n_graded = _count(is_correct)
        if n_graded != self.out_of:
            reason = f"{n_graded} of {len(is_correct)} answers could be graded; the rule needs {self.out_of}."
            return Verdict(FLAG, reason, n_correct, n_graded)
        if n_correct < self.minimum:
            return Verdict(self.below, self._message(n_correct), n_correct, n_graded)
        return Verdict(APPROVE, "", n_correct, n_graded)

    def _message(self, n_correct: int) -> str:
        answered = f"You answered {n_correct} of {self.out_of} questions correctly"
        return f"{answered}; at least {self.minimum} are needed."


def read_policy(data: Mapping[str, Any], *, items_per_hit: int) -> Policy:
    """Build the policy a batch stores as {"kind": ..., ...}; PolicyError if it can't hold for its HITs.

    Kinds: "minimum_correct" and "flag_only" with `minimum` and `out_of`, and "never".
    """
    kind = data.get("kind")
    if kind == "never":
        return NeverReject()
    if kind not in {"minimum_correct", "flag_only"}:
        raise PolicyError(f"Unknown review policy {kind!r}.")
    minimum, out_of = _whole_number(data, "minimum"), _whole_number(data, "out_of")
    if out_of != items_per_hit:
        raise PolicyError(f"The policy counts {out_of} answers, but a HIT has {items_per_hit}.")
    return MinimumCorrect(minimum, out_of, below=REJECT if kind == "minimum_correct" else FLAG)


def _whole_number(data: Mapping[str, Any], key: str) -> int:
    try:
        return int(data[key])
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyError(f"The review policy needs a whole number called {key!r}.") from error


def _count(is_correct: Sequence[bool | None]) -> tuple[int, int]:
    graded = [correct for correct in is_correct if correct is not None]
    return sum(graded), len(graded)
