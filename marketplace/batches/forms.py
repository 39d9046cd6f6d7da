"""The form behind a new template batch: a template, a CSV, and the terms."""

from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet

from marketplace.batches import publishing, tables
from marketplace.models import Requester, TemplateBatch

LARGEST_TEMPLATE = 65_535  # bytes; a page cannot be longer than a HIT's question
DAY, YEAR = 86_400, 31_536_000  # the service model's ranges, in seconds
MINUTE, HOUR = 60, 3600
TERMS = ("title", "description", "keywords", "max_assignments", "frame_height", "values_are_html")


class BatchForm(forms.Form):
    """Checked as a whole: a batch that passes can be published, money aside.

    With `again`, the draft or batch to start from, its template and its rows serve where none are given.
    """

    requester = forms.ModelChoiceField(Requester.objects.none(), empty_label=None)
    template_file = forms.FileField(required=False, label="HTML file")
    template = forms.CharField(
        required=False,
        strip=False,
        label="or HTML, pasted here",
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false"}),
        help_text="${column} stands for the value of a row. Without a form of its own it gets one with a button.",
    )
    table = forms.FileField(
        required=False,
        label="CSV",
        help_text="UTF-8, the first line names the columns. A HIT is made of each row.",
    )
    values_are_html = forms.BooleanField(
        required=False,
        label="Put values in as they are",
        help_text="Not escaped: for columns that hold HTML. Leave it off for texts of models.",
    )
    may_be_empty = forms.BooleanField(
        required=False,
        label="Cells may be empty",
        help_text="Otherwise an empty cell that is used is an error.",
    )
    title = forms.CharField(max_length=128)
    description = forms.CharField(max_length=2000, widget=forms.Textarea(attrs={"rows": 2}))
    keywords = forms.CharField(max_length=1000, required=False, help_text="Separated by commas.")
    reward = forms.DecimalField(
        min_value=Decimal(0), max_value=Decimal(10_000), decimal_places=2, label="Reward ($)", initial="0.50"
    )
    max_assignments = forms.IntegerField(
        min_value=1,
        max_value=1000,
        initial=5,
        label="Assignments per HIT",
        help_text="From 10 on the fee doubles.",
    )
    minutes = forms.IntegerField(min_value=1, max_value=YEAR // MINUTE, initial=60, label="Minutes allowed")
    lifetime_days = forms.IntegerField(min_value=1, max_value=365, initial=7, label="Days on offer")
    approval_hours = forms.IntegerField(
        min_value=0,
        max_value=720,
        initial=72,
        label="Hours to approval",
        help_text="Undecided work is then approved.",
    )
    frame_height = forms.IntegerField(
        min_value=0,
        max_value=10_000,
        initial=0,
        label="Frame height (px)",
        help_text="0: as high as the window.",
    )

    def __init__(
        self, *args: Any, requesters: "QuerySet[Requester]", again: TemplateBatch | None, **kw: Any
    ) -> None:
        super().__init__(*args, **{"label_suffix": "", **kw})
        field: Any = self.fields["requester"]
        field.queryset = requesters.order_by("name")
        self.again = again
        self.rows: list[list[str]] = []

    def clean_template_file(self) -> str:
        file = self.cleaned_data["template_file"]
        if file is None:
            return ""
        raw = _content(file, most=LARGEST_TEMPLATE)
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise ValidationError(f"Line {line} is not UTF-8.") from error

    def clean_template(self) -> str:
        text: str = self.cleaned_data["template"]
        if len(text.encode()) > LARGEST_TEMPLATE:
            raise ValidationError(f"The template is longer than {LARGEST_TEMPLATE:,} bytes.")
        return text.replace("\r\n", "\n")

    def clean_table(self) -> tables.Table | None:
        file = self.cleaned_data["table"]
        if file is None:
            return None
        try:
            return tables.read(_content(file, most=settings.UPLOAD_MAX_BYTES))
        except tables.BadTable as error:
            raise ValidationError(error.problems) from error

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("template_file") and data.get("template", "").strip() not in {"", self._old_template()}:
            self.add_error("template", "Give a file or paste the HTML, not both.")
        if not self._html().strip() and "template_file" not in self.errors:
            self.add_error("template_file", "A template is needed: choose a file or paste the HTML.")
        if not data.get("table") and not self.again and "table" not in self.errors:
            self.add_error("table", "A CSV is needed.")
        if not self.errors:
            self._check_rows()
        return data

    def _old_template(self) -> str:
        return self.again.template.strip() if self.again else ""

    def _html(self) -> str:
        html: str = self.cleaned_data.get("template_file") or self.cleaned_data.get("template") or ""
        return html

    def _check_rows(self) -> None:
        table: tables.Table | None = self.cleaned_data["table"]
        if table is None and self.again:
            rows = self.again.rows.order_by("number").values_list("values", flat=True)
            table = tables.Table(self.again.columns, list(rows))
        if table is None:
            return
        self.rows = table.rows
        self.draft = self._draft(table.columns)
        problems = publishing.problems(self.draft, self.rows, may_be_empty=self.cleaned_data["may_be_empty"])
        if problems:
            self.add_error("table", ValidationError(tables.shortened(problems)))

    def _draft(self, columns: list[str]) -> TemplateBatch:
        data = self.cleaned_data
        return TemplateBatch(
            requester=data["requester"],
            template=self._html(),
            columns=columns,
            reward_cents=int(data["reward"] * 100),
            duration_seconds=data["minutes"] * MINUTE,
            auto_approval_seconds=data["approval_hours"] * HOUR,
            lifetime_seconds=data["lifetime_days"] * DAY,
            **{name: data[name] for name in TERMS},
        )


def initial_of(batch: TemplateBatch) -> dict[str, Any]:
    """Return what the form shows when a batch is the start of another."""
    return {
        "requester": batch.requester_id,
        "template": batch.template,
        "reward": Decimal(batch.reward_cents) / 100,
        "minutes": batch.duration_seconds // MINUTE,
        "approval_hours": batch.auto_approval_seconds // HOUR,
        "lifetime_days": batch.lifetime_seconds // DAY,
        "may_be_empty": True,
        **{name: getattr(batch, name) for name in TERMS},
    }


class DecisionsForm(forms.Form):
    """The results file with its last two columns filled in."""

    results = forms.FileField(label="Results file")

    def clean_results(self) -> bytes:
        return _content(self.cleaned_data["results"], most=settings.UPLOAD_MAX_BYTES)


def _content(file: "UploadedFile[bytes]", *, most: int) -> bytes:
    if (file.size or 0) > most:
        raise ValidationError(f"The file is larger than {most // 1024:,} kB.")
    content: bytes = file.read()
    return content
