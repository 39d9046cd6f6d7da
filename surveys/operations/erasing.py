"""What says who a worker is, and how it goes: ids, names, addresses, links, and an id wherever it was written."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import JSONField, Model, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from annotators.models import Assignment, Call, Worker
from annotators.people.names import purged_name
from annotators.people.pseudonyms import without_id, written_ids
from surveys.models import (
    AnswerRevision,
    Appeal,
    Decision,
    Inclusion,
    Invitation,
    MarkedSpan,
    PanelVisit,
    PersonLabel,
    ProblemReport,
    Rating,
    Response,
)

# Where somebody may have written a worker's id: {table: (what leads to the worker, the columns)}.
TEXTS: dict[type[Model], tuple[str, tuple[str, ...]]] = {
    Assignment: ("worker", ("comment", "feedback", "answer_xml")),
    Response: ("worker", ("answer", "draft")),
    Rating: ("response__worker", ("value",)),
    MarkedSpan: ("rating__response__worker", ("note",)),
    AnswerRevision: ("assignment__worker", ("data",)),
    Decision: ("assignment__worker", ("reason", "overturn_reason", "flags")),
    Inclusion: ("assignment__worker", ("reason",)),
    Appeal: ("assignment__worker", ("text", "answer")),
    ProblemReport: ("assignment__worker", ("text",)),
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
    PersonLabel.objects.filter(worker=worker).delete()
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
