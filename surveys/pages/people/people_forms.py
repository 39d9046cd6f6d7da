"""Whom a researcher invites, and how a panel sends its people."""

import csv
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from annotators.crowds.links.addresses import PANEL_VALUE
from annotators.people.names import NAMED
from surveys.answering.invitations import MOST_PEOPLE, Person, end_of, in_a_month
from surveys.models import Outcome, Panel, PanelCode

if TYPE_CHECKING:
    PanelModelForm = forms.ModelForm[Panel]
else:
    PanelModelForm = forms.ModelForm

COLUMNS = ("name", "email", "worker_id")
LARGEST_FILE = 1024 * 1024
LONGEST_LINE = 1000
PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
DATE = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


class UntilField(forms.DateField):
    """The last day on which something is valid, as its last second. It may not be over."""

    widget = DATE

    def clean(self, value: Any) -> Any:
        day = super().clean(value)
        until = end_of(day) if day else None
        if until and until <= timezone.now():
            raise ValidationError("This day is over.", code="over")
        return until


class InviteForm(forms.Form):
    """Names with e-mail addresses, typed or as a file, and how long and how much they may work."""

    people = forms.CharField(
        label="People, one on a line",
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "class": "wide", "spellcheck": "false"}),
        help_text="name, e-mail, worker id: only the name is needed. With their id on the marketplace as worker id "
        "they see nothing twice.",
    )
    file = forms.FileField(label="or a CSV file of them", required=False)
    expires_at = UntilField(label="Valid until", initial=in_a_month)
    max_assignments = forms.IntegerField(
        label="At most, each", min_value=1, max_value=32767, required=False, help_text="Empty: all there are."
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        text = data.get("people", "")
        if file := data.get("file"):
            text = f"{text}\n{self._text_of(file)}"
        data["list"] = self._read(text)
        if not data["list"] and not self.errors:
            self.add_error("people", "Name at least one person.")
        return data

    def _text_of(self, file: Any) -> str:
        if file.size > LARGEST_FILE:
            self.add_error("file", "The file is larger than 1 MB.")
            return ""
        try:
            return str(file.read().decode("utf-8-sig"))
        except UnicodeDecodeError:
            self.add_error("file", "The file is not UTF-8 text.")
            return ""

    def _read(self, text: str) -> list[Person]:
        people = []
        for number, cells in _rows(text):
            try:
                people.append(_person(cells))
            except ValidationError as error:
                self.add_error("people", f"Line {number}: {' '.join(error.messages)}")
        if len(people) > MOST_PEOPLE:
            self.add_error("people", f"At most {MOST_PEOPLE} people at once.")
        return people


class RenewForm(forms.Form):
    expires_at = UntilField(label="Valid until", initial=in_a_month)


OUTCOME_CODES = {f"{outcome.value}_code": outcome for outcome in Outcome if outcome != Outcome.COMPLETED}


class PanelForm(PanelModelForm):
    """Prolific's names unless changed. Once somebody has come, the panel's own name stays.

    One code for each outcome; without one of their own, failed checks are completed, and who has nothing to take back
    is asked to return the study.
    """

    checks_failed_code = forms.CharField(
        label="Code where checks failed",
        max_length=64,
        required=False,
        help_text="For who was done, but against whose work the review rules speak. Empty: the code above.",
    )
    nothing_left_code = forms.CharField(
        label="Code where nothing was left",
        max_length=64,
        required=False,
        help_text="For who came when all was taken. Empty: they are asked to return the study.",
    )
    no_consent_code = forms.CharField(
        label="Code without consent",
        max_length=64,
        required=False,
        help_text="For who read what is asked of them and did not agree. Empty: they are asked to return it.",
    )
    completion_url = forms.URLField(
        label="Where they go when done",
        assume_scheme="https",
        required=False,
        max_length=200,
        help_text="https only; {code} stands for the completion code. Empty: they copy the code.",
    )

    class Meta:
        model = Panel
        fields = [
            "completion_code",
            "completion_url",
            "assignments_per_worker",
            "study_id",
            "provider",
            "worker_parameter",
            "study_parameter",
            "session_parameter",
        ]
        labels = {
            "completion_code": "Code of the completed",
            "assignments_per_worker": "Annotations for each person",
            "study_id": "Only from the study",
            "provider": "Panel",
            "worker_parameter": "Parameter with the person",
            "study_parameter": "Parameter with the study",
            "session_parameter": "Parameter with the session",
        }
        help_texts = {
            "completion_code": "As the panel shows it, for example C1A2B3D4.",
            "study_id": "The panel’s id of your study. Empty: any may send people.",
            "provider": "A short name; it keeps ids of different panels apart.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["assignments_per_worker"].min_value = 1  # type: ignore[attr-defined]
        self.fields["provider"].disabled = bool(self.instance.pk and self.instance.visits.exists())
        self.order_fields(["completion_code", *OUTCOME_CODES])
        own = {one.outcome: one.code for one in self.instance.codes.all()} if self.instance.pk else {}
        self.initial.update({name: own.get(outcome, "") for name, outcome in OUTCOME_CODES.items()})

    def clean_completion_url(self) -> str:
        url: str = self.cleaned_data["completion_url"]
        if url and not url.startswith("https://"):
            raise ValidationError("Only https addresses.", code="insecure")
        return url

    def clean_assignments_per_worker(self) -> int:
        n: int = self.cleaned_data["assignments_per_worker"]
        if n < 1:
            raise ValidationError("At least one.", code="too_few")
        return n

    def clean_provider(self) -> str:
        provider: str = self.cleaned_data["provider"]
        if NAMED.fullmatch(f"{provider}:{'0' * 12}"):
            raise ValidationError("This word stands before pseudonyms. Choose another.", code="reserved")
        return provider

    def clean_study_id(self) -> str:
        study: str = self.cleaned_data["study_id"]
        if study and not PANEL_VALUE.fullmatch(study):
            raise ValidationError("Letters, digits, - and _ only.", code="no_id")
        return study

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        parameters = [name for name in self.Meta.fields if name.endswith("_parameter")]
        self._check_codes(data)
        self._check_parameters({name: data[name] for name in parameters if data.get(name)})
        if data.get("study_id") and not data.get("study_parameter"):
            self.add_error("study_parameter", "Without it nobody can tell which study sends them.")
        return data

    def _check_codes(self, data: dict[str, Any]) -> None:
        """The panel tells outcomes apart by their codes alone."""
        given = [data.get("completion_code", "")]
        for name in OUTCOME_CODES:
            code = data.get(name, "")
            if code and code in given:
                self.add_error(name, "Each outcome needs a code of its own.")
            given.append(code)

    @transaction.atomic
    def save(self, commit: bool = True) -> Panel:
        """Keep the panel with its codes; one that is emptied is gone."""
        panel: Panel = super().save(commit)
        panel.codes.all().delete()
        codes = [(outcome, self.cleaned_data[name]) for name, outcome in OUTCOME_CODES.items()]
        PanelCode.objects.bulk_create(
            PanelCode(panel=panel, outcome=o, code=code) for o, code in codes if code
        )
        return panel

    def _check_parameters(self, given: dict[str, str]) -> None:
        values = list(given.values())
        for name, value in given.items():
            if not PARAMETER.fullmatch(value):
                self.add_error(name, "A letter, then letters, digits, _, . and - only.")
            elif values.count(value) > 1:
                self.add_error(name, "Two parameters can’t have one name.")


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells, without empty lines and a header; cells are parted by comma, semicolon or tab."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        delimiter = next((mark for mark in "\t;" if mark in line), ",")
        cells = [cell.strip() for cell in next(csv.reader([line[:LONGEST_LINE]], delimiter=delimiter), [])]
        if any(cells) and tuple(cell.casefold() for cell in cells) != COLUMNS[: len(cells)]:
            yield number, cells


def _person(cells: list[str]) -> Person:
    name, email, worker_id, *more = [*cells, "", "", ""]
    if any(more):
        raise ValidationError("more than name, e-mail and worker id.")
    return Person(name, email, worker_id).checked()
