"""What a QuestionForm says, as values: overviews and questions in their order."""

from dataclasses import dataclass

from django.utils.safestring import SafeString

LONGEST_TEXT = (
    100_000  # characters of one answer where the form sets no limit; all answers have 2 MB together
)
MOST_LINES = 30


@dataclass(frozen=True, kw_only=True)
class Block:
    """A piece of content. `kind` is title, text, list, markup, image, audio or video; sizes are in pixels."""

    kind: str
    text: str = ""
    items: tuple[str, ...] = ()
    markup: SafeString | None = None
    url: str = ""
    width: str = ""
    height: str = ""


@dataclass(frozen=True, kw_only=True)
class Overview:
    content: tuple[Block, ...]


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A regular expression that has to be found in the text; `message` is for the worker."""

    regex: str
    ignore_case: bool
    message: str


@dataclass(frozen=True, kw_only=True)
class TextAnswer:
    """A text field. Numbers are bounds of the value, lengths of characters; `lines` is its height."""

    default: str = ""
    lines: int = 1
    is_numeric: bool = False
    lowest: int | None = None
    highest: int | None = None
    shortest: int = 0
    longest: int = LONGEST_TEXT
    patterns: tuple[Pattern, ...] = ()

    @property
    def shown_lines(self) -> int:
        return min(self.lines, MOST_LINES)


@dataclass(frozen=True, kw_only=True)
class Choice:
    identifier: str
    label: Block


@dataclass(frozen=True, kw_only=True)
class ChoiceAnswer:
    """A multiple-choice field; `fewest` and `most` bound how many choices an answer has."""

    style: str
    fewest: int
    most: int
    choices: tuple[Choice, ...]
    other: TextAnswer | None = None

    @property
    def has_plain_labels(self) -> bool:
        return all(choice.label.kind == "text" for choice in self.choices)


@dataclass(frozen=True, kw_only=True)
class Question:
    identifier: str
    name: str
    is_required: bool
    content: tuple[Block, ...]
    answer: TextAnswer | ChoiceAnswer


@dataclass(frozen=True)
class QuestionForm:
    parts: tuple[Overview | Question, ...]

    @property
    def questions(self) -> list[Question]:
        return [part for part in self.parts if isinstance(part, Question)]
