"""Files to take away, written to disk first so that a long one needs no memory and a failing one sends nothing."""

from dataclasses import dataclass
from io import TextIOWrapper
from tempfile import TemporaryFile

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from surveys.exports import LAYOUTS, Layout, LayoutError, layouts_for
from surveys.models import Batch
from surveys.views.access import researcher

EXPORT_RAW = "surveys.export_raw"


@dataclass(frozen=True, slots=True)
class Download:
    label: str
    filename: str
    url: str
    has_worker_ids: bool


@require_safe
@researcher("surveys.view_batch")
def download(request: HttpRequest, pk: int, layout: str) -> HttpResponseBase:
    """Send one file of a published batch. Worker ids go only to those who may have them."""
    published = Batch.objects.exclude(status=Batch.Status.DRAFT).select_related("survey")
    batch = get_object_or_404(published, pk=pk)
    wanted = LAYOUTS.get(layout)
    if wanted is None:
        raise Http404("There is no such file.")
    if not _may_have(request, wanted):
        raise PermissionDenied("This file holds worker ids.")
    try:
        return _sent(batch, wanted)
    except LayoutError as error:
        messages.error(request, str(error))
        return redirect(batch)


def downloads(request: HttpRequest, batch: Batch) -> list[Download]:
    """Return the files this researcher may have of a batch."""
    return [
        Download(
            layout.label,
            layout.filename,
            reverse("batch_download", args=[batch.pk, name]),
            layout.has_worker_ids,
        )
        for name, layout in layouts_for(batch).items()
        if _may_have(request, layout)
    ]


def _may_have(request: HttpRequest, layout: Layout) -> bool:
    return not layout.has_worker_ids or request.user.has_perm(EXPORT_RAW)


def _sent(batch: Batch, layout: Layout) -> FileResponse:
    file = TemporaryFile()  # noqa: SIM115 (FileResponse closes it)
    text = TextIOWrapper(file, encoding="utf-8", newline="")
    layout.write(batch, text)
    text.detach()
    file.seek(0)
    name = f"{slugify(batch.name) or batch.pk}-{layout.filename}"
    content_type = f"{layout.content_type}; charset=utf-8"
    return FileResponse(file, as_attachment=True, filename=name, content_type=content_type)
