"""AnswerKey documents: what each combination of choices scores, and what a sum of scores is worth."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from marketplace.questions import documents
from marketplace.questions.documents import BadForm, Element, child, children, line_of, text
from marketplace.questions.question_forms import ChoiceAnswer, QuestionForm

NAMESPACES = (f"{documents.SCHEMAS}/2005-10-01/AnswerKey.xsd",)
LOWEST, HIGHEST = Decimal(-(2**31)), Decimal(2**31 - 1)  # a value is a 32-bit integer (service model)
Chosen = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Marked:
    """One question: the score of each exact set of choices, and of every other answer."""

    identifier: str
    scores: dict[frozenset[str], int]
    default: int


@dataclass(frozen=True)
class Percentage:
    maximum: int

    def value(self, total: int) -> int:
        return _rounded(Decimal(total) * 100 / self.maximum)


@dataclass(frozen=True)
class Scale:
    multiplier: Decimal

    def value(self, total: int) -> int:
        return _rounded(total * self.multiplier)


@dataclass(frozen=True)
class Ranges:
    """(lowest, highest, value) with both ends included; the first that fits counts."""

    rows: tuple[tuple[int, int, int], ...]
    otherwise: int

    def value(self, total: int) -> int:
        return next((value for low, high, value in self.rows if low <= total <= high), self.otherwise)


@dataclass(frozen=True)
class AnswerKey:
    questions: tuple[Marked, ...]
    mapping: Percentage | Scale | Ranges

    def value(self, chosen: Chosen) -> int:
        """Return what answers are worth; `chosen` has the identifiers selected, by question."""
        total = sum(
            row.scores.get(chosen.get(row.identifier, frozenset()), row.default) for row in self.questions
        )
        return self.mapping.value(total)


def _rounded(value: Decimal) -> int:
    """Return the nearest value there can be."""
    return int(max(LOWEST, min(HIGHEST, value)).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def read(document: str, *, test: QuestionForm) -> AnswerKey:
    """Read the key of a test. Raises BadQuestion when it is no XML, BadForm when it breaks a rule."""
    root = documents.tree(document)
    documents.check(root, file="answer_key.xsd", namespaces=NAMESPACES)
    _check_test(root, test=test)
    rows = children(root, "Question")
    _check_identifiers(rows, test=test)
    mapping = child(root, "QualificationValueMapping")
    return AnswerKey(
        questions=tuple(_marked(row) for row in rows),
        mapping=Scale(Decimal(1)) if mapping is None else _mapping(mapping[0]),
    )


def _check_test(root: Element, *, test: QuestionForm) -> None:
    """A key cannot match text (API reference, QuestionForm)."""
    for question in test.questions:
        if not isinstance(question.answer, ChoiceAnswer) or question.answer.other is not None:
            problem = f'The question "{question.identifier}" takes text, which no AnswerKey can mark.'
            raise BadForm(problem, line=line_of(root))


def _check_identifiers(rows: list[Element], *, test: QuestionForm) -> None:
    known = {
        question.identifier: {choice.identifier for choice in question.answer.choices}
        for question in test.questions
        if isinstance(question.answer, ChoiceAnswer)
    }
    for row in rows:
        name = text(row, "QuestionIdentifier")
        if name not in known:
            raise BadForm(f'The Test has no question "{name}", or it is marked twice.', line=line_of(row))
        named = {choice for _, choices in _options(row) for choice in choices}
        if strange := named - known.pop(name):
            raise BadForm(f'The question "{name}" has no selection "{min(strange)}".', line=line_of(row))


def _options(row: Element) -> list[tuple[int, frozenset[str]]]:
    return [
        (
            int(text(option, "AnswerScore")),
            frozenset((name.text or "").strip() for name in children(option, "SelectionIdentifier")),
        )
        for option in children(row, "AnswerOption")
    ]


def _marked(row: Element) -> Marked:
    scores = {chosen: score for score, chosen in reversed(_options(row))}
    return Marked(text(row, "QuestionIdentifier"), scores, int(text(row, "DefaultScore", "0")))


def _mapping(element: Element) -> Percentage | Scale | Ranges:
    if maximum := text(element, "MaximumSummedScore"):
        return Percentage(int(maximum))
    if multiplier := text(element, "SummedScoreMultiplier"):
        return Scale(Decimal(multiplier))
    rows = tuple(_range(row) for row in children(element, "SummedScoreRange"))
    return Ranges(rows, int(text(element, "OutOfRangeQualificationValue")))


def _range(row: Element) -> tuple[int, int, int]:
    names = ("InclusiveLowerBound", "InclusiveUpperBound", "QualificationValue")
    low, high, value = (int(text(row, name)) for name in names)
    return low, high, value
