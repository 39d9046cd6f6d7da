"""A batch as MTurk's batch results CSV: the bytes its download has, so that scripts made for it read ours.

Format: OFA-X's published raw files. UTF-8, CRLF between rows and none after the last, every cell quoted, Pacific
time, the header two cells longer than the rows (`Approve`, `Reject`). Explanation 1 is the model's and
explanation 2 the ground truth, wherever they were shown. In the place of worker ids stand pseudonyms, unless the ids
are asked for. Cells are not altered against formula injection: the format's readers must find what was there.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import IO
from zoneinfo import ZoneInfo

from django.db.models import QuerySet

from annotators.models import Assignment
from annotators.people.pseudonyms import without_id
from surveys.models import Batch
from surveys.results.files.approval import ApprovalRates, approval_rates
from surveys.results.files.inputs import InputSheet
from surveys.results.files.pairs import require_pairs
from surveys.results.files.task_answers import task_answers
from surveys.results.frames.base import Frame
from surveys.results.frames.database import SUBMITTED, read_batch
from surveys.results.frames.pseudonyms import Pseudonyms, names_for_raw

FIXED = (
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments",
    "RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration",
    "NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime",
    "SubmitTime", "AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback", "WorkTimeInSeconds",
    "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate",
)  # fmt: skip
ANSWER = "Answer.taskAnswers"
REVIEW = ("Approve", "Reject")
PACIFIC = ZoneInfo("America/Los_Angeles")


def write_raw(batch: Batch, stream: IO[str], *, worker_ids: bool = False) -> None:
    """Write every submitted assignment of a batch; `stream` must be opened with newline="".

    Raises LayoutError for a survey type whose questions MTurk's file has no place for.
    """
    names = names_for_raw(worker_ids=worker_ids)
    frame = read_batch(batch, pseudonyms=names)
    require_pairs(frame)
    sheet = InputSheet(batch)
    stream.write(_line([*FIXED, *(f"Input.{name}" for name in sheet.header), ANSWER, *REVIEW]))
    for cells in _rows(batch, frame=frame, sheet=sheet, names=names):
        stream.write("\r\n" + _line(cells))


def _rows(batch: Batch, *, frame: Frame, sheet: InputSheet, names: Pseudonyms) -> Iterator[list[str]]:
    answers = task_answers(frame, choices=sheet.options)
    rates = approval_rates(batch.endpoint)
    for assignment in _assignments(batch):
        worker_id = assignment.worker.worker_id
        given = answers.get((assignment.assignment_id, names(worker_id)))
        if given is not None:
            yield [
                *_hit_cells(assignment, batch=batch),
                *_assignment_cells(assignment, worker=names(worker_id)),
                *_rate_cells(rates.get(worker_id, ApprovalRates())),
                *sheet.cells(assignment.hit_id),
                given.as_cell(comment=_unnamed(assignment.comment, assignment, worker=names(worker_id))),
            ]


def _assignments(batch: Batch) -> QuerySet[Assignment]:
    return (
        Assignment.objects.filter(hit__questionnaire__batch=batch, status__in=SUBMITTED)
        .select_related("hit__hit_type", "worker")
        .order_by("hit__questionnaire__position", "submitted_at", "pk")
    )


def _hit_cells(assignment: Assignment, *, batch: Batch) -> list[str]:
    hit, terms = assignment.hit, assignment.hit.hit_type
    return [
        hit.hit_id,
        terms.hit_type_id,
        terms.title,
        terms.description,
        terms.keywords,
        f"${terms.reward:.2f}",
        _time(hit.created_at),
        str(hit.max_assignments),
        f"BatchId:{batch.pk};OriginalHitTemplateId:{batch.survey_id};",
        str(int(terms.assignment_duration.total_seconds())),
        str(int(terms.auto_approval_delay.total_seconds())),
        _time(hit.expires_at),
        "",
        "",
    ]


def _assignment_cells(assignment: Assignment, *, worker: str) -> list[str]:
    status = Assignment.Status(assignment.status)
    is_decided = status != Assignment.Status.SUBMITTED
    work_seconds = assignment.work_seconds
    return [
        assignment.assignment_id,
        worker,
        status,
        _time(assignment.accepted_at),
        _time(assignment.submitted_at),
        _time(_auto_approval(assignment)),
        _time(assignment.approved_at if status == Assignment.Status.APPROVED else None),
        _time(assignment.rejected_at if status == Assignment.Status.REJECTED else None),
        _unnamed(assignment.feedback, assignment, worker=worker) if is_decided else "",
        "" if work_seconds is None else str(work_seconds),
    ]


def _unnamed(text: str, assignment: Assignment, *, worker: str) -> str:
    """Return what was typed, without the worker's id where the file calls them otherwise."""
    is_named = worker == assignment.worker.worker_id
    return text if is_named else without_id(text, worker=assignment.worker)


def _auto_approval(assignment: Assignment) -> datetime | None:
    if assignment.auto_approval_at or not assignment.submitted_at:
        return assignment.auto_approval_at
    return assignment.submitted_at + assignment.hit.hit_type.auto_approval_delay


def _rate_cells(rates: ApprovalRates) -> list[str]:
    return [str(rates.lifetime), str(rates.last_30_days), str(rates.last_7_days)]


def _time(moment: datetime | None) -> str:
    """Return MTurk's form of a time, `Tue Nov 08 08:45:27 PST 2022`."""
    return f"{moment.astimezone(PACIFIC):%a %b %d %H:%M:%S %Z %Y}" if moment else ""


def _line(cells: list[str]) -> str:
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
