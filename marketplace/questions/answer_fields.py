"""The two kinds of fields a QuestionForm has, and what is checked in them."""

import re
from decimal import Decimal
from typing import Any

import regex
from django import forms

from marketplace.questions import answer_documents, hints
from marketplace.questions.question_form import ChoiceAnswer, Pattern, TextAnswer

MISSING = "This question needs an answer."
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)", re.ASCII)
SECONDS_PER_PATTERN = 0.2


class TextField(forms.CharField):
    """Text as typed, its lines ended by a line feed alone."""

    def __init__(self, answer: TextAnswer, *, is_required: bool) -> None:
        super().__init__(
            strip=False, required=is_required, initial=answer.default, error_messages={"required": MISSING}
        )
        self.answer = answer

    def to_python(self, value: Any) -> str:
        return answer_documents.legal(
            (super().to_python(value) or "").replace("\r\n", "\n").replace("\r", "\n")
        )

    def validate(self, value: Any) -> None:
        super().validate(value)
        if not value:
            return
        if not self.answer.shortest <= len(value) <= self.answer.longest:
            raise forms.ValidationError(
                f"This answer has {hints.length(self.answer)}; yours has {len(value)}."
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
        raise forms.ValidationError(f"Enter {hints.number(answer)}.")


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
            raise forms.ValidationError(f"Choose {hints.count(self.answer)}; you chose {len(value)}.")

    def clean(self, value: Any) -> list[str]:
        return [self.identifiers[number] for number in super().clean(value)]
