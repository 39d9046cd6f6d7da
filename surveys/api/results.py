"""Results: the report as JSON, and the files."""

from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router, Schema, Status

from surveys.api.problems import Refusal, not_found, refused
from surveys.api.schemas import Number, Text, batch_for, url_of
from surveys.api.security import Bearer, person
from surveys.enqueue import wanted
from surveys.models import Batch
from surveys.results.files.layouts import layouts_for
from surveys.results.files.pairs import LayoutError
from surveys.results.files.taking import EXPORT_RAW, filename, headers, layout_of, may_have, parts
from surveys.results.kept import report_key, state_of, version_of

router = Router(tags=["Results"])
FILE = {"content": {kind: {"schema": {"type": "string"}} for kind in ("text/csv", "application/jsonl")}}
FILE["content"]["application/json"] = {"schema": {"type": "object"}}


class ReportOut(Schema):
    """A batch's numbers as they were at `made_at`, with the keys of `summary.json`.

    Not `is_current`: answers have come since, or none was made before, and a new one is under way.
    """

    is_current: bool
    made_at: datetime | None
    percent: int
    error: str
    report: dict[str, Any] | None


class FileOut(Schema):
    """A file of a batch. Raw ones take the right to export them."""

    name: str
    label: str
    filename: str
    content_type: str
    is_raw: bool
    url: str


class Files(Schema):
    """The files of a batch that you may have."""

    results: list[FileOut]


@router.get(
    "/batches/{int:pk}/report", response={200: ReportOut, 202: ReportOut}, auth=Bearer("surveys.view_batch")
)
def read_report(request: HttpRequest, pk: Number) -> Status[ReportOut]:
    """Return the report; 202 while a worker makes a newer one. Nothing was handed in: `report` is null."""
    batch = _published(request, pk)
    state = state_of(batch)
    if not state["n"]:
        return Status(
            HTTPStatus.OK, ReportOut(is_current=True, made_at=None, percent=0, error="", report=None)
        )
    found = wanted(report_key(batch), version=version_of(state))
    report = ReportOut(
        is_current=found.is_current,
        made_at=found.made_at,
        percent=found.percent,
        error=found.error,
        report=found.value.as_data() if found.value else None,
    )
    return Status(HTTPStatus.OK if found.is_current else HTTPStatus.ACCEPTED, report)


@router.get("/batches/{int:pk}/files", response=Files, auth=Bearer("surveys.view_batch"))
def list_files(request: HttpRequest, pk: Number) -> Files:
    """List the files you may have of a published batch."""
    batch = _published(request, pk)
    return Files(
        results=[
            FileOut(
                name=name,
                label=layout.label,
                filename=filename(batch, layout),
                content_type=layout.content_type,
                is_raw=layout.is_raw,
                url=url_of(f"/api/v1/batches/{batch.pk}/files/{name}"),
            )
            for name, layout in layouts_for(batch).items()
            if may_have(person(request), layout)
        ]
    )


@router.get(
    "/batches/{int:pk}/files/{slug:name}",
    auth=Bearer("surveys.view_batch"),
    openapi_extra={"responses": {200: {"description": "The file", **FILE}}},
)
def read_file(request: HttpRequest, pk: Number, name: Text) -> StreamingHttpResponse:
    """Send one file while it is made, workers under pseudonyms."""
    batch = batch_for(request, pk)
    layout = layout_of(batch, name)
    if layout is None:
        raise not_found()
    if not may_have(person(request), layout):
        raise Refusal(HTTPStatus.FORBIDDEN, "not-allowed", f"This file is raw: it takes {EXPORT_RAW}.")
    try:
        layout.check(batch)
    except LayoutError as error:
        raise refused(str(error)) from None
    return StreamingHttpResponse(parts(batch, layout), headers=headers(batch, layout))


def _published(request: HttpRequest, pk: int) -> Batch:
    batch = batch_for(request, pk)
    if batch.status == Batch.Status.DRAFT:
        raise refused("A draft has no results.")
    return batch
