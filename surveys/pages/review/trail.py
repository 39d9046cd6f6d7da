"""The audit trail of a batch, as a page and as a file. Workers are called by their pseudonyms."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotators.crowds.base import crowd_of
from annotators.models import Assignment, Call
from annotators.people.pseudonyms import without_id
from surveys import audit
from surveys.models import AuditEntry, Batch, Replacement
from surveys.pages.access import batch_for, researcher
from surveys.results.files.csv_text import safe_text
from surveys.results.frames.pseudonyms import Pseudonyms


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, who says so, and details a person may want to read."""

    at: datetime
    what: str
    source: str
    details: str = ""


def timeline(assignment: Assignment) -> list[Event]:
    """Return all that is known about an assignment: our facts, the marketplace's, the audit trail, and our calls."""
    events = [*_work(assignment), *_decided(assignment), *_calls(assignment), *_replaced(assignment)]
    return sorted(events, key=lambda event: event.at)


def _work(assignment: Assignment) -> Iterator[Event]:
    ours = "our page"
    theirs = "marketplace" if crowd_of(assignment).has_market else "this server"
    facts = [
        (assignment.accepted_at, "Begun", theirs),
        (assignment.loaded_at, "First opened", ours),
        (assignment.saved_at, "Answers complete and saved", ours),
        (assignment.submitted_at, "Submitted", theirs),
        (assignment.approved_at, "Approved", theirs),
        (assignment.rejected_at, "Rejected", theirs),
    ]
    for at, what, source in facts:
        if at:
            yield Event(at, what, source)


def _decided(assignment: Assignment) -> Iterator[Event]:
    for entry in assignment.audit_entries.select_related("actor"):
        outcome = audit.in_words(entry.outcome)
        version = f"Rule {entry.rule_version}." if entry.rule_version else ""
        details = " ".join(part for part in (entry.reason, version) if part)
        yield Event(entry.at, f"{entry.get_kind_display()}: {outcome}", entry.by_whom, details)


def _calls(assignment: Assignment) -> Iterator[Event]:
    for call in Call.objects.filter(assignment=assignment):
        yield Event(
            call.finished_at or call.sent_at or call.created_at,
            f"Call {call.get_operation_display()}: {call.get_state_display()}",
            "outbox",
            call.error,
        )


def _replaced(assignment: Assignment) -> Iterator[Event]:
    for replacement in Replacement.objects.filter(replaces=assignment):
        if replacement.opened_at:
            yield Event(replacement.opened_at, "Replacement opened", "outbox")
        else:
            yield Event(replacement.created_at, "Replacement planned", "outbox")


PER_PAGE = 15  # with reasons of four lines, within 2,500 pixels
VIEW = ("surveys.view_batch", "surveys.view_auditentry")
COLUMNS = ("time", "about", "outcome", "by", "rule_version", "reason", "worker", "assignment", "details")


class Line:
    """What a file's writer writes to: hands back the line instead."""

    def write(self, text: str) -> str:
        return text


@never_cache
@require_safe
@researcher(*VIEW)
def batch_trail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what was decided about a batch and the work in it, the newest first."""
    batch = batch_for(request, pk)
    kind = request.GET.get("kind", "")
    wanted = kind if kind in AuditEntry.Kind.values else ""
    page = Paginator(_trail(batch, kind=wanted), PER_PAGE).get_page(request.GET.get("page", "1"))
    name = Pseudonyms()
    context = {
        **admin.site.each_context(request),
        "title": f"Audit trail of {batch}",
        "batch": batch,
        "page": page,
        "rows": [(entry, name(entry.worker.worker_id) if entry.worker else "") for entry in page],
        "kinds": AuditEntry.Kind.choices,
        "kind": wanted,
        "query": f"kind={wanted}&" if wanted else "",
    }
    return render(request, "review/trail.html", context)


@never_cache
@require_safe
@researcher(*VIEW)
def batch_trail_csv(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Send the whole trail of a batch, the oldest first."""
    batch = batch_for(request, pk)
    response = StreamingHttpResponse(_lines(batch), content_type="text/csv; charset=utf-8")
    name = f"{slugify(batch.name) or batch.pk}-audit.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _trail(batch: Batch, *, kind: str = "") -> QuerySet[AuditEntry]:
    entries = AuditEntry.objects.filter(batch=batch).select_related("actor", "worker")
    return entries.filter(kind=kind) if kind else entries


def _lines(batch: Batch) -> Iterator[str]:
    writer = csv.writer(Line(), lineterminator="\n")
    name = Pseudonyms()
    yield writer.writerow(COLUMNS)
    for entry in _trail(batch).order_by("at", "pk").iterator():
        yield writer.writerow(_row(entry, name))


def _row(entry: AuditEntry, name: Pseudonyms) -> list[Any]:
    reason = without_id(entry.reason, worker=entry.worker) if entry.worker else entry.reason
    details = "; ".join(f"{key}: {value}" for key, value in sorted(entry.details.items()))
    texts = [
        entry.at.isoformat(timespec="seconds"),
        entry.kind,
        entry.outcome,
        entry.by_whom,
        entry.rule_version,
        reason,
        name(entry.worker.worker_id) if entry.worker else "",
    ]
    return [*map(safe_text, texts), entry.assignment_id or "", safe_text(details)]
