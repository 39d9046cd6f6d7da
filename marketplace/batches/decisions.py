"""Approving and rejecting by the results file, its columns `Approve` and `Reject` filled in."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from marketplace.batches import tables
from marketplace.batches.tables import BadTable
from marketplace.engine import assignments, deadlines
from marketplace.models import LIVE, Assignment, TemplateBatch
from marketplace.refusals import Refusal

NEEDED = ("AssignmentId", "Approve", "Reject")
LONGEST_FEEDBACK = 1024
MOST_DECISIONS = 5_000
Status = Assignment.Status


@dataclass(frozen=True)
class Decision:
    """What row `number` of the file says; `feedback` is the reason of a rejection."""

    number: int
    assignment_id: str
    is_approval: bool
    feedback: str

    @property
    def status(self) -> str:
        return Status.APPROVED if self.is_approval else Status.REJECTED


@dataclass(frozen=True)
class Outcome:
    """How many assignments changed, and how many already were as the file says."""

    approved: int
    rejected: int
    unchanged: int


def read(raw: bytes) -> list[Decision]:
    """Read the decisions of a file: any text in Approve approves, the text in Reject is the reason. Raises BadTable."""
    table = tables.read(raw, may_be_short=True, most_rows=MOST_DECISIONS)
    missing = [f"The file has no column “{name}”." for name in NEEDED if name not in table.columns]
    if missing:
        raise BadTable(missing)
    places = [table.columns.index(name) for name in NEEDED]
    decisions, problems = [], []
    for number, row in enumerate(table.rows, start=1):
        assignment_id, approve, reject = (row[place].strip() for place in places)
        problems += _row_problems(number, assignment_id, approve, reject)
        if approve or reject:
            decisions.append(Decision(number, assignment_id, bool(approve), reject))
    problems += _repeated(decisions)
    if problems or not decisions:
        raise BadTable(problems or ["No row has anything in “Approve” or “Reject”."])
    return decisions


def _row_problems(number: int, assignment_id: str, approve: str, reject: str) -> list[str]:
    if approve and reject:
        return [f"Row {number} approves and rejects the same assignment."]
    if (approve or reject) and not assignment_id:
        return [f"Row {number} names no AssignmentId."]
    if len(reject) > LONGEST_FEEDBACK:
        return [f"Row {number}: the reason is longer than {LONGEST_FEEDBACK} characters."]
    return []


def _repeated(decisions: list[Decision]) -> list[str]:
    seen: dict[str, int] = {}
    problems = []
    for decision in decisions:
        if first := seen.setdefault(decision.assignment_id, decision.number) - decision.number:
            problems.append(
                f"Row {decision.number} decides on the same assignment as row {decision.number + first}."
            )
    return problems


def carry_out(batch: TemplateBatch, *, decisions: list[Decision], now: datetime) -> Outcome:
    """Approve and reject everything, or nothing. Raises BadTable.

    `Approve` on rejected work reverses the rejection, within the 30 days MTurk allows.
    """
    deadlines.sweep(now=now)
    with transaction.atomic():
        rows = _rows(batch, decisions)
        problems = [text for decision in decisions for text in _obstacle(decision, rows)]
        if problems:
            raise BadTable(problems)
        new = [decision for decision in decisions if rows[decision.assignment_id].status != decision.status]
        # HITs are locked in one order, so that two uploads at once don't wait for each other.
        for decision in sorted(new, key=lambda each: rows[each.assignment_id].hit_id):
            _decide(decision, rows[decision.assignment_id], now=now)
    approved = sum(decision.is_approval for decision in new)
    return Outcome(approved, len(new) - approved, len(decisions) - len(new))


def _rows(batch: TemplateBatch, decisions: list[Decision]) -> dict[str, Assignment]:
    wanted = [decision.assignment_id for decision in decisions]
    rows = Assignment.objects.filter(hit__batch_row__batch=batch, status__in=LIVE, assignment_id__in=wanted)
    return {row.assignment_id: row for row in rows}


def _obstacle(decision: Decision, rows: dict[str, Assignment]) -> list[str]:
    row = rows.get(decision.assignment_id)
    if row is None:
        return [f"Row {decision.number}: this batch has no assignment {decision.assignment_id}."]
    if row.status == Status.OPEN:
        return [f"Row {decision.number}: the assignment is not submitted yet."]
    if row.status == Status.APPROVED and not decision.is_approval:
        return [f"Row {decision.number}: the assignment was approved already and stays so."]
    return []


def _decide(decision: Decision, row: Assignment, *, now: datetime) -> None:
    try:
        if decision.is_approval:
            assignments.approve(row, now=now, override=True)
        else:
            assignments.reject(row, now=now, feedback=decision.feedback)
    except Refusal as refusal:
        raise BadTable([f"Row {decision.number}: {_reason(refusal)}"]) from refusal


def _reason(refusal: Refusal) -> str:
    if refusal.code == "InsufficientFunds":
        return refusal.message
    return "the assignment changed meanwhile, or its rejection is older than 30 days."
