"""Review: what waits for a person, and their decision."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema

from annotators.failpoints import reach
from annotators.models import Assignment
from annotators.people.names import pseudonym
from surveys import sync
from surveys.api.paging import Paged, PageOf, page
from surveys.api.problems import of_form, refused
from surveys.api.schemas import Number, Strict, Text, batch_for
from surveys.api.security import Bearer, person
from surveys.enqueue import enqueue
from surveys.models import Batch, Decision, is_held
from surveys.review import errors
from surveys.review.by_hand import ReasonForm, record
from surveys.review.progress import runs_out

router = Router(tags=["Review"])
Waiting = Annotated[
    Literal["held", "undecided", "all"],
    Query(
        description="`held`: a rule asks for a person; `undecided`: nobody has decided; `all`: whatever its state."
    ),
]


class AssignmentOut(Schema):
    """One person's work on one HIT, by their pseudonym. `verdict` and `reason` are the rule's, or a person's."""

    id: int
    batch: int
    status: str
    worker: str
    accepted_at: datetime | None
    submitted_at: datetime | None
    auto_approval_at: datetime | None
    verdict: str | None
    reason: str


class DecisionIn(Strict):
    """What is decided about a payment. Rejecting and overturning need a reason; the worker reads it."""

    action: Literal["approve", "reject", "overturn"]
    reason: Text = ""
    use_answers: bool = False


@router.get(
    "/batches/{int:pk}/assignments",
    response=PageOf[AssignmentOut],
    auth=Bearer("surveys.view_batch", "annotators.view_assignment"),
)
def list_assignments(
    request: HttpRequest, pk: Number, paging: Paged, waiting: Waiting = "held"
) -> dict[str, Any]:
    """List what waits for a decision, what came first first."""
    batch = batch_for(request, pk)
    found = _of(batch)
    if waiting == "held":
        found = found.filter(is_held())
    elif waiting == "undecided":
        found = found.filter(runs_out())
    return page(found, paging, show=_shown, newest_first=False)


@router.get(
    "/batches/{int:pk}/assignments/{int:assignment_pk}",
    response=AssignmentOut,
    auth=Bearer("surveys.view_batch", "annotators.view_assignment"),
)
def read_assignment(request: HttpRequest, pk: Number, assignment_pk: Number) -> AssignmentOut:
    """Return one assignment."""
    return _shown(get_object_or_404(_of(batch_for(request, pk)), pk=assignment_pk))


@router.post(
    "/batches/{int:pk}/assignments/{int:assignment_pk}/decision",
    response=AssignmentOut,
    auth=Bearer("surveys.view_batch", "annotators.change_assignment"),
)
def decide(request: HttpRequest, pk: Number, assignment_pk: Number, decision: DecisionIn) -> AssignmentOut:
    """Approve, reject, or overturn a rejection; a worker of ours tells the marketplace next."""
    found = get_object_or_404(_of(batch_for(request, pk)), pk=assignment_pk)
    form = ReasonForm(decision.dict())
    if not form.is_valid():
        raise of_form(form.errors)
    try:
        record(found, by=person(request), **form.cleaned_data)
    except errors.CannotDecide as error:
        raise refused(str(error)) from None
    reach("decide.recorded")
    enqueue(sync.sync_hit, found.hit_id)
    reach("decide.requested")
    return _shown(_of(found.hit.questionnaire.batch).get(pk=found.pk))


def _of(batch: Batch) -> Any:
    related = ("worker", "hit__questionnaire__batch__survey", "decision")
    return Assignment.objects.filter(hit__questionnaire__batch=batch).select_related(*related)


def _shown(assignment: Assignment) -> AssignmentOut:
    decision: Decision | None = getattr(assignment, "decision", None)
    return AssignmentOut(
        id=assignment.pk,
        batch=assignment.hit.questionnaire.batch_id,
        status=assignment.status,
        worker=pseudonym(assignment.worker.worker_id),
        accepted_at=assignment.accepted_at,
        submitted_at=assignment.submitted_at,
        auto_approval_at=assignment.auto_approval_at,
        verdict=decision.verdict if decision else None,
        reason=decision.reason if decision else "",
    )
