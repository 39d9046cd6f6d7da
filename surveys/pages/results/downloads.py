"""Files to take away. One that has a row for each answer is sent while it is read, some assignments at a time.

What is said of a whole batch (a table, a summary, OFA-X's layout, correlations) is made from all of it, in memory, and
written to disk before its first byte is sent, so that one that fails sends nothing. Both happen when the answer is
read: the server does that beside its pages (config.streams). With worker ids, a file whose rows can't be counted
beforehand is written by a page's thread first: the audit trail has its rows before it is sent.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from surveys import audit
from surveys.models import Batch
from surveys.pages.access import batch_for, researcher, study_for
from surveys.pages.results.scope import published
from surveys.results.files.layouts import Layout, count_rows, layouts_for
from surveys.results.files.pairs import LayoutError
from surveys.results.files.taking import EXPORT_RAW, headers, layout_of, may_have, parts, read, written

BATCHES_PER_PAGE = 5  # each asks what its files are


class WorkerIdsForm(forms.Form):
    """Why somebody takes worker ids out of here. It is written into the audit trail."""

    reason = forms.CharField(
        label="What are the ids for?",
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3, "class": "wide"}),
        help_text="For example: bonuses paid outside, a worker’s own request. Name nobody here.",
    )


@dataclass(frozen=True, slots=True)
class Download:
    """A file, and where it is asked for with worker ids ("": it never has any)."""

    label: str
    filename: str
    url: str
    url_with_ids: str


@require_safe
@researcher("surveys.view_batch")
def files(request: HttpRequest, pk: int) -> HttpResponse:
    """List the files of a published batch; a draft has none, and leads to its own page."""
    batch = batch_for(request, pk)
    if batch.status == Batch.Status.DRAFT:
        return redirect(batch)
    context = {
        **admin.site.each_context(request),
        "title": f"Files of {batch.name}",
        "batch": batch,
        "downloads": downloads(request, batch),
    }
    return render(request, "results/files.html", context)


@require_safe
@researcher("surveys.view_batch")
def study_files(request: HttpRequest, slug: str) -> HttpResponse:
    """List the files of a study's published batches, those of the newest opened."""
    survey = study_for(request, slug)
    page = Paginator(published(survey), BATCHES_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        **admin.site.each_context(request),
        "title": f"Files of {survey}",
        "survey": survey,
        "page": page,
        "files": [(batch, downloads(request, batch)) for batch in page],
    }
    return render(request, "results/study_files.html", context)


@require_safe
@researcher("surveys.view_batch")
def download(request: HttpRequest, pk: int, layout: str) -> HttpResponseBase:
    """Send one file of a published batch, workers under pseudonyms. Raw files go to those who may export them."""
    batch, wanted = _asked_for(request, pk, layout)
    if not may_have(request.user, wanted):
        raise PermissionDenied("This file is raw.")
    try:
        wanted.check(batch)
    except LayoutError as error:
        messages.error(request, str(error))
        return redirect(batch)
    return _sent(parts(batch, wanted), batch, wanted)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@researcher("surveys.view_batch", EXPORT_RAW)
def download_with_ids(request: HttpRequest, pk: int, layout: str) -> HttpResponseBase:
    """Ask what for, then send a raw file with worker ids. That it was asked for is on record before the first byte."""
    batch, wanted = _asked_for(request, pk, layout)
    if wanted.write_with_ids is None:
        raise Http404("This file never has worker ids.")
    form = WorkerIdsForm(request.POST or None)
    if not form.is_valid():
        return _confirm(request, batch, wanted, form)
    try:
        wanted.check(batch)
    except LayoutError as error:
        messages.error(request, str(error))
        return redirect(batch)
    sent, n_rows = _with_ids(batch, wanted)
    details = {"file": wanted.filename, "rows": n_rows}
    reason = form.cleaned_data["reason"]
    audit.record(audit.Kind.DOWNLOAD, layout, batch=batch, by=request.user, reason=reason, details=details)
    return _sent(sent, batch, wanted)


def downloads(request: HttpRequest, batch: Batch) -> list[Download]:
    """Return the files this researcher may have of a batch."""
    return [
        Download(
            layout.label,
            layout.filename,
            reverse("batch_download", args=[batch.pk, name]),
            reverse("batch_download_ids", args=[batch.pk, name]) if layout.is_raw else "",
        )
        for name, layout in layouts_for(batch).items()
        if may_have(request.user, layout)
    ]


def _asked_for(request: HttpRequest, pk: int, layout: str) -> tuple[Batch, Layout]:
    batch = batch_for(request, pk)
    wanted = layout_of(batch, layout)
    if wanted is None:
        raise Http404("There is no such file.")
    return batch, wanted


def _confirm(request: HttpRequest, batch: Batch, layout: Layout, form: WorkerIdsForm) -> HttpResponse:
    title = f"{layout.filename} with worker ids"
    context = {
        **admin.site.each_context(request),
        "title": title,
        "batch": batch,
        "layout": layout,
        "form": form,
    }
    status = 422 if form.is_bound else 200
    return render(request, "people/worker_ids.html", context, status=status)


def _with_ids(batch: Batch, layout: Layout) -> tuple[Iterable[str | bytes], int]:
    """Return a raw file with worker ids, and how many rows it has."""
    if layout.lines and layout.count:
        return layout.lines(batch, worker_ids=True), layout.count(batch)
    assert layout.write_with_ids  # noqa: S101 (whoever asks has looked)
    file = written(batch, layout.write_with_ids)
    n_rows = count_rows(file, content_type=layout.content_type)
    file.seek(0)
    return read(file), n_rows


def _sent(sent: Iterable[str | bytes], batch: Batch, layout: Layout) -> StreamingHttpResponse:
    return StreamingHttpResponse(sent, headers=headers(batch, layout))
