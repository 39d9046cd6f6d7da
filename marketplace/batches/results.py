"""A template batch as MTurk's batch results file.

Format: files downloaded from MTurk's requester site and published with OFA-X. UTF-8, CRLF between rows and none after
the last, every cell quoted, Pacific time, the header two cells longer than the rows (`Approve`, `Reject`).
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

from django.db.models import Count, Q, QuerySet

from marketplace.models import HIT, Assignment, Requester, TemplateBatch
from marketplace.money import ledger
from marketplace.questions import answer_documents

FIXED = [
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments",
    "RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration",
    "NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime",
    "SubmitTime", "AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback", "WorkTimeInSeconds",
    "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate",
]  # fmt: skip
REVIEW = ["Approve", "Reject"]
PACIFIC = ZoneInfo("America/Los_Angeles")
Status = Assignment.Status
SUBMITTED = (Status.SUBMITTED, Status.APPROVED, Status.REJECTED)
# A spreadsheet runs such cells as formulas (https://owasp.org/www-community/attacks/CSV_Injection).
FORMULA = ("=", "+", "-", "@", "\t", "\r")
SPANS = (None, 30, 7)  # days; None is ever
NEVER = ("0% (0/0)",) * len(SPANS)
CHUNK = 500


def lines(batch: TemplateBatch, *, now: datetime, for_spreadsheet: bool = False) -> Iterator[str]:
    """Yield the file's lines, rows in the order of the CSV.

    With `for_spreadsheet`, cells that would run as formulas get a leading apostrophe; MTurk's bytes are without.
    Columns `Answer.*` are sorted by name.
    """
    fields = _field_names(batch)
    inputs = [f"Input.{name}" for name in batch.columns]
    yield _line(FIXED + inputs + [f"Answer.{name}" for name in fields] + REVIEW, for_spreadsheet)
    known = rates(batch.requester, now=now)
    for row in _submitted(batch).iterator(chunk_size=CHUNK):
        given = answer_fields(row.answer)
        cells = _hit_cells(row.hit) + _work_cells(row) + list(known.get(row.worker_id, NEVER))
        cells += row.hit.batch_row.values + [given.get(name, "") for name in fields]
        yield "\r\n" + _line(cells, for_spreadsheet)


def _submitted(batch: TemplateBatch) -> QuerySet[Assignment]:
    rows = Assignment.objects.filter(hit__batch_row__batch=batch, status__in=SUBMITTED)
    return rows.select_related("worker", "hit__hit_type", "hit__batch_row").order_by(
        "hit__batch_row__number", "pk"
    )


def _field_names(batch: TemplateBatch) -> list[str]:
    documents = _submitted(batch).values_list("answer", flat=True).iterator(chunk_size=CHUNK)
    return sorted({name for document in documents for name in answer_fields(document)})


def answer_fields(document: str) -> dict[str, str]:
    """Return {field: text} of an answer document written by `answer_documents.document`."""
    root = ElementTree.fromstring(document)  # noqa: S314
    space = f"{{{answer_documents.NAMESPACE}}}"
    return {
        answer.findtext(f"{space}QuestionIdentifier", ""): answer.findtext(f"{space}FreeText", "")
        for answer in root.iter(f"{space}Answer")
    }


def _hit_cells(hit: HIT) -> list[str]:
    kind = hit.hit_type
    return [
        hit.hit_id, kind.type_id, kind.title, kind.description, kind.keywords,
        f"${ledger.dollars(kind.reward_cents)}", _time(hit.created_at), str(hit.max_assignments), hit.annotation,
        str(kind.duration_seconds), str(kind.auto_approval_seconds), _time(hit.expires_at), "", "",
    ]  # fmt: skip


def _work_cells(row: Assignment) -> list[str]:
    submitted_at = row.submitted_at or row.accepted_at
    approved_at = row.approved_at if row.status == Status.APPROVED else None
    rejected_at = row.rejected_at if row.status == Status.REJECTED else None
    return [
        row.assignment_id, row.worker.worker_id, row.status, _time(row.accepted_at), _time(submitted_at),
        _time(row.auto_approval_at), _time(approved_at), _time(rejected_at), row.feedback,
        str(int(submitted_at.timestamp()) - int(row.accepted_at.timestamp())),
    ]  # fmt: skip


def _time(moment: datetime | None) -> str:
    """Return MTurk's form of a time, `Tue Nov 08 08:45:27 PST 2022`."""
    return f"{moment.astimezone(PACIFIC):%a %b %d %H:%M:%S %Z %Y}" if moment else ""


def _line(cells: list[str], for_spreadsheet: bool) -> str:
    if for_spreadsheet:
        cells = [f"'{cell}" if cell.startswith(FORMULA) else cell for cell in cells]
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


def rates(requester: Requester, *, now: datetime) -> dict[int, tuple[str, ...]]:
    """Return {worker's key: (lifetime, last 30 days, last 7 days)}, each like `92% (109/119)`. One query."""
    counts: dict[str, Count] = {
        f"{status}_{days}": Count("pk", filter=_decided(status, days, now))
        for days in SPANS
        for status in ("approved", "rejected")
    }
    rows = Assignment.objects.filter(hit__requester=requester).order_by().values("worker").annotate(**counts)
    return {int(row["worker"]): tuple(_rate(row, days) for days in SPANS) for row in rows}


def _decided(status: str, days: int | None, now: datetime) -> Q:
    decided = Q(status=status.capitalize())
    if days is None:
        return decided
    return decided & Q((f"{status}_at__gte", now - timedelta(days=days)))


def _rate(row: Mapping[str, Any], days: int | None) -> str:
    approved = row[f"approved_{days}"]
    decided = approved + row[f"rejected_{days}"]
    percent = (200 * approved + decided) // (2 * decided) if decided else 0
    return f"{percent}% ({approved}/{decided})"
