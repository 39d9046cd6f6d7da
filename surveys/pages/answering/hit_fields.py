"""The fields of a HIT: choose one, tick what applies; and what may be wrong without stopping anybody."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, cast

from django import forms
from django.core.exceptions import ValidationError
from django.utils.formats import get_format
from django.utils.functional import cached_property
from django.utils.translation import gettext, gettext_lazy

from surveys.answering.answer_copy import NOT_XML
from surveys.answering.collection import SECONDS_MAX
from surveys.protocols.criteria import Choice, Number, Spans
from surveys.protocols.definition import FILE_UNSEEN
from surveys.protocols.languages import TextIn
from surveys.protocols.spans import MOST_WRITTEN, checked, listed

COMMENT_MAX = 2000
TEXT_MAX = 2000
NUMERAL_MAX = 24
THOUSANDS = re.compile(r"-?[1-9]\d{0,2},\d{3}")


@dataclass(frozen=True, slots=True)
class OnlyIf:
    """An earlier question of the same form, the values that ask for one more, and all that as a sentence."""

    name: str
    values: tuple[str, ...]
    sentence: str


class Asked(NamedTuple):
    """All that a question of choices shows before it is answered, but its name; `languages` are its texts'."""

    type: str
    label: str
    help_text: str
    choices: tuple[Choice, ...]
    exclusive: str
    is_optional: bool
    languages: tuple[str, ...]
    only_if: None = None


class GroupField(forms.Field):
    """A question, rendered as one group. `place` and `where` ("Explanation 1") say which it is.

    Many forms may have the same one: none of it changes, and no form writes to it.
    """

    type = "radio"
    template = "group"

    def __init__(
        self,
        *,
        label: str,
        place: int,
        choices: Sequence[Choice] = (),
        where: str = "",
        help_text: str = "",
        is_optional: bool = False,
        is_required: bool = True,
        only_if: OnlyIf | None = None,
    ) -> None:
        super().__init__(required=is_required and not is_optional, label=label, help_text=help_text)
        self.only_if = only_if
        self.place = place
        self.where = where
        self.is_optional = is_optional
        self.choices = tuple(choices)
        self.values = {choice.value for choice in self.choices}

    @cached_property
    def asked(self) -> Asked:
        said = (text for choice in self.choices for text in (choice.label, choice.description))
        texts = (self.label, self.help_text, *said)
        return Asked(
            type=self.type,
            label=cast(str, self.label),
            help_text=cast(str, self.help_text),
            choices=self.choices,
            exclusive=getattr(self, "exclusive", ""),
            is_optional=self.is_optional,
            languages=tuple(getattr(text, "language", "") for text in texts),
        )

    def draft(self, value: object) -> str | list[str]:
        """Return what of `value` could be an answer, as JSON data; empty if nothing could."""
        raise NotImplementedError


class OneOf(GroupField):
    """Choose exactly one; cleans to its value."""

    default_error_messages = {
        "required": gettext_lazy("Choose one."),
        "unknown": gettext_lazy("Choose one of the choices shown."),
    }

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value not in self.empty_values and value not in self.values:
            raise ValidationError(self.error_messages["unknown"], code="unknown")

    def draft(self, value: object) -> str:
        """Return `value` if it is one of the choices, else nothing."""
        return value if isinstance(value, str) and value in self.values else ""


class AnyOf(GroupField):
    """Tick one or more (none too if `is_optional`); cleans to a list in the order of the choices.

    `exclusive` rules out all others.
    """

    widget = forms.SelectMultiple
    type = "checkbox"
    default_error_messages = {
        "required": gettext_lazy("Tick at least one."),
        "unknown": gettext_lazy("Tick only choices shown."),
        "exclusive": gettext_lazy("“%(label)s” can’t be ticked together with others."),
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
        return self.error_messages["exclusive"] % {"label": label}


class Written(GroupField):
    """Say it in your own words; cleans to the trimmed text, without what XML can't carry."""

    type = "text"
    template = "text"
    default_error_messages = {
        "required": gettext_lazy("Write a few words."),
        "too_long": gettext_lazy("Write at most %(most)d characters."),
    }

    def to_python(self, value: Any) -> str:
        return self.draft(value).strip()

    def validate(self, value: str) -> None:
        super().validate(value)
        if len(value) > TEXT_MAX:
            raise ValidationError(self.error_messages["too_long"], "too_long", {"most": TEXT_MAX})

    def draft(self, value: object) -> str:
        """Return the text as it is being written."""
        return NOT_XML.sub("", value).replace("\r\n", "\n") if isinstance(value, str) else ""


class Numeral(GroupField):
    """Write a number; cleans to its one spelling, "3" or "0.5"."""

    type = "text"
    template = "number"
    default_error_messages = {"required": gettext_lazy("Write a number.")}

    def __init__(self, *, number: Number, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.number = number

    @property
    def sample(self) -> str:
        """Return a number that is taken."""
        return self.number.sample

    @property
    def keyboard(self) -> str:
        """Return the `inputmode`: an iPhone's keys for decimals have no minus, so all keys where one may be needed."""
        return "text" if self.number.min is None or self.number.min < 0 else "decimal"

    def to_python(self, value: Any) -> str:
        """Return what was written, with a point for a decimal comma: phones' keys and habits are not the page's.

        Only "1,500" is no number where a comma may part thousands.
        """
        written = self.draft(value).strip()
        is_unclear = get_format("DECIMAL_SEPARATOR") != "," and THOUSANDS.fullmatch(written)
        return written if is_unclear else written.replace(",", ".", 1)

    def clean(self, value: Any) -> str:
        given = str(super().clean(value))
        try:
            return self.number.read(given, say=gettext) if given else ""
        except ValueError as error:
            raise ValidationError(str(error), code="number") from None

    def draft(self, value: object) -> str:
        """Return what is being written, which may not yet be a number."""
        return NOT_XML.sub("", value)[:NUMERAL_MAX] if isinstance(value, str) else ""


LEAST_ROWS = 3  # empty ones, for marks made without scripts


class MarksInput(forms.Textarea):
    """Marks as JSON, which the page's script writes; without it from rows of fields, `name-text-1` and so on."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> str:
        if f"{name}-severity-1" not in data:
            return data.get(name) or ""
        marks = [mark for n in _rows_in(data, name) if (mark := _mark_in(data, name, n))]
        is_answered = marks or f"{name}-none" in data
        return json.dumps(marks, ensure_ascii=False) if is_answered else ""


def _rows_in(data: Mapping[str, Any], name: str) -> Iterator[int]:
    n = 1
    while f"{name}-severity-{n}" in data:
        yield n
        n += 1


def _mark_in(data: Mapping[str, Any], name: str, n: int) -> dict[str, Any]:
    """Return a row as a mark; empty where nothing is written or chosen in it."""
    parts = {part: data.get(f"{name}-{part}-{n}") or "" for part in ("text", "severity", "category", "note")}
    mark: dict[str, Any] = {part: value for part, value in parts.items() if value}
    if mark and (column := data.get(f"{name}-column-{n}")):
        mark["column"] = column
    start, before = data.get(f"{name}-start-{n}", ""), data.get(f"{name}-before-{n}", "")
    if start.isdecimal() and len(start) < NUMERAL_MAX and before and before == mark.get("text"):
        mark |= {"start": int(start), "end": int(start) + len(before)}
    return mark


class MarkedText(GroupField):
    """Mark places in a text; cleans to their stored form, "[]" where there is nothing to mark.

    `texts` are what can be marked, by column; the text judged, under the first of the columns, stands on the page in
    the element `surface`, a second one with the question itself.
    """

    type = "spans"
    template = "spans"
    widget = MarksInput
    default_error_messages = {"required": gettext_lazy("Mark what is wrong, or say that nothing is.")}

    def __init__(self, *, spans: Spans, texts: Mapping[str, str], surface: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.spans = spans
        self.texts = texts
        self.surface = surface

    @property
    def missing_text(self) -> str:
        """Return the text in which is marked what was left out; "" where that isn't asked or there is none."""
        return self.texts.get(self.spans.missing_in, "") if self.spans.missing_in else ""

    @property
    def language(self) -> str:
        """Return which language its severities and categories are in, "" where that is the page's."""
        label = self.spans.severities[0].label
        return label.language if isinstance(label, TextIn) else ""

    @property
    def severities(self) -> str:
        """Return the severities as JSON, for the page's script."""
        names = {"value": "value", "label": "label", "description": "description", "cost": "score"}
        return json.dumps(
            [{key: getattr(one, name) for key, name in names.items()} for one in self.spans.severities]
        )

    @property
    def categories(self) -> str:
        """Return the categories as JSON, for the page's script, each run of them under what they are parts of."""
        parted = [(*_parted(choice.label), choice.value) for choice in self.spans.categories]
        return json.dumps(
            [
                {"whole": whole, "names": [{"value": value, "label": name} for _, name, value in run]}
                for whole, run in groupby(parted, key=itemgetter(0))
            ]
        )

    def clean(self, value: Any) -> str:
        given = str(super().clean(value) or "")
        try:
            return checked(given, spans=self.spans, texts=self.texts, say=gettext) if given else ""
        except ValueError as error:
            raise ValidationError(str(error), code="marks") from None

    def draft(self, value: object) -> str:
        """Return the marks as they are being made."""
        return NOT_XML.sub("", value) if isinstance(value, str) and len(value) <= MOST_WRITTEN else ""

    def rows(self, value: str) -> list[dict[str, Any]]:
        """Return the marks of a draft as rows of fields, and some that are empty."""
        try:
            read = listed(value or "[]")
        except ValueError:
            read = []
        marks = [one for one in read if isinstance(one, dict)]
        n_rows = min(len(marks) + LEAST_ROWS, max(self.spans.most, len(marks)))
        return marks + [{} for _ in range(n_rows - len(marks))]


def _parted(label: str) -> tuple[str, str]:
    """Return what a category is a part of, "" of none, and its own name."""
    whole, _, name = label.rpartition("/")
    return whole.strip(), name.strip()


class SkipReason(OneOf):
    """Why an item can't be judged. Asked only of those who skip, who must say."""

    default_error_messages = {
        "required": gettext_lazy("Choose why you skip it."),
        "unknown": gettext_lazy("Choose one of the reasons."),
    }


class Unseen(AnyOf):
    """Say that an item can't be judged, as a file it shows is not there. Then nothing else is asked about it."""

    def __init__(self, *, place: int) -> None:
        label = gettext("Without it this can’t be judged")
        hint = gettext("Then nothing else is asked about it.")
        super().__init__(
            label=gettext("Something is missing here"),
            place=place,
            choices=(Choice(FILE_UNSEEN, label, description=hint),),
            is_required=False,
        )


class CommentField(forms.CharField):
    """Free text, as much of it as can be kept; nobody's work is held up by a comment."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> str:
        text = NOT_XML.sub("", super().to_python(value) or "")
        return text.replace("\r\n", "\n")[:COMMENT_MAX]


class SecondsField(forms.FloatField):
    """What the page's clock says; a value it can't have measured counts as nothing."""

    widget = forms.HiddenInput

    def clean(self, value: Any) -> float:
        try:
            seconds = float(value)
        except (TypeError, ValueError):
            return 0.0
        return seconds if 0 <= seconds <= SECONDS_MAX else 0.0
