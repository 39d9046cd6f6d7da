"""A QuestionForm: what it says, as values, and how it is read. Every problem is a BadForm that names the line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import regex
from django.utils.safestring import SafeString
from lxml import etree

from marketplace.questions import documents, markup
from marketplace.questions.documents import BadForm, Element, child, children, line_of, text

# Characters of one answer where the form sets no limit; all answers have 2 MB together.
LONGEST_TEXT = 100_000
MOST_LINES = 30
# Both are taken (API reference, Data Structure Schema Locations).
NAMESPACES = tuple(f"{documents.SCHEMAS}/{date}/QuestionForm.xsd" for date in ("2017-11-06", "2005-10-01"))
ENDED = frozenset({"FileUploadAnswer", "Application"})
# These "allow multiple selections, but can be restricted" (API reference, QuestionForm); the default of
# MaxSelectionCount, 1, is for the others. Requesters' forms rely on it.
FOR_SEVERAL = frozenset({"checkbox", "list", "multichooser"})
COUNT = re.compile(r"\{(\d+)(?:,\d*)?\}", re.ASCII)
MOST_REPEATS = 100_000
WRONG_FORM = "This answer does not have the form that is asked for."


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


def read(document: str) -> QuestionForm:
    """Read a QuestionForm. Raises BadQuestion when it is no XML, BadForm when it breaks a rule."""
    root = documents.tree(document)
    _refuse_ended(root)
    documents.check(root, file="question_form.xsd", namespaces=NAMESPACES)
    form = QuestionForm(tuple(_part(element) for element in root))
    names = [(text(element, "QuestionIdentifier"), element) for element in children(root, "Question")]
    _refuse_repeated(names, what="QuestionIdentifier")
    return form


def _refuse_ended(root: Element) -> None:
    """MTurk itself stopped taking these in December 2017 (API reference, QuestionForm)."""
    for element in root.iter("{*}*"):
        name = etree.QName(element).localname
        if name in ENDED:
            raise BadForm(f"{name} is not supported, as on MTurk since December 2017.", line=line_of(element))


def _refuse_repeated(named: Iterable[tuple[str, Element]], *, what: str) -> None:
    seen = set()
    for name, element in named:
        if name in seen:
            raise BadForm(f'The {what} "{name}" is used twice.', line=line_of(element))
        seen.add(name)


def _part(element: Element) -> Overview | Question:
    if etree.QName(element).localname == "Overview":
        return Overview(content=_content(element))
    (content,), (specification,) = (
        children(element, name) for name in ("QuestionContent", "AnswerSpecification")
    )
    return Question(
        identifier=text(element, "QuestionIdentifier"),
        name=text(element, "DisplayName"),
        is_required=_is_true(text(element, "IsRequired")),
        content=_content(content),
        answer=_answer(specification[0]),
    )


def _is_true(written: str) -> bool:
    return written in {"true", "1"}


def _content(element: Element) -> tuple[Block, ...]:
    return tuple(_block(piece) for piece in element)


def _block(element: Element) -> Block:
    name, written = etree.QName(element).localname, (element.text or "").strip()
    if name == "FormattedContent":
        return Block(kind="markup", markup=markup.html(written, line=line_of(element)))
    if name == "List":
        return Block(kind="list", items=tuple((item.text or "").strip() for item in element))
    if name in {"Binary", "EmbeddedBinary"}:
        return _medium(element)
    return Block(kind="title" if name == "Title" else "text", text=written)


def _medium(element: Element) -> Block:
    return Block(
        kind=text(element[0], "Type"),
        url=text(element, "DataURL"),
        text=text(element, "AltText"),
        width=_pixels(text(element, "Width")),
        height=_pixels(text(element, "Height")),
    )


def _pixels(written: str) -> str:
    return written if written.isascii() and written.isdigit() and len(written) < 5 else ""


def _answer(element: Element) -> TextAnswer | ChoiceAnswer:
    is_text = etree.QName(element).localname == "FreeTextAnswer"
    return _text_answer(element) if is_text else _choice_answer(element)


def _text_answer(element: Element) -> TextAnswer:
    (limits,) = children(element, "Constraints") or [element]
    number, length = child(limits, "IsNumeric"), child(limits, "Length")
    answer = TextAnswer(
        default=text(element, "DefaultText"),
        lines=int(text(element, "NumberOfLinesSuggestion", "1")),
        is_numeric=number is not None,
        lowest=_whole(number, "minValue"),
        highest=_whole(number, "maxValue"),
        shortest=_whole(length, "minLength") or 0,
        longest=min(_whole(length, "maxLength") or LONGEST_TEXT, LONGEST_TEXT),
        patterns=tuple(_pattern(row) for row in children(limits, "AnswerFormatRegex")),
    )
    _check_bounds(answer, line=line_of(element))
    return answer


def _whole(element: Element | None, attribute: str) -> int | None:
    written = None if element is None else element.get(attribute)
    return None if written is None else int(written)


def _check_bounds(answer: TextAnswer, *, line: int) -> None:
    if answer.shortest > answer.longest:
        raise BadForm("minLength is more than the longest answer there can be.", line=line)
    if answer.lowest is not None and answer.highest is not None and answer.lowest > answer.highest:
        raise BadForm("minValue is more than maxValue.", line=line)


def _pattern(element: Element) -> Pattern:
    written = element.get("regex", "")
    if _repeats_too_often(written):
        raise BadForm("The regex repeats too much, too often.", line=line_of(element))
    try:
        regex.compile(written)
    except (regex.error, RecursionError, OverflowError) as error:
        raise BadForm(
            f"The regex {written[:100]!r} cannot be read: {error}.", line=line_of(element)
        ) from error
    return Pattern(
        regex=written,
        ignore_case=element.get("flags") == "i",
        message=element.get("errorText") or WRONG_FORM,
    )


def _repeats_too_often(pattern: str) -> bool:
    """Repetitions that must be there are written out when a pattern is compiled, and nested ones multiply."""
    product = 1
    for count in COUNT.findall(pattern):
        product *= int(count.lstrip("0")[:7] or "1")
        if product > MOST_REPEATS:
            return True
    return False


def _choice_answer(element: Element) -> ChoiceAnswer:
    (selections,) = children(element, "Selections")
    rows, other = children(selections, "Selection"), child(selections, "OtherSelection")
    _refuse_repeated([(text(row, "SelectionIdentifier"), row) for row in rows], what="SelectionIdentifier")
    style = text(element, "StyleSuggestion")
    answer = ChoiceAnswer(
        style=style,
        fewest=int(text(element, "MinSelectionCount", "1")),
        most=int(text(element, "MaxSelectionCount", str(len(rows) if style in FOR_SEVERAL else 1))),
        choices=tuple(
            Choice(identifier=text(row, "SelectionIdentifier"), label=_block(row[1])) for row in rows
        ),
        other=None if other is None else _text_answer(other),
    )
    _check_counts(answer, line=line_of(element))
    return answer


def _check_counts(answer: ChoiceAnswer, *, line: int) -> None:
    number = len(answer.choices)
    if answer.most > number:
        raise BadForm(f"MaxSelectionCount is {answer.most}, but there are {number} selections.", line=line)
    if answer.fewest > answer.most:
        raise BadForm("MinSelectionCount is more than MaxSelectionCount.", line=line)
