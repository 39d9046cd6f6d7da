"""The two kinds of question a definition can ask: choose one, or tick what applies."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from surveys.definitions import Choice


class GroupField(forms.Field):
    """A question with choices, rendered as one group. `where` names it in the error summary ("Question 2")."""

    is_checklist = False

    def __init__(self, *, label: str, where: str, choices: Sequence[Choice], help_text: str = "") -> None:
        super().__init__(label=label, help_text=help_text)
        self.where = where
        self.choices = tuple(choices)
        self.values = {choice.value for choice in self.choices}


class OneOf(GroupField):
    """Choose exactly one; cleans to its value."""

    default_error_messages = {
        "required": "Choose one.",
        "unknown": "Choose one of the choices shown.",
    }

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value not in self.values:
            raise ValidationError(self.error_messages["unknown"], code="unknown")

    def draft(self, value: object) -> str:
        """Return `value` if it is one of the choices, else nothing."""
        return value if isinstance(value, str) and value in self.values else ""


class AnyOf(GroupField):
    """Tick one or more; cleans to a list in the order of the choices. `exclusive` rules out all others."""

    widget = forms.SelectMultiple
    is_checklist = True
    default_error_messages = {
        "required": "Tick at least one.",
        "unknown": "Tick only choices shown.",
        "exclusive": "“{label}” can't be ticked together with others.",
    }

    def __init__(self, *, exclusive: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.exclusive = exclusive

    def to_python(self, value: Any) -> list[str]:
        return list(dict.fromkeys(value or []))

    def validate(self, value: list[str]) -> None:
        super().validate(value)
        if not self.values.issuperset(value):
            raise ValidationError(self.error_messages["unknown"], code="unknown")
        if self.exclusive in value and len(value) > 1:
            raise ValidationError(self._exclusive_message(), code="exclusive")

    def clean(self, value: Any) -> list[str]:
        return self.draft(super().clean(value))

    def draft(self, value: object) -> list[str]:
        """Return what of `value` is among the choices, in their order."""
        given = value if isinstance(value, list) else []
        return [choice.value for choice in self.choices if choice.value in given]

    def _exclusive_message(self) -> str:
        label = next(choice.label for choice in self.choices if choice.value == self.exclusive)
        return self.error_messages["exclusive"].format(label=label)
