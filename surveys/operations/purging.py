"""The purge itself: in chunks, each of them whole or not at all."""

import io
import json
import uuid
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import transaction
from django.db.models import (
    DateTimeField,
    Exists,
    ExpressionWrapper,
    F,
    JSONField,
    Model,
    OuterRef,
    Q,
    QuerySet,
    TextField,
)
from django.db.models.functions import Cast
from django.utils import timezone

from annotators.models import Assignment, Call, Source, Worker
from annotators.outbox.market import OVERTURN_WITHIN
from annotators.people.pseudonyms import pseudonym, purged_name, without_id, written_ids
from surveys import audit
from surveys.models import (
    AnswerRevision,
    Appeal,
    Batch,
    Decision,
    Inclusion,
    Invitation,
    PanelVisit,
    QuizAttempt,
    Rating,
    Response,
)

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


# Where somebody may have written a worker's id: {table: (what leads to the worker, the columns)}.
TEXTS: dict[type[Model], tuple[str, tuple[str, ...]]] = {
    Assignment: ("worker", ("comment", "feedback", "answer_xml")),
    Response: ("worker", ("answer", "draft")),
    Rating: ("response__worker", ("value",)),
    AnswerRevision: ("assignment__worker", ("data",)),
    Decision: ("assignment__worker", ("reason", "overturn_reason", "flags")),
    Inclusion: ("assignment__worker", ("reason",)),
    Appeal: ("assignment__worker", ("text", "answer")),
    Call: ("assignment__worker", ("arguments", "error")),
}


def erase(worker: Worker, *, comments: bool, name: str = "") -> None:
    """Erase who a worker is. To be called in a transaction that holds the worker's row.

    `name`: what they are called from now on; without it, what follows from their id.
    """
    name = name or purged_name(worker.worker_id)
    _erase_columns(worker, name=name)
    if comments:
        _erase_comments(worker)
    for table, (path, columns) in TEXTS.items():
        rows = table._default_manager.filter(**{path: worker})
        for column in columns:
            _unname(rows, column, worker, name=name)
    _rename_in_history(worker, name=name)
    Worker.objects.filter(pk=worker.pk).update(worker_id=name, purged_at=timezone.now())


def _erase_columns(worker: Worker, *, name: str) -> None:
    """Erase what says who, and from where. Their links lead nowhere any more."""
    work = Assignment.objects.filter(worker=worker)
    work.exclude(user_agent="").update(user_agent="")
    work.exclude(saved_at=None).update(answer_xml="")  # where we have no answers, that copy is all there is
    Response.objects.filter(assignment__in=work.filter(status=Assignment.Status.ACCEPTED)).update(draft={})
    for invitation in worker.invitations.all():
        _erase_invitation(invitation, name=name)
    for visit in worker.panel_visits.all():
        PanelVisit.objects.filter(pk=visit.pk).update(study="", session="", key=uuid.uuid4())


def _erase_invitation(invitation: Invitation, *, name: str) -> None:
    Invitation.objects.filter(pk=invitation.pk).update(
        name=name,
        email="",
        access_code="",
        key=uuid.uuid4(),
        revoked_at=invitation.revoked_at or timezone.now(),
    )
    _history_of(invitation).update(object_repr=f"{name} to {invitation.batch}"[:200])


def _erase_comments(worker: Worker) -> None:
    Assignment.objects.filter(worker=worker).update(comment="")
    for revision in AnswerRevision.objects.filter(assignment__worker=worker):
        data = {**revision.data, "comment": ""}
        AnswerRevision.objects.filter(pk=revision.pk).update(data=data)


def _unname(rows: QuerySet[Any], column: str, worker: Worker, *, name: str) -> None:
    """Write the purged name for the id in one column."""
    is_json = isinstance(rows.model._meta.get_field(column), JSONField)
    for row in _naming(rows, column, worker):
        value = getattr(row, column)
        text = without_id(json.dumps(value) if is_json else value, worker=worker, name=name)
        rows.model._default_manager.filter(pk=row.pk).update(
            **{column: json.loads(text) if is_json else text}
        )


def _naming(rows: QuerySet[Any], column: str, worker: Worker) -> Iterator[Any]:
    names_worker = Q(pk=None)
    for written in written_ids(worker):
        names_worker |= Q(as_text__icontains=written)
    yield from rows.annotate(as_text=Cast(column, TextField())).filter(names_worker).only("pk", column)


def _rename_in_history(worker: Worker, *, name: str) -> None:
    """The admin's history of changes prints what it was about: the worker, or an assignment "by" them."""
    for column in ("object_repr", "change_message"):
        _unname(LogEntry.objects.all(), column, worker, name=name)
    _history_of(worker).update(object_repr=name)


def _history_of(row: Model) -> QuerySet[LogEntry]:
    return LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(row), object_id=str(row.pk))


CHUNK = 50


@dataclass(slots=True)
class Report:
    """How many workers were purged, or would be, and who was kept and why."""

    n_purged: int = 0
    kept: list[Kept] = field(default_factory=list)


def purge(before: datetime, *, comments: bool = False, dry_run: bool = False, account: str = "") -> Report:
    """Erase the ids of workers who did nothing since `before`; repeat it after a crash, what is done is done.

    Every purged worker is in the audit trail, with the operating system's `account` that asked where one did.
    """
    details = {
        "before": before.isoformat(),
        "comments": comments,
        **({"account": account} if account else {}),
    }
    report = Report()
    for chunk in _chunks(before):
        with transaction.atomic():
            workers = list(_locked(chunk, before=before))
            staying = kept(workers)
            going = [worker for worker in workers if worker.pk not in staying]
            if not dry_run:
                _purge_all(going, comments=comments, details=details)
        report.n_purged += len(going)
        report.kept += staying.values()
    return report


def _chunks(before: datetime) -> Iterator[Sequence[int]]:
    pks = list(due(before).values_list("pk", flat=True))
    yield from (pks[start : start + CHUNK] for start in range(0, len(pks), CHUNK))


def _locked(chunk: Sequence[int], *, before: datetime) -> Iterator[Worker]:
    """Yield those of a chunk that are still due, and let nobody begin new work meanwhile."""
    locked = Worker.objects.select_for_update(of=("self",)).filter(pk__in=chunk).order_by("pk")
    held = [worker.pk for worker in locked]
    yield from due(before).filter(pk__in=held)


def _purge_all(workers: Sequence[Worker], *, comments: bool, details: dict[str, Any]) -> None:
    for worker in workers:
        erase(worker, comments=comments)
        audit.record(audit.Kind.PURGE, "purge", worker=worker, details=details)


def purge_accounts(before: datetime, *, dry_run: bool = False) -> str:
    """Have the embedded marketplace erase accounts that did nothing since, but for those of workers we have to keep.

    Return what it says, nothing where it had nothing to do. To be called after `purge`; its id here is then gone first.
    """
    late = list(due(before))
    staying = kept(late)
    going = [worker.pk for worker in late if worker.pk not in staying]
    ours = Worker.objects.filter(source=Source.EMBEDDED, purged_at=None).exclude(pk__in=going)
    answer = io.StringIO()
    call_command(
        "marketplace_purge",
        before=timezone.localdate(before).isoformat(),
        spare=list(ours.values_list("worker_id", flat=True)),
        dry_run=dry_run,
        stdout=answer,
    )
    report = answer.getvalue()
    return "" if report.endswith(": 0\n") else report
