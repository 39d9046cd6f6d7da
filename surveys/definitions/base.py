"""What every survey type declares: an answer to choose, criteria to rate, a preference, instructions."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Self


class DefinitionError(ValueError):
    """A definition contradicts itself; the message says how."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a question: the stored value, the label people read, and its score in [0, 1] or None."""

    value: str
    label: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """The task itself: which answer is right? Without `choices` each item brings its own.

    `is_ordered` choices (entailment, neutral, contradiction) keep their natural order; others are drawn.
    """

    label: str
    choices: tuple[Choice, ...] = ()
    is_ordered: bool = False


@dataclass(frozen=True, slots=True)
class Criterion:
    """Something judged about each output (or, with `per_output=False`, about the item as a whole).

    A checklist (`is_checklist`) takes any number of choices; `exclusive` names the choice that rules out all others
    (an explicit None). A scale takes exactly one.
    """

    key: str
    label: str
    choices: tuple[Choice, ...]
    help: str = ""
    per_output: bool = True
    is_checklist: bool = False
    exclusive: str = ""

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(choice.value for choice in self.choices)

    def score(self, value: str) -> float:
        """Return the score of a scale's `value`; KeyError if it is not one of the choices."""
        return {choice.value: choice.score for choice in self.choices if choice.score is not None}[value]


@dataclass(frozen=True, slots=True)
class Preference:
    """Which output is better? One choice per output as shown, and a way not to choose."""

    key: str
    label: str
    output_label: str
    none_label: str


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A worked example: what is seen, what is said, and what a careful annotator would answer and why."""

    scene: str
    question: str
    answer: str
    explanation: str
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True)
class Instructions:
    """What the annotator reads first. Plain sentences; the template does the markup."""

    summary: str
    steps: tuple[str, ...]
    notes: tuple[str, ...] = ()
    examples: tuple[WorkedExample, ...] = ()


@dataclass(frozen=True, slots=True)
class Definition:
    """A survey type.

    Every item brings `outputs_per_item` outputs, each said by another system; `reference_system` names the one
    that is the reference (the ground truth), if the protocol has one. `headline` is the criterion whose mean is
    the study's main number.
    """

    key: str
    name: str
    version: int
    title: str
    question_label: str
    output_label: str
    outputs_per_item: int
    criteria: tuple[Criterion, ...]
    headline: str
    instructions: Instructions
    reference_system: str = ""
    answer: AnswerQuestion | None = None
    preference: Preference | None = None
    items_per_hit: int = 5

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise DefinitionError(f"Survey type {self.key!r}: {problem}")

    def _problems(self) -> Iterator[str]:
        keys = [criterion.key for criterion in self.criteria]
        if self.preference:
            keys.append(self.preference.key)
        if self.answer:
            keys.append("answer")
        for key in keys:
            if keys.count(key) > 1:
                yield f"two questions are called {key!r}."
        if self.headline not in [criterion.key for criterion in self.criteria]:
            yield f"the headline {self.headline!r} is not one of its criteria."
        if self.preference and self.outputs_per_item < 2:
            yield "a preference needs at least two outputs to compare."
        for criterion in self.criteria:
            if len(set(criterion.values)) < len(criterion.values):
                yield f"criterion {criterion.key!r} lists a value twice."
            if criterion.exclusive and criterion.exclusive not in criterion.values:
                yield f"criterion {criterion.key!r} has no choice {criterion.exclusive!r} to be exclusive."
            if not criterion.is_checklist and any(choice.score is None for choice in criterion.choices):
                yield f"criterion {criterion.key!r} has choices without a score."
            if criterion.is_checklist and criterion.key == self.headline:
                yield f"the headline {criterion.key!r} is a checklist, which has no mean."
            if not criterion.per_output and criterion.key == self.headline:
                yield f"the headline {criterion.key!r} is about the item, so it can't compare systems."

    @property
    def output_criteria(self) -> tuple[Criterion, ...]:
        return tuple(criterion for criterion in self.criteria if criterion.per_output)

    @property
    def item_criteria(self) -> tuple[Criterion, ...]:
        return tuple(criterion for criterion in self.criteria if not criterion.per_output)

    def criterion(self, key: str) -> Criterion:
        """Return the criterion called `key`; KeyError if there is none."""
        return {criterion.key: criterion for criterion in self.criteria}[key]

    def to_snapshot(self) -> dict[str, Any]:
        """Return plain JSON data that `from_snapshot` rebuilds this very definition from."""
        return asdict(self)

    @classmethod
    def from_snapshot(cls, data: dict[str, Any]) -> Self:
        """Rebuild the definition a batch was published with, whatever the code says today."""
        return cls(
            **{
                **data,
                "criteria": tuple(
                    Criterion(**{**criterion, "choices": _choices(criterion["choices"])})
                    for criterion in data["criteria"]
                ),
                "instructions": Instructions(
                    summary=data["instructions"]["summary"],
                    steps=tuple(data["instructions"]["steps"]),
                    notes=tuple(data["instructions"]["notes"]),
                    examples=tuple(WorkedExample(**e) for e in data["instructions"]["examples"]),
                ),
                "answer": data["answer"]
                and AnswerQuestion(**{**data["answer"], "choices": _choices(data["answer"]["choices"])}),
                "preference": data["preference"] and Preference(**data["preference"]),
            }
        )


def _choices(data: list[dict[str, Any]]) -> tuple[Choice, ...]:
    return tuple(Choice(**choice) for choice in data)
