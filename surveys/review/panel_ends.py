"""What the end page tells a panel's person: whether they completed, failed the checks, or found nothing to do."""

from annotators.models import Assignment
from surveys.answering.admissions import Admission, works
from surveys.answering.completions import FOR_GOOD, Completion, completion_of, end, has_done_all, has_nothing
from surveys.models import Decision, Outcome
from surveys.protocols.rules import PROPOSE, REJECT
from surveys.review.decisions import decide

Status = Assignment.Status
AGAINST = (PROPOSE, REJECT)


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
