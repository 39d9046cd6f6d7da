"""A batch as MTurk's batch results CSV: the bytes its download has, so that scripts made for it read ours.

Format: OFA-X's published raw files. UTF-8, CRLF between rows and none after the last, every cell quoted, Pacific
time, the header two cells longer than the rows (`Approve`, `Reject`). Explanation 1 is the model's and
explanation 2 the ground truth, wherever they were shown. In the place of worker ids stand pseudonyms, unless the ids
are asked for. Cells are not altered against formula injection: the format's readers must find what was there.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from annotators.models import HIT, SUBMITTED, Assignment, Worker
from annotators.people.pseudonyms import without_id
from surveys.models import Batch, Output, Rating, Response
from surveys.protocols.definition import UNSEEN, Definition
from surveys.results.files.input_sheet import InputPart, InputSheet, Question
from surveys.results.files.pairs import require_pairs
from surveys.results.frames.base import PREFERRED, SELECTED
from surveys.results.frames.pseudonyms import Pseudonyms, names_for_raw
from surveys.studies.planted_checks import COLUMN as PLANTED

AT_ONCE = 500  # assignments
ROWS = 10_000  # fetched at a time


@dataclass(frozen=True, slots=True)
class Rate:
    """`approved` of `decided` assignments."""

    approved: int = 0
    decided: int = 0

    def __str__(self) -> str:
        """Return `92% (109/119)`, percent rounded to the nearest; `0% (0/0)` where nothing is decided."""
        percent = (200 * self.approved + self.decided) // (2 * self.decided) if self.decided else 0
        return f"{percent}% ({self.approved}/{self.decided})"


@dataclass(frozen=True, slots=True)
class ApprovalRates:
    lifetime: Rate = field(default_factory=Rate)
    last_30_days: Rate = field(default_factory=Rate)
    last_7_days: Rate = field(default_factory=Rate)


def approval_rates(endpoint: str) -> dict[str, ApprovalRates]:
    """Return every worker's rates with us on one endpoint, as of now, in one query."""
    now = timezone.now()
    counts = {
        name: condition
        for days, since in ((0, None), (30, now - timedelta(days=30)), (7, now - timedelta(days=7)))
        for name, condition in (
            (f"approved_{days}", _decided("Approved", "approved_at", since)),
            (f"rejected_{days}", _decided("Rejected", "rejected_at", since)),
        )
    }
    rows = (
        Assignment.objects.filter(worker__source=endpoint)
        .order_by()
        .values("worker__worker_id")
        .annotate(**{name: Count("pk", filter=condition) for name, condition in counts.items()})
    )
    return {
        row["worker__worker_id"]: ApprovalRates(*(_rate(row, days) for days in (0, 30, 7))) for row in rows
    }


def _decided(status: str, time_field: str, since: object) -> Q:
    condition = Q(status=status)
    return condition & Q(**{f"{time_field}__gte": since}) if since else condition


def _rate(row: Mapping[str, Any], days: int) -> Rate:
    approved = row[f"approved_{days}"]
    return Rate(approved, approved + row[f"rejected_{days}"])


ANSWER, RELATIONSHIP = "answer", "image_statement_relationship"
JUSTIFIES = ("no", "weak_no", "weak_yes", "yes")
OPTIONS = ("confusing_sentence", "incorrect_description", "insufficient_justification")
SIDES = (1, 2)


CRITERIA = ("justifies", "preference", *(f"shortcomings.{option}" for option in OPTIONS))
NONE = -1  # the primary key of an output that an item does not have
NOTHING = (None,) * len(CRITERIA)  # is said of it
# By the database, which reads five rows for one: a value for each of CRITERIA.
SAID = {f"said_{n}": Max("value", filter=Q(criterion=name)) for n, name in enumerate(CRITERIA)}
ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
Given = Mapping[int | None, tuple[str | None, ...]]  # of each output


class TaskAnswers:
    """What was answered in some assignments, as compact JSON with sorted keys: a list holding one object.

    The texts of its members are put together here, and those that many answers share are made once. They sort as their
    keys do: no key holds a character below the quote that ends it.
    """

    def __init__(self, part: InputPart, *, systems: Sequence[str]) -> None:
        question = part.definition.answer
        self._part = part
        self._field = RELATIONSHIP if question and question.choices else ANSWER
        self._sides = {
            pk: _sides(question, part.definition, systems) for pk, question in part.questions.items()
        }
        self._members: dict[int, dict[int, list[str]]] = defaultdict(dict)
        self._shared: dict[tuple[int, str, str], tuple[str, str]] = {}

    def read(self, assignments: Sequence[int]) -> None:
        """Add what was answered in these assignments; two queries."""
        ratings: dict[int, dict[int | None, tuple[str | None, ...]]] = defaultdict(dict)
        given = Rating.objects.filter(response__assignment__in=assignments, criterion__in=CRITERIA).order_by()
        by_output = given.values("response", "output").annotate(**SAID)
        for response, output, *said in by_output.values_list("response", "output", *SAID).iterator(ROWS):
            ratings[response][output] = tuple(said)
        rows = _counted().filter(assignment__in=assignments).order_by("assignment", "position")
        for pk, assignment, item, position, answer in rows.values_list(
            "pk", "assignment__pk", "item__pk", "position", "answer"
        ):
            members = self._task(item, f"task{position}", answer, ratings[pk])
            self._members[assignment][position] = members

    def cell(self, assignment: int, *, comment: str) -> str | None:
        """Return the cell of an assignment; None where nothing of it counts."""
        if assignment not in self._members:
            return None
        members = [member for task in self._members[assignment].values() for member in task]
        members += [_member("feedback", comment)] if comment else []
        return f"[{{{','.join(sorted(members))}}}]"

    def _task(self, item: int, task: str, answer: str, ratings: Given) -> list[str]:
        said = [ratings.get(output, NOTHING) for output in self._sides[item]]
        return [
            *self._about(item, task, answer),
            *(_ratings(task, side, of_side) for side, of_side in zip(SIDES, said, strict=True)),
            _preference(task, *(of_side[1] for of_side in said)),
        ]

    def _about(self, item: int, task: str, answer: str) -> tuple[str, str]:
        """Return the members that all share who gave this answer there."""
        key = (item, task, answer)
        if key not in self._shared:
            options = self._part.options[item].items()
            chosen = {option: bool(answer) and value == answer for value, option in options}
            subject = self._part.questions[item].item.subject
            self._shared[key] = (
                _member(f"{task}_{self._field}", chosen),
                _member(f"{task}_image_id", subject),
            )
        return self._shared[key]


def _sides(question: Question, definition: Definition, systems: Sequence[str]) -> list[int]:
    """Return the outputs that explanation 1 and 2 are: where models differ by item, 1 is the item's own."""
    outputs = {output.system: output.pk for output in question.outputs}
    models = [system for system in systems if system != definition.reference_system]
    ours = next((system for system in reversed(models) if system in outputs), models[0])
    shown = (ours, definition.reference_system)
    return [outputs.get(system, NONE) for system in shown]


def _member(key: str, value: Any) -> str:
    return f"{ENCODER.encode(key)}:{ENCODER.encode(value)}"


@lru_cache(4096)
def _ratings(task: str, side: int, said: tuple[str | None, ...]) -> str:
    """Return the members about one explanation; `said`: a value for each of CRITERIA, None where nothing was said."""
    justifies, _, *shortcomings = said
    key = f"{task}_explanation{side}"
    return ",".join(
        [
            _member(
                f"{key}_explanation_justifies_answer", {value: justifies == value for value in JUSTIFIES}
            ),
            *(
                _member(f"{key}_shortcomings_{option}", {"selected": value == SELECTED})
                for option, value in zip(OPTIONS, shortcomings, strict=True)
            ),
        ]
    )


@lru_cache(4096)
def _preference(task: str, *said: str | None) -> str:
    preferred = {f"expl_{side}": value == PREFERRED for side, value in zip(SIDES, said, strict=True)}
    is_given = any(value is not None for value in said)
    return _member(
        f"{task}_preference", {**preferred, "no_preference": is_given and not any(preferred.values())}
    )


def _counted() -> QuerySet[Response]:
    """Return the responses of whoever submitted them; planted checks are no part of it.

    Not what could not be seen: these files have a place for a question that was not shown, and none for one that was
    not judged. A response's batch is its assignment's: to ask for it too would have the database read all of it.
    """
    # A sum: by the index of workers SQLite would read all that somebody has answered, for each of their assignments.
    authored = Response.objects.alias(author=F("worker_id") + 0).filter(author=F("assignment__worker_id"))
    return authored.exclude(skip_reason__in=UNSEEN).exclude(item__payload__has_key=PLANTED)


FIXED = (
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments",
    "RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration",
    "NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime",
    "SubmitTime", "AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback", "WorkTimeInSeconds",
    "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate",
)  # fmt: skip
COLUMN = "Answer.taskAnswers"
REVIEW = ("Approve", "Reject")
OF_ASSIGNMENT = (
    "hit", "worker", "assignment_id", "status", "accepted_at", "submitted_at", "auto_approval_at", "approved_at",
    "rejected_at", "feedback", "comment",
)  # fmt: skip
PACIFIC = ZoneInfo("America/Los_Angeles")


def raw_lines(batch: Batch, *, worker_ids: bool = False) -> Iterator[str]:
    """Return the file's lines: HIT by HIT as published, then as work came in; AT_ONCE assignments are held at a time.

    Raises LayoutError, before the first line, for a survey type whose questions MTurk's file has no place for.
    """
    return _lines(batch, systems=paired_systems(batch), names=names_for_raw(worker_ids=worker_ids))


def paired_systems(batch: Batch) -> list[str]:
    """Return the systems a batch shows; LayoutError where the published layouts have no place for them."""
    shown = Output.objects.filter(item__slots__questionnaire__batch=batch).order_by("system")
    systems = list(shown.values_list("system", flat=True).distinct())
    require_pairs(batch.definition, systems=systems)
    return systems


def count_raw(batch: Batch) -> int:
    """Return how many rows the file has under its header."""
    return _assignments(batch).filter(Exists(_counted().filter(assignment=OuterRef("pk")))).count()


def _lines(batch: Batch, *, systems: Sequence[str], names: Pseudonyms) -> Iterator[str]:
    sheet = InputSheet(batch)
    yield _line([*FIXED, *(f"Input.{name}" for name in sheet.header), COLUMN, *REVIEW])
    rates = approval_rates(batch.endpoint)
    keys = list(_assignments(batch).values_list("pk", flat=True))
    for start in range(0, len(keys), AT_ONCE):
        part = keys[start : start + AT_ONCE]
        yield from _part(batch, part, sheet=sheet, systems=systems, names=names, rates=rates)


def _part(
    batch: Batch,
    keys: Sequence[int],
    *,
    sheet: InputSheet,
    systems: Sequence[str],
    names: Pseudonyms,
    rates: Mapping[str, ApprovalRates],
) -> Iterator[str]:
    assignments = _read(keys)
    inputs = sheet.part({assignment.hit_id for assignment in assignments}, assignments=keys)
    answers = TaskAnswers(inputs, systems=systems)
    answers.read(keys)
    hits: dict[tuple[int, tuple[int, ...]], tuple[str, str]] = {}
    for assignment in assignments:
        worker_id = assignment.worker.worker_id
        comment = _unnamed(assignment.comment, assignment, worker=names(worker_id))
        cell = answers.cell(assignment.pk, comment=comment)
        if cell is None:
            continue
        again = inputs.repeats.get(assignment.pk, ())
        if (assignment.hit_id, again) not in hits:
            hits[assignment.hit_id, again] = (
                _line(_hit_cells(assignment, batch=batch)),
                _line(inputs.cells(assignment.hit_id, again=again)),
            )
        terms, shown = hits[assignment.hit_id, again]
        own = _assignment_cells(assignment, worker=names(worker_id))
        own += _rate_cells(rates.get(worker_id, ApprovalRates()))
        yield "\r\n" + ",".join(filter(None, (terms, _line(own), shown, _line([cell]))))


def _read(keys: Sequence[int]) -> list[Assignment]:
    """Return some assignments in the order of the file, with what many of them share read once."""
    found = Assignment.objects.only(*OF_ASSIGNMENT).in_bulk(keys)
    assignments = [found[key] for key in keys if key in found]
    hits = HIT.objects.select_related("hit_type").in_bulk({a.hit_id for a in assignments})
    workers = Worker.objects.in_bulk({a.worker_id for a in assignments})
    for assignment in assignments:
        assignment.hit, assignment.worker = hits[assignment.hit_id], workers[assignment.worker_id]
    return assignments


def _assignments(batch: Batch) -> QuerySet[Assignment]:
    submitted = Assignment.objects.filter(hit__questionnaire__batch=batch, status__in=SUBMITTED)
    return submitted.order_by("hit__questionnaire__position", "submitted_at", "pk")


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
    return text if is_named or not text else without_id(text, worker=assignment.worker)


def _auto_approval(assignment: Assignment) -> datetime | None:
    if assignment.auto_approval_at or not assignment.submitted_at:
        return assignment.auto_approval_at
    return assignment.submitted_at + assignment.hit.hit_type.auto_approval_delay


def _rate_cells(rates: ApprovalRates) -> list[str]:
    return [str(rates.lifetime), str(rates.last_30_days), str(rates.last_7_days)]


def _time(moment: datetime | None) -> str:
    """Return MTurk's form of a time, `Tue Nov 08 08:45:27 PST 2022`."""
    if not moment:
        return ""
    here = moment.astimezone(PACIFIC)
    time = f"{here.hour:02}:{here.minute:02}:{here.second:02}"
    return f"{_day(here.date())} {time} {here.tzname()} {here.year}"


@lru_cache
def _day(day: date) -> str:
    return f"{day:%a %b %d}"


def _line(cells: list[str]) -> str:
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
