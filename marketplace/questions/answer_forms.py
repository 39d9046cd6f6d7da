"""A QuestionForm as a Django form: its words for the worker, its fields and rows, its answers in MTurk's shape."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import regex
from django import forms
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext, gettext_lazy, ngettext

from marketplace.questions import answer_documents, documents
from marketplace.questions.question_forms import (
    LONGEST_TEXT,
    Block,
    ChoiceAnswer,
    Overview,
    Pattern,
    Question,
    QuestionForm,
    TextAnswer,
)

SELECTS = frozenset({"dropdown", "combobox", "list"})
OPEN_LISTS = frozenset({"list", "multichooser"})
MISSING = gettext_lazy("This question needs an answer.")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)", re.ASCII)
SECONDS_PER_PATTERN = 0.2
Given = list[tuple[str, str]]


def control_of(answer: ChoiceAnswer) -> str:
    """Return radio, checkbox, select or multiple: StyleSuggestion as far as counts and labels allow."""
    if answer.style in SELECTS and answer.most == 1 and answer.has_plain_labels:
        return "select"
    if answer.style in OPEN_LISTS and answer.has_plain_labels:
        return "multiple"
    return "radio" if answer.most == 1 and answer.style != "checkbox" else "checkbox"


def size_of(answer: ChoiceAnswer) -> int:
    """Return how many choices of a list show at once; 0 where it is no open list."""
    return min(len(answer.choices) + 1, 8) if answer.style in OPEN_LISTS else 0


def hint_of(answer: TextAnswer | ChoiceAnswer) -> str:
    """Return a sentence about what is asked; empty when anything goes."""
    if isinstance(answer, ChoiceAnswer):
        if control_of(answer) in {"radio", "select"}:
            return ""
        return gettext("Choose %(count)s.") % {"count": count_in_words(answer)}
    parts = [number_in_words(answer)] if answer.is_numeric else []
    if answer.shortest or answer.longest < LONGEST_TEXT:
        parts.append(length_in_words(answer))
    sentence = ", ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else ""


def count_in_words(answer: ChoiceAnswer) -> str:
    if answer.fewest == answer.most:
        return gettext("exactly %(n)d") % {"n": answer.most}
    if answer.fewest:
        return gettext("%(fewest)d to %(most)d") % {"fewest": answer.fewest, "most": answer.most}
    return gettext("up to %(n)d") % {"n": answer.most}


def length_in_words(answer: TextAnswer) -> str:
    n, least = answer.longest, answer.shortest
    if least == n:
        return ngettext("exactly %(n)d character", "exactly %(n)d characters", n) % {"n": n}
    if n == LONGEST_TEXT and least:
        return ngettext("at least %(n)d character", "at least %(n)d characters", least) % {"n": least}
    if least:
        words = ngettext("%(least)d to %(n)d character", "%(least)d to %(n)d characters", n)
        return words % {"least": least, "n": n}
    return ngettext("at most %(n)d character", "at most %(n)d characters", n) % {"n": n}


def number_in_words(answer: TextAnswer) -> str:
    if answer.lowest is not None and answer.highest is not None:
        words = gettext("a number from %(least)s to %(most)s")
        return words % {"least": answer.lowest, "most": answer.highest}
    if answer.lowest is not None:
        return gettext("a number of at least %(least)s") % {"least": answer.lowest}
    if answer.highest is None:
        return gettext("a number")
    return gettext("a number of at most %(most)s") % {"most": answer.highest}


class TextField(forms.CharField):
    """Text as typed, its lines ended by a line feed alone."""

    def __init__(self, answer: TextAnswer, *, is_required: bool) -> None:
        super().__init__(
            strip=False, required=is_required, initial=answer.default, error_messages={"required": MISSING}
        )
        self.answer = answer

    def to_python(self, value: Any) -> str:
        return documents.legal((super().to_python(value) or "").replace("\r\n", "\n").replace("\r", "\n"))

    def validate(self, value: Any) -> None:
        super().validate(value)
        if not value:
            return
        if not self.answer.shortest <= len(value) <= self.answer.longest:
            raise forms.ValidationError(
                gettext("This answer has %(length)s; yours has %(n)d.")
                % {"length": length_in_words(self.answer), "n": len(value)}
            )
        if self.answer.is_numeric:
            _check_number(value, self.answer)
        for pattern in self.answer.patterns:
            _check_pattern(value, pattern)


def _check_number(value: str, answer: TextAnswer) -> None:
    number = Decimal(value.strip()) if NUMBER.fullmatch(value.strip()) else None
    is_low = number is not None and answer.lowest is not None and number < answer.lowest
    is_high = number is not None and answer.highest is not None and number > answer.highest
    if number is None or is_low or is_high:
        raise forms.ValidationError(gettext("Enter %(number)s.") % {"number": number_in_words(answer)})


def _check_pattern(value: str, pattern: Pattern) -> None:
    flags = regex.IGNORECASE if pattern.ignore_case else 0
    try:
        found = regex.search(pattern.regex, value, flags=flags, timeout=SECONDS_PER_PATTERN)
    except TimeoutError:
        found = None
    if found is None:
        raise forms.ValidationError(pattern.message)


class ChoiceField(forms.MultipleChoiceField):
    """What was chosen, by identifier. The page has only numbers: identifiers are the requester's own notes."""

    def __init__(self, answer: ChoiceAnswer) -> None:
        self.identifiers = {str(number): row.identifier for number, row in enumerate(answer.choices, start=1)}
        choices = list(self.identifiers.items())
        super().__init__(choices=choices, required=False, widget=forms.SelectMultiple)
        self.answer = answer

    def to_python(self, value: Any) -> list[str]:
        return [chosen for chosen in dict.fromkeys(super().to_python(value)) if chosen]

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value and not self.answer.fewest <= len(value) <= self.answer.most:
            raise forms.ValidationError(
                gettext("Choose %(count)s; you chose %(n)d.")
                % {"count": count_in_words(self.answer), "n": len(value)}
            )

    def clean(self, value: Any) -> list[str]:
        return [self.identifiers[number] for number in super().clean(value)]


@dataclass(frozen=True)
class Option:
    value: str
    label: Block
    is_chosen: bool


@dataclass
class Row:
    """One question on the page; `other` is the field of its alternative text."""

    number: int
    question: Question
    field: forms.BoundField
    other: forms.BoundField | None

    @property
    def control(self) -> str:
        """Return how the question is asked: text, radio, checkbox, select or multiple."""
        answer = self.question.answer
        return "text" if isinstance(answer, TextAnswer) else control_of(answer)

    @property
    def title(self) -> str:
        return self.question.name or gettext("Question %(n)d") % {"n": self.number}

    @property
    def problems(self) -> list[str]:
        """Return what is wrong, of the field and of the alternative text."""
        fields = [self.field] if self.other is None else [self.field, self.other]
        return [str(error) for field in fields for error in field.errors]

    @property
    def first_id(self) -> str:
        """Return the id of the element to go to when something is wrong."""
        return self.field.html_name if self.field.errors or self.other is None else self.other.html_name

    @property
    def hint(self) -> str:
        return hint_of(self.question.answer)

    @property
    def described_by(self) -> str:
        """Return the ids of the hint and of what is wrong, as far as they are on the page."""
        parts = {"hint": self.hint, "errors": self.problems}
        return " ".join(f"{self.field.html_name}-{name}" for name, shown in parts.items() if shown)

    @property
    def is_marked_required(self) -> bool:
        """Tell whether the control itself must be filled in; one of several boxes, or beside a text, need not."""
        return not self.is_optional and self.other is None and self.control in {"text", "radio", "select"}

    @property
    def other_hint(self) -> str:
        answer = self.question.answer
        return hint_of(answer.other) if isinstance(answer, ChoiceAnswer) and answer.other else ""

    @property
    def is_optional(self) -> bool:
        return not is_required(self.question)

    @property
    def options(self) -> list[Option]:
        """Return the choices; none of a text field."""
        answer, chosen = self.question.answer, self.field.value() or []
        choices = answer.choices if isinstance(answer, ChoiceAnswer) else ()
        numbered = ((str(number), choice.label) for number, choice in enumerate(choices, start=1))
        return [Option(number, label, number in chosen) for number, label in numbered]

    @property
    def size(self) -> int:
        """Return how many choices of a list show at once; 0 for a list that opens."""
        answer = self.question.answer
        return size_of(answer) if isinstance(answer, ChoiceAnswer) else 0


def is_required(question: Question) -> bool:
    """A minLength makes an answer required; no selection at all can be an answer (API reference, QuestionForm)."""
    if isinstance(question.answer, TextAnswer):
        return question.is_required or question.answer.shortest > 0
    return question.is_required and question.answer.fewest > 0


class AnswerForm(forms.Form):
    """Fields q1, q2, ... and q1-other for the questions of `asked`, in their order."""

    def __init__(self, asked: QuestionForm, data: MultiValueDict[str, str] | None = None) -> None:
        super().__init__(data)
        self.asked = asked
        for number, question in enumerate(asked.questions, start=1):
            self._add(f"q{number}", question)

    def _add(self, name: str, question: Question) -> None:
        answer = question.answer
        if isinstance(answer, TextAnswer):
            self.fields[name] = TextField(answer, is_required=is_required(question))
            return
        self.fields[name] = ChoiceField(answer)
        if answer.other is not None:
            self.fields[f"{name}-other"] = TextField(answer.other, is_required=False)

    def clean(self) -> dict[str, Any]:
        """Ask for what is required: a choice, or in its place the alternative text."""
        for number, question in enumerate(self.asked.questions, start=1):
            names = {f"q{number}", f"q{number}-other"}
            is_given = any(self.cleaned_data.get(name) for name in names)
            if is_required(question) and not is_given and not names & self.errors.keys():
                self.add_error(f"q{number}", MISSING)
        return self.cleaned_data

    def parts(self) -> Iterator[Overview | Row]:
        """Yield what the page shows, in the document's order."""
        number = 0
        for part in self.asked.parts:
            if isinstance(part, Question):
                number += 1
                yield self._row(number, part)
            else:
                yield part

    def _row(self, number: int, question: Question) -> Row:
        other = f"q{number}-other"
        return Row(number, question, self[f"q{number}"], self[other] if other in self.fields else None)

    def rows(self) -> list[Row]:
        return [part for part in self.parts() if isinstance(part, Row)]

    def first_gap(self) -> str:
        """Return the name of the first field with an error; empty when there is none."""
        return next((name for name in self.fields if name in self.errors), "")

    def choices(self) -> dict[str, frozenset[str]]:
        """Return what was selected in a valid form, by QuestionIdentifier; text is left out."""
        return {
            row.question.identifier: frozenset(self.cleaned_data[row.field.name])
            for row in self.rows()
            if isinstance(row.question.answer, ChoiceAnswer)
        }

    def document(self) -> str:
        """Return the QuestionFormAnswers of a valid form: every question, the unanswered ones empty."""
        return answer_documents.written((row.question.identifier, self._given(row)) for row in self.rows())

    def _given(self, row: Row) -> Given:
        value = self.cleaned_data[row.field.name]
        if isinstance(row.question.answer, TextAnswer):
            return [("FreeText", value)]
        given = [("SelectionIdentifier", chosen) for chosen in value]
        other = self.cleaned_data.get(f"{row.field.name}-other")
        return [*given, ("OtherSelectionText", other)] if other else given
