"""What every survey type declares: an answer to choose, criteria to rate, a preference, instructions."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import cattrs

_converter = cattrs.Converter(detailed_validation=False)


class DefinitionError(ValueError):
    """A definition contradicts itself; the message says how."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a question: the stored value, the label people read, and its score or None.

    `description` is the level's rubric, shown beside the label all the time.
    """

    value: str
    label: str
    score: float | None = None
    description: str = ""


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

    A scale takes exactly one of its choices. A checklist (`is_checklist`) takes any number; `exclusive` names the
    choice that rules out all others (an explicit None). Text (`is_text`) has no choices: a sentence is required,
    and it has no score. `aliases` are other names of the key in published files.
    """

    key: str
    label: str
    choices: tuple[Choice, ...] = ()
    help: str = ""
    per_output: bool = True
    is_checklist: bool = False
    exclusive: str = ""
    is_text: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(choice.value for choice in self.choices)

    @property
    def is_scale(self) -> bool:
        return not (self.is_checklist or self.is_text)

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
    """What the annotator reads first. Plain sentences; the template does the markup.

    `reminder` is the one sentence that stays in view beside every item.
    """

    summary: str
    steps: tuple[str, ...]
    notes: tuple[str, ...] = ()
    examples: tuple[WorkedExample, ...] = ()
    reminder: str = ""


@dataclass(frozen=True, slots=True)
class QuizQuestion:
    """One question of the quiz before the work. `answer` is the value of the right choice; it stays on the server.

    `feedback` says why, once it is answered.
    """

    scene: str
    question: str
    choices: tuple[Choice, ...]
    answer: str
    feedback: str


@dataclass(frozen=True, slots=True)
class Definition:
    """A survey type.

    Every item brings `outputs_per_item` outputs, each said by another system; `reference_system` names the one
    that is the reference (the ground truth), if the protocol has one. `headline` is the criterion whose mean is
    the study's main number; results also tell the share of ratings that score `good_from` or more.

    In a sequence (`is_sequence`) an item's n+1 pictures are numbered states, and the n lines of its output stand
    between them. With `skip_reasons` an annotator may skip an item that can't be judged. `minimum_correct` right
    answers of a HIT are what the protocol asks for; 0 where nobody's work is ever rejected.
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
    minimum_correct: int = 0
    good_from: float | None = None
    is_sequence: bool = False
    skip_reasons: tuple[Choice, ...] = ()
    quiz: tuple[QuizQuestion, ...] = ()

    def __post_init__(self) -> None:
        for problem in problems_of(self):
            raise DefinitionError(f"Survey type {self.key!r}: {problem}")

    @property
    def output_criteria(self) -> tuple[Criterion, ...]:
        return tuple(criterion for criterion in self.criteria if criterion.per_output)

    @property
    def item_criteria(self) -> tuple[Criterion, ...]:
        return tuple(criterion for criterion in self.criteria if not criterion.per_output)

    def criterion(self, key: str) -> Criterion:
        """Return the criterion called `key`; KeyError if there is none."""
        return {criterion.key: criterion for criterion in self.criteria}[key]

    @property
    def review_policy(self) -> dict[str, Any]:
        """Return the review policy the protocol asks for, as a batch stores it."""
        if not self.minimum_correct:
            return {"rules": [], "reject_at": None}
        counted = {"minimum": self.minimum_correct, "out_of": self.items_per_hit}
        rule = {"kind": "minimum_correct", **counted, "rejects_alone": True}
        return {"rules": [rule], "reject_at": 2}

    def to_snapshot(self) -> dict[str, Any]:
        """Return plain JSON data that `from_snapshot` rebuilds this very definition from."""
        return asdict(self)

    @classmethod
    def from_snapshot(cls, data: dict[str, Any]) -> Self:
        """Rebuild the definition a batch was published with, whatever the code says today."""
        return _converter.structure(data, cls)


RESERVED = {"answer", "seconds", "comment", "skip"}  # names of other fields on the HIT's form


def problems_of(definition: "Definition") -> Iterator[str]:
    """Yield a sentence about each contradiction; nothing if the definition holds together."""
    yield from _names(definition)
    yield from _headline(definition)
    for criterion in definition.criteria:
        yield from _criterion(criterion)
    yield from _outputs(definition)
    yield from _review(definition)
    yield from _quiz(definition)
    yield from _choices("The list of reasons to skip", definition.skip_reasons)


def _names(definition: "Definition") -> Iterator[str]:
    names = [name for criterion in definition.criteria for name in (criterion.key, *criterion.aliases)]
    names += [definition.preference.key] if definition.preference else []
    names += ["answer"] if definition.answer else []
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"two questions are called {name!r}."
    for criterion in definition.item_criteria:
        if criterion.key in RESERVED:
            yield f"a question about the item can't be called {criterion.key!r}."


def _headline(definition: "Definition") -> Iterator[str]:
    headline = {criterion.key: criterion for criterion in definition.criteria}.get(definition.headline)
    if headline is None:
        yield f"the headline {definition.headline!r} is not one of its criteria."
    elif not headline.is_scale:
        kind = "checklist" if headline.is_checklist else "text"
        yield f"the headline {headline.key!r} is a {kind}, which has no mean."
    elif not headline.per_output:
        yield f"the headline {headline.key!r} is about the item, so it can't compare systems."


def _criterion(criterion: "Criterion") -> Iterator[str]:
    name = f"criterion {criterion.key!r}"
    yield from _choices(name, criterion.choices)
    if criterion.is_checklist and criterion.is_text:
        yield f"{name} can't be a checklist and a text."
    if criterion.is_text == bool(criterion.choices):
        yield f"{name} is a text and has choices." if criterion.is_text else f"{name} has no choices."
    if criterion.exclusive and not (criterion.is_checklist and criterion.exclusive in criterion.values):
        yield f"{name} has no choice {criterion.exclusive!r} to be exclusive."
    if criterion.is_scale and any(choice.score is None for choice in criterion.choices):
        yield f"{name} has choices without a score."


def _choices(name: str, choices: "Sequence[Choice]") -> Iterator[str]:
    values = [choice.value for choice in choices]
    if len(set(values)) < len(values):
        yield f"{name} lists a value twice."


def _outputs(definition: "Definition") -> Iterator[str]:
    if definition.outputs_per_item < 1:
        yield "an item without outputs leaves nothing to judge."
    if definition.preference and definition.outputs_per_item < 2:
        yield "a preference needs at least two outputs to compare."
    if definition.is_sequence and definition.outputs_per_item != 1:
        yield "a sequence shows one output between its states."


def _review(definition: "Definition") -> Iterator[str]:
    if definition.minimum_correct and definition.answer is None:
        yield "its review policy counts right answers, but it asks for no answer that has a gold one."
    if not 0 <= definition.minimum_correct <= definition.items_per_hit:
        yield f"nobody can have {definition.minimum_correct} of {definition.items_per_hit} answers right."


def _quiz(definition: "Definition") -> Iterator[str]:
    for n, question in enumerate(definition.quiz, 1):
        yield from _choices(f"quiz question {n}", question.choices)
        if question.answer not in [choice.value for choice in question.choices]:
            yield f"the right answer of quiz question {n} is not one of its choices."
