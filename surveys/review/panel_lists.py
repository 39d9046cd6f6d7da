"""What a panel is to be told of the people it sent: whose work was taken, and whose was not."""

from dataclasses import dataclass

from annotators.models import Assignment
from surveys.models import Panel

Status = Assignment.Status
APPROVE, SEND_BACK, WAITING = "approve", "send_back", "waiting"


@dataclass(frozen=True, slots=True)
class PanelLists:
    """People by the panel's own ids, in the order they came: a session may have been another's claim.

    `approve`: all they handed in was approved. `send_back`: something was rejected, which a panel with rules of its own
    may not take for a reason to reject. `waiting`: something is undecided, or begun.
    """

    approve: tuple[str, ...]
    send_back: tuple[str, ...]
    waiting: tuple[str, ...]


def panel_lists(panel: Panel) -> PanelLists:
    """Return whom to approve on the panel's own page, in two queries.

    Who came and did nothing is on no list, nor who was purged: their id is not kept.
    """
    told: dict[str, list[str]] = {APPROVE: [], SEND_BACK: [], WAITING: []}
    statuses: dict[int, set[str]] = {}
    given = Assignment.objects.filter(annotation_slot__batch=panel.batch, worker__panel_visits__panel=panel)
    for assignment in given.only("worker_id", "status", "saved_at"):
        status = assignment.status if assignment.saved_at else Status.ACCEPTED
        statuses.setdefault(assignment.worker_id, set()).add(status)
    for visit in panel.visits.filter(worker__purged_at=None).select_related("worker").order_by("pk"):
        if own := statuses.get(visit.worker_id):
            told[_list_for(own)].append(visit.worker.worker_id.removeprefix(f"{panel.provider}:"))
    return PanelLists(*map(tuple, told.values()))


def _list_for(statuses: set[str]) -> str:
    if statuses - {Status.APPROVED, Status.REJECTED}:
        return WAITING
    return SEND_BACK if Status.REJECTED in statuses else APPROVE
