"""Files to take away. One that has a row for each answer is sent while it is read, some assignments at a time.

What is said of a whole batch (a table, a summary, OFA-X's layout, correlations) is made from all of it, in memory, and
written to disk before its first byte is sent, so that one that fails sends nothing. Both happen when the answer is
read: the server does that beside its pages (config.streams). With worker ids, a file whose rows can't be counted
beforehand is written by a page's thread first: the audit trail has its rows before it is sent.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
    StreamingHttpResponse,
)
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from surveys import audit
from surveys.enqueue import wanted
from surveys.models import Batch
from surveys.pages.access import batch_for, researcher, study_for
from surveys.pages.results.scope import published
from surveys.results import kept
from surveys.results.files.layouts import Layout, layouts_for
from surveys.results.files.pairs import LayoutError
from surveys.results.files.prepared import has_many_answers, path_of, takes_long
from surveys.results.files.taking import (
    EXPORT_RAW,
    headers,
    joined,
    layout_of,
    may_have,
    parts,
    read,
    written,
)
from surveys.results.files.writing import count_rows
from surveys.results.reports import Kept, Prepared, wait_for

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
    """A file, and where it is asked for with worker ids ("": it never has any). One that `takes_long` has a page."""

    label: str
    filename: str
    url: str
    url_with_ids: str
    takes_long: bool


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
    """Send one file of a published batch, workers under pseudonyms. Raw files go to those who may export them.

    One that takes long is sent as it was prepared; before that, its page says how far it is.
    """
    batch, file = _may_take(request, pk, layout)
    try:
        file.check(batch)
    except LayoutError as error:
        messages.error(request, str(error))
        return redirect(batch)
    if not takes_long(batch, file):
        return _sent(parts(batch, file), batch, file)
    path = _prepared(batch, layout)[1]
    if path is None:
        return redirect("prepared_file", batch.pk, layout)
    return _sent(read(path.open("rb")), batch, file)


@require_safe
@researcher("surveys.view_batch")
def prepared_file(request: HttpRequest, pk: int, layout: str) -> HttpResponse:
    """Show how far the worker is with a file that takes long, and lead to it once it is there."""
    batch, file = _may_take(request, pk, layout)
    if not takes_long(batch, file) or _is_refused(batch, file):
        return redirect("batch_download", batch.pk, layout)
    found, path = _prepared(batch, layout)
    if path is None:
        text = f"{file.filename} of {batch.name} is ready."
        wait_for(kept.file_key(batch, layout), person=request.user, text=text[:500], url=request.path)
    context = {
        **admin.site.each_context(request),
        "title": f"{file.filename} of {batch.name}",
        "batch": batch,
        "layout": file,
        "name": layout,
        "found": found,
        "is_ready": path is not None,
        "size": found.value.size if found.value else 0,
    }
    return render(request, "results/file_awaited.html", context)


@require_safe
@researcher("surveys.view_batch")
def file_progress(request: HttpRequest, pk: int, layout: str) -> JsonResponse:
    """Answer with how far a file is, for the page that waits for it."""
    batch, _ = _may_take(request, pk, layout)
    return JsonResponse({"reports": kept.progress(kept.file_key(batch, layout))})


def _prepared(batch: Batch, layout: str) -> tuple[Kept[Prepared], Path | None]:
    """Return what there is of a file that takes long, and where it is. Of other data, the worker is asked for it."""
    version = kept.metrics_version(batch)
    path = path_of(batch, layout, version=version)
    found = wanted(kept.file_key(batch, layout), version=version)
    if found.is_current and not path.exists():  # a day old, and so not kept
        kept.make_old(kept.file_key(batch, layout))
        found = wanted(kept.file_key(batch, layout), version=version)
    return found, path if found.is_current and path.exists() else None


def _is_refused(batch: Batch, file: Layout) -> bool:
    try:
        file.check(batch)
    except LayoutError:
        return True
    return False


def _may_take(request: HttpRequest, pk: int, layout: str) -> tuple[Batch, Layout]:
    batch, found = _asked_for(request, pk, layout)
    if not may_have(request.user, found):
        raise PermissionDenied("This file is raw.")
    return batch, found


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@researcher("surveys.view_batch", EXPORT_RAW)
def download_with_ids(request: HttpRequest, pk: int, layout: str) -> HttpResponseBase:
    """Ask what for, then send a raw file with worker ids. That it was asked for is on record before the first byte."""
    batch, file = _asked_for(request, pk, layout)
    if file.write_with_ids is None:
        raise Http404("This file never has worker ids.")
    form = WorkerIdsForm(request.POST or None)
    if not form.is_valid():
        return _confirm(request, batch, file, form)
    try:
        file.check(batch)
    except LayoutError as error:
        messages.error(request, str(error))
        return redirect(batch)
    sent, n_rows = _with_ids(batch, file)
    details = {"file": file.filename, "rows": n_rows}
    reason = form.cleaned_data["reason"]
    audit.record(audit.Kind.DOWNLOAD, layout, batch=batch, by=request.user, reason=reason, details=details)
    return _sent(sent, batch, file)


def downloads(request: HttpRequest, batch: Batch) -> list[Download]:
    """Return the files this researcher may have of a batch."""
    is_large = has_many_answers(batch)
    return [
        Download(
            layout.label,
            layout.filename,
            reverse("prepared_file" if is_long else "batch_download", args=[batch.pk, name]),
            reverse("batch_download_ids", args=[batch.pk, name]) if layout.is_raw else "",
            is_long,
        )
        for name, layout in layouts_for(batch).items()
        if may_have(request.user, layout)
        for is_long in [is_large and layout.lines is None]
    ]


def _asked_for(request: HttpRequest, pk: int, layout: str) -> tuple[Batch, Layout]:
    batch = batch_for(request, pk)
    found = layout_of(batch, layout)
    if found is None:
        raise Http404("There is no such file.")
    return batch, found


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


def _with_ids(batch: Batch, layout: Layout) -> tuple[Iterator[bytes], int]:
    """Return a raw file with worker ids, and how many rows it has."""
    if layout.lines and layout.count:
        return joined(layout.lines(batch, worker_ids=True)), layout.count(batch)
    assert layout.write_with_ids  # noqa: S101 (whoever asks has looked)
    file = written(batch, layout.write_with_ids)
    n_rows = count_rows(file, content_type=layout.content_type)
    file.seek(0)
    return read(file), n_rows


def _sent(sent: Iterator[bytes], batch: Batch, layout: Layout) -> StreamingHttpResponse:
    return StreamingHttpResponse(sent, headers=headers(batch, layout))
