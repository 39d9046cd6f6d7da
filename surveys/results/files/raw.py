"""A batch as MTurk's batch results CSV: the bytes its download has, so that scripts made for it read ours.

Format: OFA-X's published raw files. UTF-8, CRLF between rows and none after the last, every cell quoted, Pacific
time, the header two cells longer than the rows (`Approve`, `Reject`). Explanation 1 is the model's and
explanation 2 the ground truth, wherever they were shown. In the place of worker ids stand pseudonyms, unless the ids
are asked for. Cells are not altered against formula injection: the format's readers must find what was there.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import IO, Any
from zoneinfo import ZoneInfo

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotators.models import Assignment
from annotators.people.pseudonyms import without_id
from surveys.models import Batch, Item, QuestionnaireItem
from surveys.protocols.definition import Definition
from surveys.results.files.pairs import Pairs, require_pairs
from surveys.results.frames.base import PREFERRED, SELECTED, Frame
from surveys.results.frames.database import SUBMITTED, read_batch
from surveys.results.frames.pseudonyms import Pseudonyms, names_for_raw


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


SLOTTED = re.compile(r"(.+)_(0|[1-9][0-9]{0,3})")
OPTION_COLUMN = re.compile(r"answer|other_answer[0-9]+")
DISTRACTOR = "other_answer{n}"


@dataclass(frozen=True, slots=True)
class Columns:
    """One item's cells by base name, the rest of its row, and the header they came under."""

    header: tuple[str, ...]
    cells: dict[str, str]
    row: dict[str, str]


class InputSheet:
    """The input file of a batch, as the researcher uploaded it or as OFA-X would have written it."""

    def __init__(self, batch: Batch) -> None:
        definition = batch.definition
        slots = QuestionnaireItem.objects.filter(questionnaire__batch=batch, questionnaire__hit__isnull=False)
        slots = slots.select_related("item", "questionnaire").order_by("questionnaire__position", "position")
        items = (
            Item.objects.filter(slots__questionnaire__batch=batch)
            .distinct()
            .prefetch_related("outputs", "pictures")
        )
        self._items = {item.pk: item for item in items}
        self._slots: dict[int, list[int]] = defaultdict(list)
        for slot in slots:
            self._slots[slot.questionnaire.hit_id or 0].append(slot.item_id)
        self._columns = {pk: _columns(item, definition=definition) for pk, item in self._items.items()}
        self.options = {
            item.subject: _options(item, self._columns[item.pk].cells, definition=definition)
            for item in self._items.values()
        }

    @cached_property
    def header(self) -> list[str]:
        """Return the columns' names without `Input.`, in the order of the uploaded file(s)."""
        n = max((len(items) for items in self._slots.values()), default=0)
        names: dict[str, None] = {}
        for columns in self._columns.values():
            names |= dict.fromkeys(_widened(columns.header, n=n))
        return list(names)

    def cells(self, hit: int) -> list[str]:
        """Return the row of a HIT, given by primary key; a slot that this HIT lacks is blank."""
        columns = [self._columns[item] for item in self._slots[hit]]
        found = dict(columns[0].row) if _one_row(columns) else {}
        for slot, item in enumerate(columns):
            found |= {f"{name}_{slot}": text for name, text in item.cells.items()}
        return [found.get(name, "") for name in self.header]


def _one_row(columns: list[Columns]) -> bool:
    return bool(columns) and all(item.row == columns[0].row for item in columns)


def _widened(header: tuple[str, ...], *, n: int) -> list[str]:
    """Return the header as it is if it has `n` slots, else every slotted name with `n` of them."""
    parts = {name: match for name in header if (match := SLOTTED.fullmatch(name))}
    slots = {match[2] for match in parts.values() if match[1] == "id"}
    if len(slots) == n:
        return list(header)
    names: dict[str, None] = {}
    for name in header:
        match = parts.get(name)
        if match and match[2] in slots:
            names |= dict.fromkeys(f"{match[1]}_{slot}" for slot in range(n))
        else:
            names[name] = None
    return list(names)


def _columns(item: Item, *, definition: Definition) -> Columns:
    payload: dict[str, Any] = item.payload
    if payload.get("header"):
        return Columns(tuple(payload["header"]), payload["columns"], payload.get("row", {}))
    cells = _as_ofax(item, definition=definition)
    return Columns(tuple(f"{name}_0" for name in cells), cells, {})


def _as_ofax(item: Item, *, definition: Definition) -> dict[str, str]:
    outputs = {output.system: output for output in item.outputs.all()}
    reference = outputs.pop(definition.reference_system, None)
    model = next(iter(outputs.values()), None)
    others = [choice.value for choice in item.choices_for(definition) if choice.value != item.gold]
    return {
        "id": item.subject,
        definition.question_label.lower(): str(item.payload.get("question", "")),
        "answer": item.gold,
        "output_answer": model.answer if model else "",
        "output_explanation": model.text if model else "",
        "explanation": reference.text if reference else "",
        **{DISTRACTOR.format(n=n): value for n, value in enumerate(others, start=1)},
        "img_name": next((picture.name for picture in item.pictures.all()), ""),
    }


def _options(item: Item, cells: dict[str, str], *, definition: Definition) -> dict[str, str]:
    """Return {stored answer: option as the file spells it}: cells may have spaces that the import trimmed."""
    spelled = {text.strip(): text for name, text in cells.items() if OPTION_COLUMN.fullmatch(name)}
    values = [choice.value for choice in item.choices_for(definition)]
    return {value: spelled.get(value, value) for value in values}


ANSWER, RELATIONSHIP = "answer", "image_statement_relationship"
JUSTIFIES = ("no", "weak_no", "weak_yes", "yes")
OPTIONS = ("confusing_sentence", "incorrect_description", "insufficient_justification")
SIDES = (1, 2)


@dataclass(frozen=True, slots=True)
class TaskAnswers:
    """All answers of one assignment, keys as the form named them."""

    data: dict[str, Any] = field(default_factory=dict)

    def as_cell(self, *, comment: str = "") -> str:
        """Return compact JSON with sorted keys: a list holding one object."""
        data = {**self.data, "feedback": comment} if comment else self.data
        return json.dumps([data], sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def task_answers(
    frame: Frame, *, choices: Mapping[str, Mapping[str, str]]
) -> dict[tuple[str, str], TaskAnswers]:
    """Return the answers by (assignment id, worker pseudonym).

    `choices`: {item id: {stored answer: option as the file spells it}}.
    """
    found: dict[tuple[str, str], TaskAnswers] = {}
    question = frame.definition.answer
    field_name = RELATIONSHIP if question and question.choices else ANSWER
    for row in _plain_rows(frame):
        answers = found.setdefault((row["assignment_id"], row["worker"]), TaskAnswers())
        task = f"task{row['position']}"
        spelled = choices[row["item_id"]]
        answers.data[f"{task}_{field_name}"] = {
            option: value == row["answer"] for value, option in spelled.items()
        }
        answers.data[f"{task}_image_id"] = row["item_id"]
        answers.data[f"{task}_preference"] = _preference(row)
        for side in SIDES:
            answers.data.update(
                {f"{task}_explanation{side}_{key}": given for key, given in _ratings(row, side).items()}
            )
    return found


def _plain_rows(frame: Frame) -> list[dict[str, Any]]:
    """Return rows as dicts with the ratings under (side, criterion); a blank is None."""
    pairs = Pairs(frame, frame.responses)
    names = ("justifies", "preference", *(f"shortcomings.{option}" for option in OPTIONS))
    sides = {1: pairs.ours, 2: pairs.gt}
    columns: dict[Any, Any] = {
        name: frame.responses[name] for name in ("assignment_id", "worker", "item_id", "position", "answer")
    }
    columns |= {(side, name): get(name) for side, get in sides.items() for name in names}
    lists = {
        name: values.astype(object).where(values.notna(), None).tolist() for name, values in columns.items()
    }
    return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]


def _preference(row: Mapping[Any, Any]) -> dict[str, bool]:
    preferred = {f"expl_{side}": row[(side, "preference")] == PREFERRED for side in SIDES}
    is_given = any(row[(side, "preference")] is not None for side in SIDES)
    return {**preferred, "no_preference": is_given and not any(preferred.values())}


def _ratings(row: Mapping[Any, Any], side: int) -> dict[str, dict[str, bool]]:
    return {
        "explanation_justifies_answer": {value: row[(side, "justifies")] == value for value in JUSTIFIES},
        **{
            f"shortcomings_{option}": {"selected": row[(side, f"shortcomings.{option}")] == SELECTED}
            for option in OPTIONS
        },
    }


FIXED = (
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments",
    "RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration",
    "NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime",
    "SubmitTime", "AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback", "WorkTimeInSeconds",
    "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate",
)  # fmt: skip
COLUMN = "Answer.taskAnswers"
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
    stream.write(_line([*FIXED, *(f"Input.{name}" for name in sheet.header), COLUMN, *REVIEW]))
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
