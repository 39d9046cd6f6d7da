"""A sample of a model's predictions: upload, see who was eligible, download the batch CSVs or import one at once.

The worker draws it, as it makes the reports that are kept: the page shows how far it is.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.admin import site
from django.core import signing
from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from surveys import sync
from surveys.enqueue import enqueue
from surveys.pages.access import researcher
from surveys.pages.study.imports import preview_token
from surveys.results import kept, reports
from surveys.results.reports import Drawing, Kept
from surveys.studies.importing.import_forms import ImportForm
from surveys.studies.importing.plan import Layout
from surveys.studies.importing.staging import Wish, stage
from surveys.studies.kept_a_day import KEPT_SECONDS
from surveys.studies.sample_files import (
    LOG,
    UPLOADS,
    Asked,
    KeptSample,
    SampleGone,
    ask_for,
    has_folder,
    load_sample,
    new_folder,
)

if TYPE_CHECKING:
    Upload = UploadedFile[bytes]
else:
    Upload = UploadedFile

SALT = "surveys.sample"
GONE = "This sample was drawn more than a day ago. The same file and seed give the same one again."


class Several(forms.ClearableFileInput):
    """A field for any number of files."""

    allow_multiple_selected = True


class SeveralFiles(forms.FileField):
    widget = Several

    def clean(self, data: Any, initial: Any = None) -> list[Upload]:
        given = data if isinstance(data, list | tuple) else [data]
        return [found for one in given if (found := super(SeveralFiles, self).clean(one, initial))]


class DrawForm(forms.Form):
    """What to draw of which predictions."""

    predictions = forms.FileField(
        label="Predictions",
        help_text="CSV or .jsonl: item, gold, answer, explanation; where there are, system, dataset, reference (the "
        "ground truth’s explanation), question, img_name, choices. Larger files: manage.py draw_sample.",
    )
    n = forms.IntegerField(label="Items of each data set", min_value=1, max_value=100_000, initial=100)
    items_per_hit = forms.IntegerField(label="Items per HIT", min_value=1, max_value=100, initial=5)
    system = forms.CharField(
        label="System",
        max_length=64,
        required=False,
        help_text="Whose rows, where the file has several systems.",
    )
    seed = forms.CharField(
        label="Seed", max_length=64, initial="1", help_text="Decides ties and distractors."
    )
    earlier = SeveralFiles(
        label="Earlier samples",
        required=False,
        help_text="CSVs to have as many items in common with as there can be: batch CSVs, or with a column item. Of "
        "several data sets, call each file as its data set is called, or give it a column dataset.",
    )

    def clean_predictions(self) -> Upload:
        return _within(self.cleaned_data["predictions"])

    def clean_earlier(self) -> list[Upload]:
        return [_within(file) for file in self.cleaned_data["earlier"]]

    def ask(self) -> str:
        """Keep the uploads of a valid form and what it asks for; return the name of the sample there will be."""
        data, folder = self.cleaned_data, new_folder()
        uploads = folder / UPLOADS
        predictions = _stored(data["predictions"], uploads / "predictions")
        earlier = [_stored(file, uploads / str(n)) for n, file in enumerate(data["earlier"])]
        ask_for(
            folder,
            Asked(
                n=data["n"],
                size=data["items_per_hit"],
                seed=data["seed"],
                system=data["system"],
                predictions=str(predictions.relative_to(uploads)),
                earlier=tuple(str(path.relative_to(uploads)) for path in earlier),
            ),
        )
        return folder.name


def _within(file: Upload) -> Upload:
    if (file.size or 0) > settings.UPLOAD_MAX_BYTES:
        allowed = settings.UPLOAD_MAX_BYTES // 2**20
        raise forms.ValidationError(
            f"{file.name} has {file.size:,} bytes; at most {allowed} MB are allowed here."
        )
    return file


def _stored(file: Upload, folder: Path) -> Path:
    """Write an upload under its own name: the name tells the format, and the data set of an earlier sample."""
    folder.mkdir(parents=True)
    path = folder / _short(Path(file.name or "").name or "file.csv")
    with path.open("wb") as stream:
        for chunk in file.chunks():
            stream.write(chunk)
    return path


def _short(name: str) -> str:
    """Return a name that every file system takes: they count bytes, up to 255."""
    ending = Path(name).suffix[:20]
    return name.removesuffix(ending).encode()[:160].decode(errors="ignore") + ending


class SampleImportForm(ImportForm):
    """Into which survey a sample's batch CSV goes. Its pictures may come later."""

    filename = forms.ChoiceField(label="File")
    field_order = ["filename", "survey", "name", "definition_key", "system", "allow_missing"]

    def __init__(self, *args: Any, sample: KeptSample, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("items", "archive", "address", "layout"):
            del self.fields[name]
        names = [line.filename for line in sample.lines]
        self.fields["filename"] = forms.ChoiceField(label="File", choices=[(name, name) for name in names])
        self.fields["system"].initial = sample.system or "model"
        self.fields["allow_missing"].initial = True
        self.order_fields(self.field_order)

    def wish(self) -> Wish:
        data: Mapping[str, Any] = self.cleaned_data
        survey = data["survey"]
        return Wish(
            filename=data["filename"],
            survey_id=survey.pk if survey else None,
            name=survey.name if survey else data["name"],
            slug=survey.slug if survey else data["slug"],
            definition_key=survey.definition_key if survey else data["definition_key"],
            system=data["system"],
            layout=Layout.BATCH,
            allow_missing=data["allow_missing"],
        )


@researcher("surveys.add_item")
@require_http_methods(["GET", "HEAD", "POST"])
def draw_sample(request: HttpRequest) -> HttpResponse:
    """Choose what to draw; posted, have it drawn and go to where it will be."""
    form = DrawForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        name = form.ask()
        enqueue(sync.make_report, reports.ask_for_sample(name))
        return redirect("sample", token=signing.dumps([name, request.user.pk], salt=SALT))
    context = {**site.each_context(request), "title": "Draw a sample", "form": form}
    return render(request, "study/draw_sample.html", context, status=422 if form.errors else 200)


@researcher("surveys.add_item")
@require_http_methods(["GET", "HEAD", "POST"])
def sample(request: HttpRequest, token: str) -> HttpResponse:
    """Show a sample and who was eligible; posted, take one of its files to the preview of an import."""
    try:
        drawing = _drawing(request, token=token)
        drawn = None if drawing.value is None or drawing.value.error else _drawn(request, token=token)
    except SampleGone:
        messages.info(request, GONE)
        return redirect("draw_sample")
    if drawn is None:
        return _awaited(request, drawing, token=token)
    form = SampleImportForm(request.POST or None, sample=drawn, person=request.user)
    if form.is_valid() and (path := drawn.path(form.cleaned_data["filename"])):
        staged = stage(form.wish(), items=path.read_bytes(), archive=None)
        return redirect("import_preview", token=preview_token(staged, person=request.user))
    reasons = sorted({reason for line in drawn.lines for reason, _ in line.reasons})
    context = {
        **site.each_context(request),
        "title": "Sample",
        "sample": drawn,
        "token": token,
        "reasons": reasons,
        "rows": [(line, [dict(line.reasons).get(reason, 0) for reason in reasons]) for line in drawn.lines],
        "log": LOG,
        "form": form,
    }
    return render(request, "study/sample.html", context, status=422 if form.errors else 200)


def _awaited(request: HttpRequest, drawing: Kept[Drawing], *, token: str) -> HttpResponse:
    """Show how far a sample is, or why there will be none."""
    context = {
        **site.each_context(request),
        "title": "Sample",
        "drawing": drawing,
        "error": drawing.value.error if drawing.value else "",
        "token": token,
    }
    return render(request, "study/sample_awaited.html", context)


@researcher("surveys.add_item")
@require_safe
def sample_progress(request: HttpRequest, token: str) -> JsonResponse:
    """Answer with how far a sample is, for the page that waits for it."""
    name = _name(request, token=token)
    return JsonResponse({"reports": kept.progress(kept.sample_key(name))})


@researcher("surveys.add_item")
@require_safe
def sample_file(request: HttpRequest, token: str, filename: str) -> HttpResponseBase:
    """Send one file of a sample."""
    try:
        path = _drawn(request, token=token).path(filename)
    except SampleGone:
        path = None
    if path is None:
        raise Http404("There is no such file.")
    return FileResponse(
        path.open("rb"), as_attachment=True, filename=filename, content_type="text/csv; charset=utf-8"
    )


def _drawn(request: HttpRequest, *, token: str) -> KeptSample:
    return load_sample(_name(request, token=token))


def _drawing(request: HttpRequest, *, token: str) -> Kept[Drawing]:
    """Return what has become of the sample; SampleGone where nobody asked for it."""
    name = _name(request, token=token)
    if not has_folder(name):
        raise SampleGone(name)
    return reports.kept(kept.sample_key(name), version=name)


def _name(request: HttpRequest, *, token: str) -> str:
    """Return the name of the sample the token is of; 404 if it isn't this researcher's."""
    try:
        name, owner = signing.loads(token, salt=SALT, max_age=KEPT_SECONDS)
    except signing.SignatureExpired:
        raise SampleGone(token) from None
    except signing.BadSignature:
        raise Http404("No such sample.") from None
    if owner != request.user.pk:
        raise Http404("No such sample.")
    return str(name)
