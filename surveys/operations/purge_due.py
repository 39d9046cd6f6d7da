"""Who is old enough to be purged, and who has to be kept all the same."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import DateTimeField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet
from django.utils import timezone

from annotators.models import Assignment, Call, Worker
from annotators.outbox.market import OVERTURN_WITHIN
from annotators.people.pseudonyms import pseudonym, purged_name
from surveys.models import Appeal, Batch, Invitation, PanelVisit, QuizAttempt

FINISHED = (Batch.Status.STOPPED, Batch.Status.COMPLETE)
OPEN_CALLS = (Call.State.PLANNED, Call.State.SENT, Call.State.UNKNOWN)
Status = Assignment.Status
DEEDS: tuple[tuple[QuerySet[Any], tuple[str, ...]], ...] = (
    (Assignment.objects.all(), ("loaded_at", "saved_at", "submitted_at")),
    (Invitation.objects.all(), ("created_at", "opened_at")),
    (PanelVisit.objects.all(), ("created_at", "completed_at")),
    (QuizAttempt.objects.all(), ("created_at",)),
)


@dataclass(frozen=True, slots=True)
class Kept:
    """A worker who is due and was not purged; they are named as in exports."""

    pk: int
    pseudonym: str
    reason: str


def due(before: datetime) -> QuerySet[Worker]:
    """Return whoever did nothing since `before`: those not purged yet, and those who came back after they were."""
    old = Worker.objects.filter(created_at__lt=before)
    for deed in _deeds_since(before):
        old = old.exclude(deed)
    came_back = Q(pk=None)
    for deed in _deeds_since(OuterRef("purged_at")):
        came_back |= Q(deed)
    return old.filter(Q(purged_at=None) | came_back).order_by("pk")


def kept(workers: Collection[Worker]) -> dict[int, Kept]:
    """Return by primary key which of these workers have to stay as they are, and why."""
    names = {worker.pk: pseudonym(worker.worker_id) for worker in workers}
    found: dict[int, Kept] = {}
    for rows, worker, batch, reason in _holding():
        held = rows.filter(**{f"{worker}__in": list(names)})
        for pk, batch_name in held.values_list(worker, batch):
            found.setdefault(pk, Kept(pk, names[pk], reason.format(batch=batch_name)))
    return found | {pk: Kept(pk, names[pk], "another worker has this pseudonym") for pk in _taken(workers)}


def _deeds_since(since: Any) -> Iterator[Exists]:
    for rows, times in DEEDS:
        is_late = Q(pk=None)
        for name in times:
            is_late |= Q(**{f"{name}__gte": since})
        yield Exists(rows.filter(is_late, worker=OuterRef("pk")).order_by())


def _holding() -> Iterator[tuple[QuerySet[Any], str, str, str]]:
    """Yield rows that hold a worker, where they name worker and batch, and the reason."""
    now, batch = timezone.now(), "hit__questionnaire__batch__name"
    deadline = ExpressionWrapper(
        F("loaded_at") + F("hit__hit_type__assignment_duration"), output_field=DateTimeField()
    )
    work, calls = Assignment.objects.order_by(), Call.objects.order_by()
    open_work = work.exclude(hit__questionnaire__batch__status__in=FINISHED)
    yield open_work, "worker", batch, "has worked in {batch}, which is not finished"
    invited = Invitation.objects.order_by().exclude(batch__status__in=FINISHED)
    yield invited, "worker", "batch__name", "is invited to {batch}, which is not finished"
    visits = PanelVisit.objects.order_by().exclude(panel__batch__status__in=FINISHED)
    yield visits, "worker", "panel__batch__name", "was sent to {batch}, which is not finished"
    undecided = work.filter(status=Status.SUBMITTED)
    yield undecided, "worker", batch, "has work in {batch} that nobody has decided on"
    at_work = work.annotate(deadline=deadline).filter(status=Status.ACCEPTED, deadline__gt=now)
    yield at_work, "worker", batch, "can still hand in work in {batch}"
    in_time = Q(submitted_at=None) | Q(submitted_at__gt=now - OVERTURN_WITHIN)
    rejected = work.filter(in_time, status=Status.REJECTED)
    yield rejected, "worker", batch, "has a rejection in {batch} that can still be overturned"
    appeals = Appeal.objects.filter(made_at__isnull=False, answered_at=None)
    yield (
        appeals,
        "assignment__worker",
        f"assignment__{batch}",
        "waits for the answer to an appeal in {batch}",
    )
    unsettled = calls.filter(state__in=OPEN_CALLS)
    yield unsettled, "assignment__worker", f"assignment__{batch}", "is named in a call that is not settled"


def _taken(workers: Collection[Worker]) -> list[int]:
    """Return who can't get their purged name because somebody has it: a chance of 1 in 10**14 for a pair."""
    wanted = {(worker.source, purged_name(worker.worker_id)): worker.pk for worker in workers}
    names = {name for _, name in wanted}
    holders = Worker.objects.filter(worker_id__in=names).values_list("source", "worker_id", "pk")
    return [wanted[source, name] for source, name, pk in holders if wanted.get((source, name), pk) != pk]
