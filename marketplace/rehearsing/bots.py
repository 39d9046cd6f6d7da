"""Workers who do what a script says, by the same steps of the engine as workers on the site."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from marketplace import clock
from marketplace.engine import assignments, deadlines, hits
from marketplace.models import HIT, Assignment, Requester, Worker
from marketplace.qualifications import requirements
from marketplace.questions import answer_documents
from marketplace.refusals import Refusal, WorkerRefusal


class Action(StrEnum):
    """What a worker does with a HIT; all but accepting begin by accepting it where that is not done."""

    ACCEPT = "accept"
    SUBMIT = "submit"
    RETURN = "return"
    ABANDON = "abandon"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing one worker does with a HIT, or with the next HIT of a type."""

    worker_id: str
    action: Action
    hit_id: str = ""
    type_id: str = ""
    answers: dict[str, str] = field(default_factory=dict)


def play(requester: Requester, *, step: Step) -> dict[str, Any]:
    """Carry out a step; what a worker would be refused is told under `refused`, and changes nothing."""
    outcome: dict[str, Any] = {"worker": step.worker_id, "hit": step.hit_id, "do": step.action.value}
    deadlines.sweep(now=clock.now())
    try:
        assignment = _carry_out(requester, step)
    except (Refusal, WorkerRefusal) as refusal:
        return outcome | {"refused": str(refusal)}
    assignment.refresh_from_db()
    return outcome | {
        "hit": assignment.hit.hit_id,
        "assignment": assignment.assignment_id,
        "status": assignment.status,
    }


def _carry_out(requester: Requester, step: Step) -> Assignment:
    worker = Worker.objects.filter(worker_id=step.worker_id, is_active=True).first()
    if worker is None:
        raise WorkerRefusal(f"Worker {step.worker_id} does not exist.")
    assignment = _held(requester, worker, step) or _accept(_wanted(requester, worker, step), worker)
    now = clock.now()
    if step.action == Action.SUBMIT:
        fields = answer_documents.fields_of((name, [value]) for name, value in step.answers.items())
        assignments.submit(assignment, answer=answer_documents.document(fields or {"answer": ""}), now=now)
    elif step.action == Action.RETURN:
        assignments.give_back(assignment, now=now)
    elif step.action == Action.ABANDON:
        assignments.abandon(assignment, now=now)
    return assignment


def _held(requester: Requester, worker: Worker, step: Step) -> Assignment | None:
    """Return the open assignment the step means; a step that accepts means a new one."""
    if step.action == Action.ACCEPT:
        return None
    rows = Assignment.objects.filter(worker=worker, status=Assignment.Status.OPEN, hit__requester=requester)
    meant = {"hit__hit_id": step.hit_id} if step.hit_id else {"hit__hit_type__type_id": step.type_id}
    return rows.filter(**meant).select_related("hit").order_by("pk").first()


def _wanted(requester: Requester, worker: Worker, step: Step) -> HIT:
    if step.hit_id:
        return hits.find_hit(step.hit_id, requester=requester)
    kind = hits.find_hit_type(step.type_id, requester=requester)
    found = assignments.next_hit(kind, worker=worker, now=clock.now())
    if found is None:
        raise WorkerRefusal("No more of this HIT is available.")
    return found


def _accept(hit: HIT, worker: Worker) -> Assignment:
    if not requirements.may("Accept", hit.hit_type, record=requirements.record_of(worker)):
        raise WorkerRefusal("The worker does not meet the requirements of this HIT.")
    return assignments.accept(hit, worker=worker, now=clock.now())
