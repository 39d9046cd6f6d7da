"""The upload form: which survey, which file, where the pictures are."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from surveys.models import Picture, Survey
from surveys.studies.founding import name_problem, slug_of
from surveys.studies.importing.plan import Layout, is_system_name
from surveys.studies.importing.staging import Wish
from surveys.studies.protocols import offered
from surveys.teams import Person, seen_by

if TYPE_CHECKING:
    Upload = UploadedFile[bytes]
else:
    Upload = UploadedFile

LAYOUTS = [
    (Layout.AUTO, "Look at the file"),
    (Layout.BATCH, "Batch CSV: one row is one HIT"),
    (Layout.LONG, "One row is one output: CSV or Excel"),
    (Layout.JSONL, "JSONL: one line is one output"),
]


class PicturesForm(forms.Form):
    """Where pictures come from: a ZIP or a URL prefix."""

    archive = forms.FileField(
        label="ZIP of the pictures",
        required=False,
        help_text=(
            "Sub-folders are fine; a picture is found by its file name, the pictures of a sequence by the item’s id "
            "and their number: 8_1.jpg, or 1.jpg in a folder 8."
        ),
    )
    address = forms.URLField(
        label="or the address they start with",
        required=False,
        assume_scheme="https",
        help_text="For example https://pictures.example.org/study/ with the file names after it. Fetched once, now.",
    )

    def clean_archive(self) -> Upload | None:
        return _within(self.cleaned_data["archive"], limit=settings.IMAGE_ARCHIVE_MAX_BYTES)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("archive") and data.get("address"):
            self.add_error("address", "Give a ZIP or an address, not both.")
        return data


class ImportForm(PicturesForm):
    """Everything the preview needs. A new survey is named here and created only with its items."""

    survey = forms.ModelChoiceField(
        Survey.objects.none(), label="Import into", required=False, empty_label="A new survey"
    )
    name = forms.CharField(label="Name of the new survey", max_length=200, required=False)
    definition_key = forms.ChoiceField(label="Type of the new survey", required=False)
    items = forms.FileField(
        label="File",
        help_text="CSV, Excel (.xlsx) or JSONL: one row per output, with any names of columns; or a batch CSV.",
        error_messages={"empty": "The file is empty (0 bytes)."},
    )
    system = forms.CharField(
        label="System",
        initial="model",
        max_length=64,
        help_text="Short name of the model, where the file has no column for it. Annotators never see it.",
    )
    layout = forms.ChoiceField(label="Layout", choices=LAYOUTS, initial=Layout.AUTO, required=False)
    allow_missing = forms.BooleanField(
        label="Import items whose pictures are missing",
        required=False,
        help_text="They are marked, and can’t go to a paying endpoint before their pictures arrive.",
    )
    field_order = ["survey", "name", "definition_key", "items", "archive", "address", "system", "layout"]

    def __init__(self, *args: Any, person: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        surveys = seen_by(person, Survey.objects.all())
        self.fields["survey"].queryset = surveys  # type: ignore[attr-defined]
        choices = [
            ("", "Choose a type"),
            *((key, definition.name) for key, definition in offered(person).items()),
        ]
        self.fields["definition_key"] = forms.ChoiceField(
            label="Type of the new survey", choices=choices, required=False
        )
        self.order_fields(self.field_order)

    def clean_items(self) -> Upload | None:
        return _within(self.cleaned_data["items"], limit=settings.UPLOAD_MAX_BYTES)

    def clean_system(self) -> str:
        system: str = self.cleaned_data["system"]
        if not is_system_name(system):
            raise forms.ValidationError("Use letters, digits, - and _ only.")
        return system

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if not data.get("survey"):
            self._clean_new_survey(data)
        return data

    def _clean_new_survey(self, data: dict[str, Any]) -> None:
        data["slug"] = slug_of(data.get("name", ""))
        if problem := name_problem(data["slug"]):
            self.add_error("name", problem)
        if not data.get("definition_key"):
            self.add_error("definition_key", "Choose the type of the new survey.")

    def wish(self) -> Wish:
        """Return what a valid form asks for."""
        data = self.cleaned_data
        survey: Survey | None = data["survey"]
        return Wish(
            filename=data["items"].name,
            survey_id=survey.pk if survey else None,
            name=survey.name if survey else data["name"],
            slug=survey.slug if survey else data["slug"],
            definition_key=survey.definition_key if survey else data["definition_key"],
            system=data["system"],
            layout=data["layout"] or Layout.AUTO,
            allow_missing=data["allow_missing"],
            address=data["address"],
        )


class AttachForm(PicturesForm):
    """Bring pictures to items that were imported without."""

    survey = forms.ModelChoiceField(
        Survey.objects.none(), label="Survey that waits for pictures", empty_label=None
    )
    field_order = ["survey"]

    def __init__(self, *args: Any, person: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        waiting = Picture.objects.filter(file="").values("item__survey")
        self.surveys = seen_by(person, Survey.objects.filter(pk__in=waiting))
        self.fields["survey"].queryset = self.surveys  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if not data.get("archive") and not data.get("address") and not self.errors:
            self.add_error("archive", "Choose a ZIP or give an address.")
        return data


def _within(file: Upload | None, *, limit: int) -> Upload | None:
    if file and (file.size or 0) > limit:
        raise forms.ValidationError(
            f"The file has {file.size:,} bytes; at most {limit // 2**20} MB are allowed."
        )
    return file
