"""A panel's people at their end: what each takes back to it, and what it is to be told of all it sent."""

from dataclasses import dataclass

from annotators.models import Assignment
from surveys.answering.admissions import Admission, works
from surveys.answering.completions import FOR_GOOD, Completion, completion_of, end, has_done_all, has_nothing
from surveys.models import Decision, Outcome, Panel, PanelVisit
from surveys.protocols.rules import PROPOSE, REJECT
from surveys.review.decisions import decide

Status = Assignment.Status
AGAINST = (PROPOSE, REJECT)
APPROVE, SEND_BACK, WAITING, RETURN = "approve", "send_back", "waiting", "ask_to_return"
FOR_PANEL = {APPROVE: "approve", SEND_BACK: "has rejected work", WAITING: "wait", RETURN: "ask to return"}


def completion(admission: Admission) -> Completion | None:
    """Return what a panel's person takes back once they have come to an end; None before, and for anybody else."""
    visit = admission.visit
    if visit is None:
        return None
    if has_done_all(admission):
        if visit.outcome in FOR_GOOD:
            return completion_of(visit.panel, visit.outcome)
        return end(visit, Outcome.CHECKS_FAILED if has_failed(admission) else Outcome.COMPLETED)
    if has_nothing(admission):
        return end(visit, Outcome.NOTHING_LEFT)
    return completion_of(visit.panel, visit.outcome) if visit.outcome == Outcome.NO_CONSENT else None


def has_failed(admission: Admission) -> bool:
    """Tell whether the batch's rules speak against anything that somebody handed in, and no person has said otherwise.

    Asked before it is decided, they say what they will say then.
    """
    batch = admission.batch
    own = works(batch, admission.worker).filter(saved_at__isnull=False)
    return any(_is_against(one, admission) for one in own.select_related("worker", "decision"))


def _is_against(work: Assignment, admission: Admission) -> bool:
    if work.status == Status.REJECTED:
        return True
    decision: Decision | None = getattr(work, "decision", None)
    if decision is None:
        return decide(work, batch=admission.batch).verdict in AGAINST
    return decision.overturned_at is None and decision.verdict in AGAINST


@dataclass(frozen=True, slots=True)
class PanelLists:
    """People by the panel's own ids, in the order they came: a session may have been another's claim.

    `approve`: all they handed in was approved. `send_back`: something was rejected, which a panel with rules of its own
    may not take for a reason to reject. `waiting`: something is undecided, or begun. `ask_to_return`: they were told
    that nothing is left for them, or did not consent, and have done nothing.
    """

    approve: tuple[str, ...]
    send_back: tuple[str, ...]
    waiting: tuple[str, ...]
    ask_to_return: tuple[str, ...] = ()


def panel_lists(panel: Panel) -> PanelLists:
    """Return whom to approve on the panel's own page, in two queries.

    Who came, did nothing and was told nothing is on no list, nor who was purged: their id is not kept.
    """
    lists: dict[str, list[str]] = {APPROVE: [], SEND_BACK: [], WAITING: [], RETURN: []}
    statuses = statuses_of(panel)
    for visit in panel.visits.filter(worker__purged_at=None).select_related("worker").order_by("pk"):
        if decision := decision_about(visit, statuses.get(visit.worker_id, set())):
            lists[decision].append(visit.worker.worker_id.removeprefix(f"{panel.provider}:"))
    return PanelLists(*map(tuple, lists.values()))


def statuses_of(panel: Panel) -> dict[int, set[str]]:
    """Return the statuses of all that a panel's people were given, by worker; what is not handed in is accepted."""
    statuses: dict[int, set[str]] = {}
    given = Assignment.objects.filter(annotation_slot__batch=panel.batch, worker__panel_visits__panel=panel)
    for assignment in given.only("worker_id", "status", "saved_at"):
        status = assignment.status if assignment.saved_at else Status.ACCEPTED
        statuses.setdefault(assignment.worker_id, set()).add(status)
    return statuses


def decision_about(visit: PanelVisit, statuses: set[str]) -> str:
    """Return what the panel is to be told of one person: on which list they are, "" where on none."""
    if not statuses:
        return RETURN if visit.outcome in (Outcome.NOTHING_LEFT, Outcome.NO_CONSENT) else ""
    if statuses - {Status.APPROVED, Status.REJECTED}:
        return WAITING
    return SEND_BACK if Status.REJECTED in statuses else APPROVE
