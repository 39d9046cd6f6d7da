"""What the form of a survey type asks, as data: which keys of its document, in which words, and what is added new.

The keys and what they hold come from the definition's dataclasses. A key that has no words here is asked under its own
name, so that what a document can say the form can too.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from itertools import chain
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from surveys.protocols.blocks import Block
from surveys.protocols.conditions import Condition
from surveys.protocols.criteria import AnswerQuestion, Choice, Criterion, Number, Preference, Spans
from surveys.protocols.definition import Definition, Instructions, Passage, QuizQuestion, WorkedExample
from surveys.protocols.documents import KEY, key_of
from surveys.protocols.trees import Tree, new_name

LINE, LONG, LINES, TICK, NUMERAL, SELECT = "line", "long", "lines", "tick", "numeral", "select"
ENTRIES, CHOICES, GROUP, CONDITION = "entries", "choices", "group", "condition"


@dataclass(frozen=True, slots=True)
class Words:
    """How a key is asked for. `is_long`: its text takes several lines; `is_more`: it is seldom wanted."""

    label: str
    help: str = ""
    is_long: bool = False
    is_more: bool = False
    names: Mapping[str, str] | None = None  # of a select's values


@dataclass(frozen=True, slots=True)
class Asked:
    """A key of a part of the document: what it holds, and how it is asked for."""

    key: str
    kind: str
    words: Words
    is_required: bool = False
    options: tuple[str, ...] = ()
    of: type | None = None  # what its entries or its group are


NAME_IN_FILES = "Small letters, digits and _. It names the column of the exported files."
WORDS: Mapping[type, Mapping[str, Words]] = {
    Definition: {
        "name": Words("Name", "For you and your colleagues."),
        KEY: Words("Short name", "Small letters, digits and hyphens. It names the type in files and addresses."),
        "version": Words("Version", "A type is never changed but followed by a higher version."),
        "title": Words("Title", "What annotators see in the list of HITs and above the page."),
        "language": Words("Language of these texts", "Such as en or pt-BR.", is_more=True),
        "pictures": Words(
            "Pictures of an item",
            names={"required": "Every item has one", "optional": "An item may have one", "none": "No pictures"},
        ),
        "question_label": Words("Word before an item’s text", "Such as Question. Empty: items have no such text."),
        "question_ending": Words("What a question ends with", "Added where it is missing, such as ?.", is_more=True),
        "blocks": Words("More about an item", "A column of your file each: texts, conversations, files."),
        "is_sequence": Words("The pictures are states, the output says what happens between", is_more=True),
        "output_kind": Words(
            "Outputs are",
            names={"text": "Texts", "pictures": "Pictures", "audio": "Recordings", "video": "Videos"},
        ),
        "outputs_per_item": Words("Outputs shown together", "1: each alone. 2: pairs. all: all of an item."),
        "is_drawn": Words("Items may have outputs of more systems; each HIT shows a draw of them"),
        "output_label": Words("What an output is called", "{n} stands for its number where there are several."),
        "reference_system": Words("System that is the reference", "As your file names it. Empty: none.", is_more=True),
        "answer": Words("A task with a right answer", "What annotators answer themselves before they rate."),
        "criteria": Words("Questions"),
        "preference": Words("Which output is better?", "Asked after all other questions."),
        "skip_reasons": Words("Reasons to skip an item", "Without any, nobody skips; with any, a HIT shows one item."),
        "instructions": Words("Instructions"),
        "quiz": Words("Quiz before the work", "Right answers are never sent to a browser."),
        "headline": Words("Main question", "The scale about the outputs whose mean is the study’s main number."),
        "good_from": Words("A score is good from", "Results tell the share of ratings from here on. Empty: not told."),
        "items_per_hit": Words("Items of a HIT"),
        "minimum_correct": Words("Right answers below which a rejection is proposed", "0: never.", is_more=True),
        "changes": Words("For a paper’s methods", "What is otherwise than published; a sentence a line.", is_more=True),
    },
    Criterion: {
        "label": Words("Question"),
        "help": Words("Help under it"),
        "choices": Words("Choices"),
        "number": Words("Which numbers"),
        "spans": Words("What is marked in the text"),
        "asked_if": Words("Ask only if"),
        "exclusive": Words("Choice that rules out the others", is_more=True),
        "is_optional": Words("May stay empty", is_more=True),
        "per_output": Words("About each output, not about the item", is_more=True),
        "key": Words("Name in files", NAME_IN_FILES, is_more=True),
    },
    Choice: {
        "label": Words("Label"),
        "description": Words("What it means"),
        "value": Words("Value in files"),
        "score": Words("Score"),
    },
    Number: {
        "min": Words("From"),
        "max": Words("To"),
        "step": Words("In steps of", "1 takes whole numbers."),
        "unit": Words("Unit"),
    },
    Spans: {
        "severities": Words("How bad a mark can be", "Its score is what a mark costs, from 0 on."),
        "categories": Words("What can be wrong", "Accuracy/Omission lists Omission under Accuracy. None: not asked."),
        "of": Words("Text that is marked", "A question about the item marks one of its columns."),
        "missing_in": Words("What is left out is marked in", "Such as the original of a translation."),
        "takes_whole": Words("The text as a whole can be marked"),
        "takes_notes": Words("A few words can be said of a mark"),
        "most": Words("Marks at most", is_more=True),
    },
    AnswerQuestion: {
        "label": Words("Question"),
        "choices": Words("Answers", "None here: each item brings its own."),
        "is_ordered": Words("Keep their order; else it is drawn"),
    },
    Preference: {
        "label": Words("Question"),
        "by": Words(
            "Answered by",
            names={"choice": "One choice", "ranking": "A ranking", "best_worst": "The best and the worst"},
        ),
        "output_label": Words("What an output is called here", "{n} stands for its number."),
        "none_label": Words("Choice for a tie", "Empty: one has to be preferred."),
        "is_none_between": Words("The tie stands between the two"),
        "has_ties": Words("Several may share a place"),
        "worst_label": Words("Question for the worst"),
        "key": Words("Name in files", NAME_IN_FILES, is_more=True),
    },
    Block: {
        "column": Words("Column of your file"),
        "label": Words("Heading above it", "May stay empty."),
        "kind": Words(
            "Shown as",
            names={
                "text": "Text", "conversation": "Conversation", "table": "Table", "pictures": "Pictures",
                "audio": "Audio", "video": "Video",
            },
        ),
        "lang": Words("Language of its texts", "Such as de; helps screen readers.", is_more=True),
        "is_beside": Words("Beside the one before, where there is room", is_more=True),
        "format": Words("Written as", names={"plain": "Plain text", "markdown": "Markdown"}, is_more=True),
    },
    Instructions: {
        "summary": Words("In one or two sentences", "Stands above everything, and in the list of HITs.", is_long=True),
        "steps": Words("Steps", "One a line."),
        "notes": Words("Good to know", "One a line."),
        "reminder": Words("Reminder", "One sentence that stays in view beside every item."),
        "examples": Words("Examples"),
        "background": Words("To read first"),
    },
    WorkedExample: {
        "scene": Words("What is seen", is_long=True),
        "question": Words("Question"),
        "answer": Words("Answer"),
        "explanation": Words("What a system said", is_long=True),
        "verdict": Words("A careful annotator’s answer", "Empty where it would be an anchor."),
        "reason": Words("Why", is_long=True),
        "picture": Words("Picture", "A drawing <svg …>, or a file that came with the type.", is_more=True),
    },
    Passage: {
        "title": Words("Heading"),
        "text": Words("Text", is_long=True),
        "picture": Words("Picture", "A drawing <svg …>, or a file that came with the type.", is_more=True),
        "caption": Words("What the picture shows", is_more=True),
    },
    QuizQuestion: {
        "scene": Words("What is seen", is_long=True),
        "question": Words("Question"),
        "choices": Words("Choices"),
        "answer": Words("Value of the right choice"),
        "feedback": Words("What is told afterwards", is_long=True),
    },
}  # fmt: skip
# What a form has no use for: kinds are chosen when a question is added, names of published files belong to the text.
LEFT_OUT = {"is_text", "is_checklist", "aliases", "translations"}


# What sentences about a document call its parts, and what the form calls them.
TERMS = {
    "headline": "main question",
    "criterion": "question",
    "criteria": "questions",
    "asked_if": "“Ask only if”",
    "best_worst": "“The best and the worst”",
}
TERM = re.compile(rf"“(?P<quoted>[^”]*)”|(?<![\w'])(?P<term>{'|'.join(TERMS)})(?![\w'])", re.IGNORECASE)


def in_words(sentence: str) -> str:
    """Return a sentence about a document in the form's own words: a key by its label, and what is quoted as it is.

    A key that several parts have under several labels stays as it is.
    """
    labels: dict[str, set[str]] = {}
    for key, words in chain.from_iterable(part.items() for part in WORDS.values()):
        labels.setdefault(key, set()).add(words.label)

    def word(match: re.Match[str]) -> str:
        if (quoted := match["quoted"]) is not None:
            known = labels.get(quoted, set())
            return f"“{next(iter(known)) if len(known) == 1 else quoted}”"
        term = TERMS[match["term"].lower()]
        return term.capitalize() if match["term"][0].isupper() else term

    return TERM.sub(word, sentence)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the form under a heading of its own, and the keys it asks for."""

    title: str
    keys: tuple[str, ...]


SECTIONS = (
    Section("Name", ("name", "title", KEY, "version", "language")),
    Section("What is shown", ("question_label", "blocks", "pictures", "output_kind", "outputs_per_item", "is_drawn",
                              "output_label", "question_ending", "is_sequence", "reference_system")),
    Section("Questions", ("answer", "criteria", "preference", "skip_reasons")),
    Section("Instructions", ("instructions",)),
    Section("Quiz", ("quiz",)),
    Section("Results and work", ("headline", "good_from", "items_per_hit", "minimum_correct", "changes")),
)  # fmt: skip


@cache
def asked_of(kind: type) -> tuple[Asked, ...]:
    """Return the keys of a part in the order they are asked for: those with words first."""
    hints = get_type_hints(kind)
    known = {
        KEY if (kind, field.name) == (Definition, "key") else key_of(field): field for field in fields(kind)
    }
    words = WORDS.get(kind, {})
    keys = [key for key in words if key in known] + [key for key in known if key not in words]
    return tuple(
        _asked(key, hints[known[key].name], words.get(key), is_required=known[key].default is MISSING)
        for key in keys
        if key not in LEFT_OUT
    )


def _asked(key: str, hint: Any, words: Words | None, *, is_required: bool) -> Asked:
    words = words or Words(key.replace("_", " ").capitalize(), is_more=True)
    if get_origin(hint) in {Union, UnionType}:
        (hint,) = (one for one in get_args(hint) if one is not NoneType)
    if get_origin(hint) is Literal:
        return Asked(key, SELECT, words, is_required, options=get_args(hint))
    if get_origin(hint) is tuple:
        (of, _) = get_args(hint)
        kind = LINES if of is str else CHOICES if of is Choice else ENTRIES
        return Asked(key, kind, words, is_required, of=None if of is str else of)
    if is_dataclass(hint):
        return Asked(key, CONDITION if hint is Condition else GROUP, words, is_required, of=hint)  # type: ignore[arg-type]
    kinds = {bool: TICK, int: NUMERAL, float: NUMERAL}
    return Asked(key, kinds.get(hint, LONG if words.is_long else LINE), words, is_required)


def default_of(kind: type, key: str) -> str:
    """Return what a key says that is not written, as a text; "" where that is nothing."""
    for field in fields(kind):
        if key_of(field) == key and isinstance(field.default, str | bool | int | float):
            return str(field.default).lower() if isinstance(field.default, bool) else str(field.default)
    return ""


SCALE: list[Tree] = [
    {"value": "1", "label": "Not at all", "score": "1"},
    {"value": "2", "label": "Partly", "score": "2"},
    {"value": "3", "label": "Completely", "score": "3"},
]
SEVERITIES: list[Tree] = [
    {"value": "minor", "label": "Minor", "score": "1", "description": "It disturbs, but is understood"},
    {"value": "major", "label": "Major", "score": "5", "description": "It misleads, or is not understood"},
]
CATEGORIES: list[Tree] = [
    {"value": "accuracy", "label": "It says something else"},
    {"value": "fluency", "label": "It reads badly"},
    {"value": "other", "label": "Something else"},
]
OPTIONS: list[Tree] = [{"value": "one", "label": "One"}, {"value": "other", "label": "Something else"}]
# What can be added, by what it is: {name: (what the button says, what is added)}.
NEW: Mapping[type, Mapping[str, tuple[str, dict[str, Tree]]]] = {
    Criterion: {
        "scale": ("Add a scale", {"key": "question", "label": "New question?", "choices": SCALE}),
        "checklist": (
            "Add a checklist",
            {"key": "question", "label": "What applies?", "is_checklist": "true", "is_optional": "true",
             "choices": OPTIONS},
        ),
        "text": ("Add a text", {"key": "question", "label": "In your words?", "is_text": "true"}),
        "number": ("Add a number", {"key": "question", "label": "How many?", "number": {"min": "0", "step": "1"}}),
        "spans": (
            "Add marking in the text",
            {"key": "errors", "label": "Mark what is wrong",
             "spans": {"severities": SEVERITIES, "categories": CATEGORIES, "takes_notes": "true"}},
        ),
    },
    Block: {"block": ("Add a column", {"column": "column", "label": ""})},
    WorkedExample: {
        "example": (
            "Add an example",
            {"scene": "", "question": "", "answer": "", "explanation": "", "verdict": "", "reason": ""},
        )
    },
    Passage: {"passage": ("Add a passage", {"title": "New heading", "text": ""})},
    QuizQuestion: {
        "question": (
            "Add a question",
            {"scene": "", "question": "New question?", "choices": OPTIONS, "answer": "one", "feedback": ""},
        )
    },
    Choice: {"choice": ("Add a choice", {"value": "choice", "label": "New choice"})},
    AnswerQuestion: {"group": ("Add it", {"label": "What is the answer?"})},
    Preference: {
        "choice": (
            "One choice",
            {"key": "preferred", "label": "Which is better?", "output_label": "Number {n}",
             "none_label": "No difference"},
        ),
        "ranking": (
            "A ranking",
            {"key": "rank", "label": "Rank them, the best first", "output_label": "Number {n}", "by": "ranking",
             "has_ties": "true"},
        ),
        "best_worst": (
            "The best and the worst",
            {"key": "best", "label": "Which is best?", "output_label": "Number {n}", "by": "best_worst",
             "worst_label": "Which is worst?"},
        ),
    },
    Number: {"group": ("Set bounds", {"min": "0"})},
}  # fmt: skip
# What is only of one way to compare: {way: its keys, with what they say at first, "" where they are left out}.
OF_WAYS: Mapping[str, Mapping[str, str]] = {
    "choice": {"none_label": "", "is_none_between": ""},
    "ranking": {"has_ties": ""},
    "best_worst": {"worst_label": "Which is worst?"},
}
NAMES = {
    Criterion: "key",
    Choice: "value",
    Block: "column",
    Preference: "key",
}  # what no two entries may share


def new_entry(of: type, what: str, *, among: Sequence[Tree], taken: Sequence[str] = ()) -> dict[str, Tree]:
    """Return a new entry with a name that none of `among` has, and no `taken` one. KeyError if there is no such."""
    entry = dict(NEW[of][what][1]) if of in NEW else {}
    if of is Choice and (following := _next_level(among)):
        return following
    if of is Choice and (score := _next_score(among)):
        entry["score"] = score
    if (key := NAMES.get(of)) and isinstance(name := entry.get(key), str):
        used = [one.get(key) for one in among if isinstance(one, dict)]
        entry[key] = new_name(name, [*used, *taken]) if name in [*used, *taken] else name
    return entry


def _next_score(among: Sequence[Tree]) -> str:
    """Return a score above those of a list whose entries all have a whole one, "" of any other list."""
    scores = [one.get("score", "") for one in among if isinstance(one, dict)]
    if not scores or not all(isinstance(score, str) and score.isdecimal() for score in scores):
        return ""
    return str(max(int(str(score)) for score in scores) + 1)


def _next_level(among: Sequence[Tree]) -> dict[str, Tree] | None:
    """Return the level that follows on those of a numbered scale, None of any other list."""
    values = [one.get("value", "") for one in among if isinstance(one, dict)]
    if not values or not all(isinstance(value, str) and value.isdecimal() for value in values):
        return None
    following = str(max(int(str(value)) for value in values) + 1)
    return {"value": following, "label": following, "score": following}
