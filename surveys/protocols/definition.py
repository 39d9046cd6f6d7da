"""What every survey type declares: an answer to choose, criteria to rate, a preference, instructions."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from typing import Any, Literal, Self

import cattrs

from surveys.protocols.blocks import COLUMN, FILES, LANGUAGE, TAKEN, Block, OutputKind
from surveys.protocols.conditions import Condition, contradictions
from surveys.protocols.preferences import WAYS, By

_converter = cattrs.Converter(detailed_validation=False)


# Where in a definition: ("criteria", 2, "choices"); numbers count from 1.
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """A contradiction in a definition, and the place it is about."""

    path: Path
    sentence: str


Pictures = Literal["required", "optional", "none"]


class DefinitionError(ValueError):
    """A definition contradicts itself; the message says how first. `problems` has all of it."""

    def __init__(self, message: str, *, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


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


NUMERAL = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,6})?")


@dataclass(frozen=True, slots=True)
class Number:
    """Which numbers answer a question: between two bounds, each of which may be missing, in steps from the lower one.

    `step` 1 takes whole numbers; without one any decimal is taken. `unit` stands behind the field.
    """

    min: float | None = None
    max: float | None = None
    step: float | None = None
    unit: str = ""

    def read(self, text: str, *, say: Callable[[str], str] = str) -> str:
        """Return the number in its one spelling ("3", "-0.5"), as it is stored. ValueError says what is wanted.

        `say` puts an English text into somebody's language.
        """
        if not NUMERAL.fullmatch(text.strip()):
            raise ValueError(say("Write a number, such as 3 or 0.5."))
        number = Decimal(text.strip())
        self._check(number, say)
        plain = f"{number:f}"
        plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
        return plain if number else "0"

    @property
    def sample(self) -> str:
        """Return a number within the bounds: the lower one, or else 0 or the upper one."""
        least = self.min if self.min is not None else min(0.0, self.max or 0.0)
        return f"{_exact(least):f}"

    def _check(self, number: Decimal, say: Callable[[str], str]) -> None:
        if self.min is not None and number < _exact(self.min):
            raise ValueError(say("Write a number from %(least)s on.") % {"least": f"{self.min:.15g}"})
        if self.max is not None and number > _exact(self.max):
            raise ValueError(say("Write a number up to %(most)s.") % {"most": f"{self.max:.15g}"})
        if self.step is not None and (number - _exact(self.min or 0)) % _exact(self.step):
            if self.step == 1:
                raise ValueError(say("Write a whole number."))
            raise ValueError(say("Write a number in steps of %(step)s.") % {"step": f"{self.step:.15g}"})


def _exact(bound: float) -> Decimal:
    """Return a bound as it was written: 0.1 is a tenth."""
    return Decimal(f"{bound:.15g}")


@dataclass(frozen=True, slots=True)
class Spans:
    """What is marked in a text: places, each of a category, where there are any, and a severity, whose score it costs.

    The text is the output's or, of a question about the item, that of its block `of`. What an output leaves out is
    marked in the item's block `missing_in`. With `takes_whole` the text as a whole can be marked, without a place;
    with `takes_notes` a few words can be said of a mark. `most` is how many marks an answer holds. A slash in a
    category's label says what it is a part of: "Accuracy/Omission".
    """

    severities: tuple[Choice, ...]
    categories: tuple[Choice, ...] = ()
    of: str = ""
    missing_in: str = ""
    takes_whole: bool = False
    takes_notes: bool = False
    most: int = 50

    @property
    def columns(self) -> tuple[str, ...]:
        """Return where there is something to mark: blocks by their columns, "" for the output's text."""
        return (self.of, *([self.missing_in] if self.missing_in else []))

    def cost(self, value: str) -> float:
        """Return the sum of what the marks of a stored value cost."""
        costs = {severity.value: severity.score or 0.0 for severity in self.severities}
        return float(sum(costs[mark["severity"]] for mark in json.loads(value)))


@dataclass(frozen=True, slots=True)
class Criterion:
    """Something judged about each output (or, with `per_output=False`, about the item as a whole).

    A scale takes exactly one of its choices. A checklist (`is_checklist`) takes any number, none at all if it
    `is_optional`; `exclusive` names the choice that rules out all others (an explicit None). Text (`is_text`) has no
    choices and no score. A `number` is written, and is its own score. `spans` are marked in a text, and what they cost
    is the score, below 0. These three are required unless they are `is_optional`; what is left empty has no rating at
    all. `aliases` are other names of the key in published files. With `asked_if`
    it is asked only of who answered an earlier question in that way, and of all others there is no rating.
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
    is_optional: bool = False
    number: Number | None = None
    asked_if: Condition | None = None
    spans: Spans | None = None

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(choice.value for choice in self.choices)

    @property
    def is_scale(self) -> bool:
        return not (self.is_checklist or self.is_written)

    @property
    def is_written(self) -> bool:
        """Tell whether it is answered by writing, a text or a number, or by marking, instead of choosing."""
        return self.is_text or self.number is not None or self.spans is not None

    @property
    def has_score(self) -> bool:
        """Tell whether an answer is one value with one score, which has a mean."""
        return self.is_scale or self.number is not None or self.spans is not None

    def score(self, value: str) -> float:
        """Return the score of a `value` that has one; KeyError if it is not one of a scale's choices."""
        if self.number:
            return float(value)
        if self.spans:
            return 0.0 - self.spans.cost(value)
        return {choice.value: choice.score for choice in self.choices if choice.score is not None}[value]


def numbered(label: str, n: int) -> str:
    """Return the label of the n-th output: {n} is its number, and any other brace is a brace."""
    return label.replace("{n}", str(n))


@dataclass(frozen=True, slots=True)
class Preference:
    """Which output is better? `by` says how: one choice per output as shown, a ranking of them, or the best and the
    worst.

    Of a choice, there is a way not to choose unless `none_label` is empty. It comes last or, with `is_none_between`,
    between the two outputs. In a ranking several may share a place if it `has_ties`. Of best and worst, `worst_label`
    asks for the worst.
    """

    key: str
    label: str
    output_label: str
    none_label: str = ""
    is_none_between: bool = False
    by: By = "choice"
    has_ties: bool = False
    worst_label: str = ""


PICTURE_FILE = re.compile(r"\w[\w .()/-]{0,150}\.(?:png|jpe?g|gif|webp|svg)", re.IGNORECASE)


def is_drawing(picture: str) -> bool:
    """Tell whether a picture is an SVG drawing, written out, and not the name of a file."""
    return picture.startswith("<svg ") and picture.endswith("</svg>")


@dataclass(frozen=True, slots=True)
class Passage:
    """Something to know before the work, under a heading. `caption` says what its `picture` shows.

    A picture is an SVG drawing, written out, or the name of a file that came with the document.
    """

    title: str
    text: str
    picture: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A worked example: what is seen, what is said, and what a careful annotator would answer and why.

    `picture` shows the scene, as a passage's does. Without `verdict` the example names no answer: it must not
    anchor any.
    """

    scene: str
    question: str
    answer: str
    explanation: str
    verdict: str
    reason: str
    picture: str = ""


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
    background: tuple[Passage, ...] = ()

    @property
    def picture_files(self) -> tuple[str, ...]:
        """Return the names of the files among its pictures, each once."""
        pictures = [one.picture for one in self.background] + [one.picture for one in self.examples]
        return tuple(dict.fromkeys(name for name in pictures if name and not is_drawing(name)))

    def with_files(self, names: Mapping[str, str]) -> Self:
        """Return the same with other names of its files: {name: other name}."""
        return replace(
            self,
            background=tuple(
                replace(one, picture=names.get(one.picture, one.picture)) for one in self.background
            ),
            examples=tuple(
                replace(one, picture=names.get(one.picture, one.picture)) for one in self.examples
            ),
        )


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


# Where a text that people read stands, by names: ("criteria", "justifies", "choices", "yes", "label").
Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TranslatedText:
    """A text in another language, and the place of the one it stands for."""

    at: Place
    text: str


@dataclass(frozen=True, slots=True)
class Translation:
    """What people read of a protocol in the language `lang` (BCP 47), as far as it is translated."""

    lang: str
    texts: tuple[TranslatedText, ...]


ALL = 0  # `outputs_per_item` of a protocol that shows as many as an item has
WORDS = "words"  # in a field's metadata: {word that a document may say: the value it stands for}


@dataclass(frozen=True, slots=True)
class Definition:
    """A survey type.

    A HIT shows `outputs_per_item` outputs of an item, each said by another system, or with ALL as many as it has; an
    item brings just as many unless it `is_drawn`: then it may bring more, of which each HIT shows what its design
    draws. `reference_system` names the one that is the reference (the ground truth), if the protocol has one.
    `headline` is the criterion whose mean is the study's main number, or the preference where that is; results also
    tell the share of ratings that score `good_from` or more.

    In a sequence (`is_sequence`) an item's n+1 pictures are numbered states, and the n lines of its output stand
    between them. `blocks` are texts of the item itself.
    `output_kind`: outputs are texts, or files of a kind, named where their text would be.
    `pictures`: whether every item has one, may have one, or none has. With `skip_reasons` an annotator
    may skip an item that can't be judged. `minimum_correct` right answers of a HIT are what the protocol asks for; 0
    where nobody's work is ever rejected. Questions that lack their `question_ending` are shown with it.
    `changes` says, a sentence each for a paper's methods, what is otherwise than in the protocol's publication.
    `language` (BCP 47) is what its texts are written in; `translations` are what people read in others, of which no
    stored value and no number depends.
    """

    key: str
    name: str
    version: int
    title: str
    question_label: str
    output_label: str
    outputs_per_item: int = field(metadata={WORDS: {"all": ALL}})
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
    pictures: Pictures = "required"
    skip_reasons: tuple[Choice, ...] = ()
    quiz: tuple[QuizQuestion, ...] = ()
    question_ending: str = ""
    changes: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    language: str = "en"
    translations: tuple[Translation, ...] = ()
    is_drawn: bool = False
    output_kind: OutputKind = "text"

    def __post_init__(self) -> None:
        if problems := list(problems_of(self)):
            raise DefinitionError(f"Survey type {self.key!r}: {problems[0].sentence}", problems=problems)

    def __hash__(self) -> int:
        """Hash what tells most of them apart: a page asks a cache for its definition, and the whole of it is long."""
        return hash((self.key, self.version, self.title, self.language))

    @property
    def is_single(self) -> bool:
        """Tell whether one output is shown at a time, so that each is an item of its own."""
        return self.outputs_per_item == 1

    @property
    def item_word(self) -> str:
        """Return the one word that an item's page has for it: the one before its text, or of its output."""
        labels = (self.question_label, self.output_label if self.is_single else "")
        return next((label for label in labels if len(label.split()) == 1), "")

    @property
    def output_file_kind(self) -> str:
        """Return what files its outputs are, one of FILES; empty where they are texts."""
        return FILES.get(self.output_kind, "")

    @property
    def takes_more(self) -> bool:
        """Tell whether an item may have outputs by more systems than another, or than are shown at once."""
        return self.is_drawn or self.outputs_per_item == ALL

    @property
    def has_strengths(self) -> bool:
        """Tell whether its preferences are of any number of systems or in places, so that results rank systems."""
        return self.preference is not None and (self.takes_more or self.preference.by != "choice")

    def why_no_outputs(self, n: int) -> str:
        """Return what this survey type needs instead of items with `n` outputs; "" if it takes them."""
        way = WAYS[self.preference.by] if self.preference else None
        least = max(self.outputs_per_item, way.least_shown if way else 1)
        most = way.most_shown if way and self.outputs_per_item == ALL else None
        if n == least or (n > least and self.takes_more and n <= (most or n)):
            return ""
        if not self.takes_more:
            return f"{least}"
        return f"{least} to {most}" if most else f"{least} or more"

    @property
    def output_criteria(self) -> tuple[Criterion, ...]:
        return tuple(criterion for criterion in self.criteria if criterion.per_output)

    @property
    def item_criteria(self) -> tuple[Criterion, ...]:
        return tuple(criterion for criterion in self.criteria if not criterion.per_output)

    @property
    def has_spans(self) -> bool:
        return any(criterion.spans for criterion in self.criteria)

    def shown_question(self, question: str) -> str:
        """Return an item's question as people read it."""
        return question if question.endswith(self.question_ending) else f"{question}{self.question_ending}"

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
        """Return plain JSON data that `from_snapshot` rebuilds this very definition from, without LATER's defaults."""
        return asdict(self, dict_factory=_without_later)

    @staticmethod
    def from_snapshot(data: dict[str, Any]) -> "Definition":
        """Rebuild the definition a batch was published with, whatever the code says today: once for all pages."""
        return _structured(json.dumps(data))


@lru_cache(64)
def _structured(data: str) -> Definition:
    return _converter.structure(json.loads(data), Definition)


# Fields that came when there were batches already, with what they say of a protocol from before. Names of HITs are made
# of a snapshot's bytes, so that a draft published again after a restore finds its HITs: these are left out of it.
LATER = {
    "asked_if": None, "spans": None, "format": "plain", "language": "en", "translations": (), "is_drawn": False,
    "output_kind": "text",
    "by": "choice", "has_ties": False, "worst_label": "",
}  # fmt: skip


def _without_later(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in pairs if name not in LATER or value != LATER[name]}


MOST_NUMBER = 1_000_000_000
LEAST_STEP = 0.000001
RESERVED = {"answer", "seconds", "comment", "skip"}  # names of other fields on the HIT's form


def problems_of(definition: "Definition") -> Iterator[Problem]:
    """Yield each contradiction as a sentence; nothing if the definition holds together."""
    yield from _names(definition)
    yield from _headline(definition)
    for n, criterion in enumerate(definition.criteria, 1):
        yield from _criterion(criterion, path=("criteria", n))
        if criterion.spans:
            yield from _marked(criterion, criterion.spans, definition, path=("criteria", n, "spans"))
    yield from _conditions(definition)
    yield from _outputs(definition)
    yield from _review(definition)
    yield from _quiz(definition)
    yield from _drawings(definition.instructions)
    yield from _blocks(definition.blocks, criteria=definition.criteria)
    yield from _choices("The list of reasons to skip", definition.skip_reasons, path=("skip_reasons",))


def _names(definition: "Definition") -> Iterator[Problem]:
    """A question's name is asked for once; what is told is the later place."""
    places: dict[str, list[Path]] = {}
    for n, criterion in enumerate(definition.criteria, 1):
        for name in (criterion.key, *criterion.aliases):
            places.setdefault(name, []).append(("criteria", n, "key"))
    if definition.preference:
        places.setdefault(definition.preference.key, []).append(("preference", "key"))
    if definition.answer:
        places.setdefault("answer", []).append(("answer",))
    for name, found in places.items():
        if len(found) > 1:
            yield Problem(found[-1], f"two questions are called {name!r}.")
    for n, criterion in enumerate(definition.criteria, 1):
        if criterion.key in RESERVED and not criterion.per_output:
            yield Problem(
                ("criteria", n, "key"), f"a question about the item can't be called {criterion.key!r}."
            )


def _headline(definition: "Definition") -> Iterator[Problem]:
    headline = {criterion.key: criterion for criterion in definition.criteria}.get(definition.headline)
    path = ("headline",)
    if definition.preference and definition.headline == definition.preference.key:
        return
    if headline is None:
        yield Problem(path, f"the headline {definition.headline!r} is not one of its criteria.")
    elif headline.number:
        yield Problem(path, f"the headline {headline.key!r} is a number, of which more is not better.")
    elif not (headline.is_scale or headline.spans):
        kind = "checklist" if headline.is_checklist else "text"
        yield Problem(path, f"the headline {headline.key!r} is a {kind}, which has no mean.")
    elif not headline.per_output:
        yield Problem(path, f"the headline {headline.key!r} is about the item, so it can't compare systems.")
    elif headline.asked_if:
        yield Problem(path, f"the headline {headline.key!r} is not asked about every output.")


def _criterion(criterion: "Criterion", *, path: Path) -> Iterator[Problem]:
    name = f"criterion {criterion.key!r}"
    yield from _choices(name, criterion.choices, path=(*path, "choices"))
    yield from _kind(name, criterion, path=path)
    if criterion.number:
        yield from _number(criterion.number, path=(*path, "number"))
    if criterion.is_optional and criterion.is_scale:
        yield Problem((*path, "is_optional"), f"{name} is a scale, which can't stay empty.")
    if criterion.exclusive and not (criterion.is_checklist and criterion.exclusive in criterion.values):
        yield Problem((*path, "exclusive"), f"{name} has no choice {criterion.exclusive!r} to be exclusive.")
    if criterion.is_scale and any(choice.score is None for choice in criterion.choices):
        yield Problem((*path, "choices"), f"{name} has choices without a score.")


def _kind(name: str, criterion: "Criterion", *, path: Path) -> Iterator[Problem]:
    """A question is of one kind: a text and a number are written, all others have choices."""
    if criterion.is_checklist and criterion.is_text:
        yield Problem(path, f"{name} can't be a checklist and a text.")
    if criterion.number and (criterion.is_checklist or criterion.is_text):
        yield Problem((*path, "number"), f"{name} can't be a number and something else.")
    if criterion.spans and (criterion.is_checklist or criterion.is_text or criterion.number):
        yield Problem((*path, "spans"), f"{name} can't be marked spans and something else.")
    written = "text" if criterion.is_text else "number" if criterion.number else ""
    kind = f"is a {written}" if written else "is marked spans" if criterion.spans else ""
    if bool(kind) == bool(criterion.choices):
        yield Problem(path, f"{name} {kind} and has choices." if kind else f"{name} has no choices.")


def _conditions(definition: "Definition") -> Iterator[Problem]:
    answer = definition.answer
    answers = [choice.value for choice in answer.choices] if answer else None
    for n, key, sentence in contradictions(definition.criteria, answers=answers):
        name = f"criterion {definition.criteria[n - 1].key!r}"
        yield Problem(("criteria", n, "asked_if", key), f"{name}, asked_if, {key}: {sentence}")


def _number(number: "Number", *, path: Path) -> Iterator[Problem]:
    for name in ("min", "max", "step"):
        bound = getattr(number, name)
        if bound is not None and not (isfinite(bound) and abs(bound) < MOST_NUMBER):
            yield Problem((*path, name), f"a number here is less than {MOST_NUMBER:,}.")
            return
    if number.min is not None and number.max is not None and number.min >= number.max:
        yield Problem(path, f"no number is from {number.min:g} to {number.max:g}.")
    if number.step is not None and number.step < LEAST_STEP:
        yield Problem((*path, "step"), f"the least step is {LEAST_STEP:f}.")


MOST_MARKS = 500


def _marked(
    criterion: "Criterion", spans: "Spans", definition: "Definition", *, path: Path
) -> Iterator[Problem]:
    name = f"criterion {criterion.key!r}"
    yield from _choices(f"{name}, severities", spans.severities, path=(*path, "severities"))
    yield from _choices(f"{name}, categories", spans.categories, path=(*path, "categories"))
    if not spans.severities:
        yield Problem((*path, "severities"), f"{name} has no severities; without degrees it has one.")
    if any(one.score is None or not 0 <= one.score < MOST_NUMBER for one in spans.severities):
        yield Problem(
            (*path, "severities"), f"{name} needs of every severity what it costs, a score from 0 on."
        )
    if any(one.score is not None for one in spans.categories):
        yield Problem(
            (*path, "categories"), f"{name} has a category with a score; what costs is the severity."
        )
    if not 1 <= spans.most <= MOST_MARKS:
        yield Problem((*path, "most"), f"an answer holds 1 to {MOST_MARKS} marks.")
    yield from _marked_texts(criterion, spans, definition, path=path)


def _marked_texts(
    criterion: "Criterion", spans: "Spans", definition: "Definition", *, path: Path
) -> Iterator[Problem]:
    """A text is shown once, so that one question alone can mark it; what is left out is marked in a copy."""
    name = f"criterion {criterion.key!r}"
    texts = [block.column for block in definition.blocks if block.kind == "text" and not block.is_markdown]
    if criterion.per_output and spans.of:
        yield Problem((*path, "of"), f"{name} marks the output's text, and no block.")
    if not criterion.per_output and not spans.of:
        yield Problem(path, f"{name} is about the item: which block is marked? Name it under “of”.")
    if criterion.per_output and definition.is_sequence:
        yield Problem(path, f"{name} can't mark a sequence, whose lines stand between its states.")
    if criterion.per_output and definition.output_file_kind:
        yield Problem(path, f"{name} can't mark an output that is a file.")
    for key in ("of", "missing_in"):
        if (column := getattr(spans, key)) and column not in texts:
            yield Problem((*path, key), f"{name} marks {column!r}, which is no block of plain text.")
    same = [one for one in definition.criteria if one.spans and one.per_output == criterion.per_output]
    if next(one for one in same if one.spans and one.spans.of == spans.of) is not criterion:
        yield Problem(path, f"{name} marks a text that another question marks.")


def _choices(name: str, choices: "Sequence[Choice]", *, path: Path) -> Iterator[Problem]:
    values = [choice.value for choice in choices]
    if len(set(values)) < len(values):
        yield Problem(path, f"{name} lists a value twice.")


def _drawings(instructions: "Instructions") -> Iterator[Problem]:
    for name in ("background", "examples"):
        for n, one in enumerate(getattr(instructions, name), 1):
            if one.picture and not (is_drawing(one.picture) or PICTURE_FILE.fullmatch(one.picture)):
                sentence = "a picture here is a drawing, <svg ...</svg>, or a file such as boat.jpg."
                yield Problem(("instructions", name, n, "picture"), sentence)


def _outputs(definition: "Definition") -> Iterator[Problem]:
    path = ("outputs_per_item",)
    if definition.outputs_per_item < ALL:
        yield Problem(path, "an item without outputs leaves nothing to judge.")
    if definition.is_drawn and definition.outputs_per_item < 2:
        yield Problem(("is_drawn",), "outputs are drawn where an item shows several of them, but not all.")
    if definition.preference and definition.is_single:
        yield Problem(path, "a preference needs at least two outputs to compare.")
    if definition.preference:
        yield from _preference(definition.preference, n_shown=definition.outputs_per_item)
    if definition.preference and definition.preference.is_none_between and definition.outputs_per_item != 2:
        yield Problem(("preference", "is_none_between"), "only two outputs have a between.")
    if definition.is_sequence and definition.outputs_per_item != 1:
        yield Problem(path, "a sequence shows one output between its states.")
    if definition.is_sequence and definition.output_file_kind:
        yield Problem(("output_kind",), "the output of a sequence is texts, which stand between its states.")
    if definition.is_sequence and definition.pictures != "required":
        yield Problem(("pictures",), "a sequence is made of pictures.")


def _preference(preference: "Preference", *, n_shown: int) -> Iterator[Problem]:
    way, path = WAYS[preference.by], ("preference",)
    if n_shown > 1 and not way.least_shown <= n_shown <= way.most_shown:
        sentence = f"it is of {way.least_shown} to {way.most_shown} outputs, not of {n_shown}."
        yield Problem((*path, "by"), sentence)
    if preference.by != "choice" and (preference.none_label or preference.is_none_between):
        yield Problem((*path, "none_label"), "only a choice can be of none.")
    if preference.has_ties and preference.by != "ranking":
        yield Problem((*path, "has_ties"), "only in a ranking several share a place.")
    if bool(preference.worst_label) != (preference.by == "best_worst"):
        yield Problem(
            (*path, "worst_label"), "the worst is asked for where it is by best_worst, and there alone."
        )


def _review(definition: "Definition") -> Iterator[Problem]:
    path, n, most = ("minimum_correct",), definition.minimum_correct, definition.items_per_hit
    if n and definition.answer is None:
        yield Problem(
            path, "its review policy counts right answers, but it asks for no answer that has a gold one."
        )
    if not 0 <= n <= most:
        yield Problem(path, f"nobody can have {n} of {most} answers right.")


def _blocks(blocks: "Sequence[Block]", *, criteria: "Sequence[Criterion]") -> Iterator[Problem]:
    rated = {name for criterion in criteria for name in (criterion.key, *criterion.aliases)}
    columns = [block.column for block in blocks]
    for n, block in enumerate(blocks, 1):
        if not COLUMN.fullmatch(block.column):
            sentence = f"{block.column!r} is no name of a column: letters, digits and _, a letter first."
            yield Problem(("blocks", n, "column"), sentence)
        if TAKEN.fullmatch(block.column) or block.column in rated:
            sentence = f"{block.column!r} has a meaning of its own in files with items; give the column another name."
            yield Problem(("blocks", n, "column"), sentence)
        if block.column in columns[: n - 1]:
            yield Problem(("blocks", n, "column"), f"two blocks show the column {block.column!r}.")
        if block.lang and not LANGUAGE.fullmatch(block.lang):
            yield Problem(("blocks", n, "lang"), f"{block.lang!r} is no language, such as en or pt-BR.")
        if block.is_markdown and block.kind != "text":
            yield Problem(("blocks", n, "format"), "only a text can be Markdown.")
        if block.is_beside and n == 1:
            yield Problem(("blocks", n, "is_beside"), "the first block has none before it.")


def _quiz(definition: "Definition") -> Iterator[Problem]:
    for n, question in enumerate(definition.quiz, 1):
        path = ("quiz", n)
        yield from _choices(f"quiz question {n}", question.choices, path=(*path, "choices"))
        if question.answer not in [choice.value for choice in question.choices]:
            yield Problem(
                (*path, "answer"), f"the right answer of quiz question {n} is not one of its choices."
            )
