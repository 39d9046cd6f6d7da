"""What a policy looks at, what a rule notices, and what comes out of both."""

from dataclasses import dataclass, field
from typing import ClassVar

from surveys.protocols.worker_record import Record

APPROVE, REJECT, PROPOSE, FLAG = "approve", "reject", "propose", "flag"


class PolicyError(ValueError):
    """The policy's data contradict themselves; the message names the rule and says how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known about a submitted assignment. Rules read it; they never ask a database.

    `is_saved` is False where its complete answers never reached us. `is_correct` has one entry per item, None where
    there is no gold answer; `seconds` is the active time, None where nothing measured it; `n_words`, `n_pictures` and
    `n_inputs` are what it showed and asked; `scores` are its ratings on scales. `worker` is what its worker did in the
    batch, this assignment included, and `n_before` counts what they handed in before it; `is_named`: they came by a
    personal link. About the batch: `median_seconds` and `n_wanted` assignments.
    """

    is_saved: bool = True
    is_correct: tuple[bool | None, ...] = ()
    seconds: float | None = None
    n_words: int = 0
    n_pictures: int = 0
    n_inputs: int = 0
    scores: tuple[float, ...] = ()
    worker: Record = field(default_factory=Record)
    is_named: bool = False
    n_before: int = 0
    n_wanted: int = 0
    median_seconds: float | None = None

    @property
    def n_graded(self) -> int:
        return sum(correct is not None for correct in self.is_correct)

    @property
    def n_correct(self) -> int:
        return sum(correct is True for correct in self.is_correct)


@dataclass(frozen=True, slots=True)
class Flag:
    """Something a rule noticed, said to the worker. Without `is_hit` it only asks for a person."""

    kind: str
    sentence: str
    is_hit: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do with one assignment, and the sentence the worker reads if it is a rejection."""

    verdict: str
    reason: str = ""
    n_correct: int | None = None
    n_graded: int | None = None
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of a policy. With `rejects_alone` its hit is enough to propose a rejection.

    `kind` names it in the data, `label` on pages. Without `counts` its hit asks for a person, but is no part of what
    proposes a rejection. Its fields are its parameters; they raise PolicyError if they can't hold.
    """

    kind: ClassVar[str]
    label: ClassVar[str]
    needs_gold: ClassVar[bool] = False
    counts: ClassVar[bool] = True

    rejects_alone: bool = False

    def check(self, *, items_per_hit: int) -> None:
        """Raise PolicyError if the rule can't judge HITs of so many items."""

    def notice(self, evidence: Evidence) -> Flag | None:
        """Return what speaks against the assignment, None if nothing does or it can't be judged."""
        raise NotImplementedError

    def in_words(self) -> str:
        """Return the rule as a researcher reads it: the end of "Flagged: ..."; a sentence where it is not counted."""
        raise NotImplementedError

    def told(self) -> str:
        """Return the rule as a worker reads it before the work: what follows "An assignment ...", or a sentence."""
        raise NotImplementedError


def refuse(kind: str, sentence: str) -> PolicyError:
    """Return the error of a rule whose parameters can't hold."""
    return PolicyError(f"The rule {kind!r}: {sentence}")
