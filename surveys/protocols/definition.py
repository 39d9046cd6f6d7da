"""A survey type as a whole: what is asked, shown and read before, how work is judged; and its contradictions."""

import json
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal, Self

from surveys.protocols.blocks import COLUMN, FILES, LANGUAGE, TAKEN, Block, OutputKind
from surveys.protocols.conditions import contradictions
from surveys.protocols.criteria import (
    MOST_NUMBER,
    AnswerQuestion,
    Choice,
    Criterion,
    Path,
    Preference,
    Problem,
    Spans,
    choice_problems,
    criterion_problems,
    preference_problems,
)
from surveys.protocols.preferences import WAYS

if TYPE_CHECKING:
    from cattrs import Converter
Pictures = Literal["required", "optional", "none"]


class DefinitionError(ValueError):
    """A definition contradicts itself; the message says how first. `problems` has all of it."""

    def __init__(self, message: str, *, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


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
        return _structured(pickle.dumps(data))

    @staticmethod
    def from_json(text: str) -> "Definition":
        """Rebuild the same of a snapshot's text, which is read once as well."""
        return _read(text)


@lru_cache(64)
def _read(text: str) -> Definition:
    return Definition.from_snapshot(json.loads(text))


@lru_cache(64)
def _structured(data: bytes) -> Definition:
    """Return what data say. They are told apart by their bytes: every page asks, and JSON takes six times as long."""
    return _converter().structure(pickle.loads(data), Definition)  # noqa: S301 (ours, of a moment ago)


@cache
def _converter() -> "Converter":
    from cattrs import Converter  # 30 ms, which only batches need: commands over files do without

    return Converter(detailed_validation=False)


# Fields that came when there were batches already, with what they say of a protocol from before. Names of HITs are made
# of a snapshot's bytes, so that a draft published again after a restore finds its HITs: these are left out of it.
LATER = {
    "asked_if": None, "spans": None, "format": "plain", "language": "en", "translations": (), "is_drawn": False,
    "output_kind": "text",
    "by": "choice", "has_ties": False, "worst_label": "",
}  # fmt: skip


def _without_later(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in pairs if name not in LATER or value != LATER[name]}


# Reasons of our own why an item was not judged, where its survey type has none: a file it shows was gone, as we saw
# ourselves, or was not shown, as the annotator says (docs/adr/0025-unseen-is-unjudged.md).
FILE_GONE, FILE_UNSEEN = "file:gone", "file:unseen"
UNSEEN = {
    FILE_GONE: "A file was missing, as we saw ourselves",
    FILE_UNSEEN: "A file was not shown, the annotator says",
}


RESERVED = {"answer", "seconds", "comment", "skip"}  # names of other fields on the HIT's form


def problems_of(definition: "Definition") -> Iterator[Problem]:
    """Yield each contradiction as a sentence; nothing if the definition holds together."""
    yield from _names(definition)
    yield from _headline(definition)
    for n, criterion in enumerate(definition.criteria, 1):
        yield from criterion_problems(criterion, path=("criteria", n))
        if criterion.spans:
            yield from _marked(criterion, criterion.spans, definition, path=("criteria", n, "spans"))
    yield from _conditions(definition)
    yield from _outputs(definition)
    yield from _review(definition)
    yield from _quiz(definition)
    yield from _drawings(definition.instructions)
    yield from _blocks(definition.blocks, criteria=definition.criteria)
    yield from choice_problems("The list of reasons to skip", definition.skip_reasons, path=("skip_reasons",))
    if taken := sorted(UNSEEN.keys() & {reason.value for reason in definition.skip_reasons}):
        yield Problem(
            ("skip_reasons",), f"the reason {taken[0]!r} has a meaning of its own; give it another value."
        )


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
    for name, paths in places.items():
        if len(paths) > 1:
            yield Problem(paths[-1], f"two questions are called {name!r}.")
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


def _conditions(definition: "Definition") -> Iterator[Problem]:
    answer = definition.answer
    answers = [choice.value for choice in answer.choices] if answer else None
    for n, key, sentence in contradictions(definition.criteria, answers=answers):
        name = f"criterion {definition.criteria[n - 1].key!r}"
        yield Problem(("criteria", n, "asked_if", key), f"{name}, asked_if, {key}: {sentence}")


MOST_MARKS = 500


def _marked(
    criterion: "Criterion", spans: "Spans", definition: "Definition", *, path: Path
) -> Iterator[Problem]:
    name = f"criterion {criterion.key!r}"
    yield from choice_problems(f"{name}, severities", spans.severities, path=(*path, "severities"))
    yield from choice_problems(f"{name}, categories", spans.categories, path=(*path, "categories"))
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
        yield from preference_problems(definition.preference, n_shown=definition.outputs_per_item)
    if definition.preference and definition.preference.is_none_between and definition.outputs_per_item != 2:
        yield Problem(("preference", "is_none_between"), "only two outputs have a between.")
    if definition.is_sequence and definition.outputs_per_item != 1:
        yield Problem(path, "a sequence shows one output between its states.")
    if definition.is_sequence and definition.output_file_kind:
        yield Problem(("output_kind",), "the output of a sequence is texts, which stand between its states.")
    if definition.is_sequence and definition.pictures != "required":
        yield Problem(("pictures",), "a sequence is made of pictures.")


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
        yield from choice_problems(f"quiz question {n}", question.choices, path=(*path, "choices"))
        if question.answer not in [choice.value for choice in question.choices]:
            yield Problem(
                (*path, "answer"), f"the right answer of quiz question {n} is not one of its choices."
            )
