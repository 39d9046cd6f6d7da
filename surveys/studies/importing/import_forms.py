"""The upload form: which survey, which file, where the pictures are."""

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.core.files import File
from django.core.files.uploadedfile import UploadedFile

from surveys.models import Picture, Survey
from surveys.studies.founding import name_problem, slug_of
from surveys.studies.importing.arrow import ArrowError, is_arrow, unpack
from surveys.studies.importing.fetching import check_address
from surveys.studies.importing.pictures import PictureError
from surveys.studies.importing.plan import Layout, is_system_name
from surveys.studies.importing.staging import Wish
from surveys.studies.protocols import offered
from surveys.teams import Person, where

if TYPE_CHECKING:
    Upload = UploadedFile[bytes]
else:
    Upload = UploadedFile

ADD_ITEM = "surveys.add_item"
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
        help_text=(
            "For example https://pictures.example.org/study/ with the file names after it. Fetched once, now; you need "
            "not wait."
        ),
    )

    def clean_archive(self) -> Upload | None:
        return _within(self.cleaned_data["archive"], limit=settings.IMAGE_ARCHIVE_MAX_BYTES)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("archive") and data.get("address"):
            self.add_error("address", "Give a ZIP or an address, not both.")
        elif data.get("address"):
            self._check_address(data["address"])
        return data

    def _check_address(self, address: str) -> None:
        """Say at once what can't be fetched from; the pictures themselves take longer."""
        try:
            check_address(urlsplit(address))
        except PictureError as error:
            self.add_error("address", str(error))


class ImportForm(PicturesForm):
    """Everything the preview needs. A new survey is named here and created only with its items."""

    survey = forms.ModelChoiceField(
        Survey.objects.none(), label="Import into", required=False, empty_label="A new survey"
    )
    name = forms.CharField(label="Name of the new survey", max_length=200, required=False)
    definition_key = forms.ChoiceField(label="Type of the new survey", required=False)
    items = forms.FileField(
        label="File",
        help_text=(
            "CSV, Excel (.xlsx), JSONL, Parquet or a ZIP of a data set’s folder: one row per output, with any names of "
            "columns; or a batch CSV."
        ),
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
        field: Any = self.fields["survey"]
        field.queryset = where(person, ADD_ITEM)
        if not person.has_perm(ADD_ITEM):  # who has a role in some studies adds to those
            field.required, field.empty_label = True, None
        choices = [
            ("", "Choose a type"),
            *((key, definition.name) for key, definition in offered(person).items()),
        ]
        self.fields["definition_key"] = forms.ChoiceField(
            label="Type of the new survey", choices=choices, required=False
        )
        self.order_fields(self.field_order)

    def clean_items(self) -> Upload | None:
        file: Upload = self.cleaned_data["items"]
        limit = settings.IMAGE_ARCHIVE_MAX_BYTES if is_arrow(file) else settings.UPLOAD_MAX_BYTES
        return _within(file, limit=limit)

    def clean_system(self) -> str:
        system: str = self.cleaned_data["system"]
        if not is_system_name(system):
            raise forms.ValidationError("Use letters, digits, - and _ only.")
        return system

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if not data.get("survey"):
            self._clean_new_survey(data)
        if "items" in self.fields and not self.errors and is_arrow(data["items"]):
            self._unpack(data)
        return data

    def _unpack(self, data: dict[str, Any]) -> None:
        """Put what a Parquet or Arrow file holds in its place: its rows, and the pictures in its cells."""
        items: Upload = data["items"]
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "source"
            with source.open("wb") as file:
                shutil.copyfileobj(items, file)
            try:
                unpacked = unpack(source, into=Path(folder))
            except ArrowError as error:
                self.add_error("items", str(error))
                return
            # Open they stay readable, though their folder is gone.
            data["items"] = File(unpacked.items.open("rb"), name=items.name)
            data["layout"] = Layout.JSONL
            if unpacked.files:
                self._take_files(data, unpacked.files)

    def _take_files(self, data: dict[str, Any], files: Path) -> None:
        if data.get("archive") or data.get("address"):
            self.add_error("archive", "The file has its pictures in itself; bring no others.")
        data["archive"] = File(files.open("rb"))

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
        self.surveys = where(person, ADD_ITEM).filter(pk__in=waiting)
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
