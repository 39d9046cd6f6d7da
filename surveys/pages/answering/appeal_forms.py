"""What a rejected worker types."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy

from surveys.answering.answer_copy import NOT_XML
from surveys.review import appeal_codes

NO_CODE = gettext_lazy(
    "This is no code of ours. It has 20 letters and digits, and stands in the message about your work."
)
UNREADABLE = gettext_lazy(
    "Some characters could not be kept and are taken out below. Please look at your text and send it again."
)


class PlainText(forms.CharField):
    """Text as somebody typed it, with line ends as we write them. Characters nobody can read are refused."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")

    def run_validators(self, value: str) -> None:
        if NOT_XML.search(value):
            raise ValidationError(UNREADABLE, code="unreadable")
        super().run_validators(value)


class CodeForm(forms.Form):
    """The code of a message. `code` is cleaned to the way we write it."""

    code = forms.CharField(
        max_length=200, error_messages={"required": gettext_lazy("Give the code."), "max_length": NO_CODE}
    )

    def clean_code(self) -> str:
        code = appeal_codes.read_code(self.cleaned_data["code"])
        if not code:
            raise ValidationError(NO_CODE, code="no_code")
        return code


class AppealForm(forms.Form):
    """Why the worker thinks that the rejection is wrong."""

    text = PlainText(
        max_length=appeal_codes.TEXT_MAX,
        error_messages={
            "required": gettext_lazy("Write a few words."),
            "max_length": gettext_lazy(
                "This is %(show_value)d characters long; at most %(limit_value)d can be sent."
            ),
        },
    )

    def typed(self) -> str:
        """Return what is to be shown again: all that was typed, but for characters nobody can read."""
        return NOT_XML.sub("", self.data.get("text", "")) if self.is_bound else ""
