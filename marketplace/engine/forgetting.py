"""What is kept about a worker: handed out to them, and erased when they or the calendar ask.

What money stands on stays: assignments, amounts and the ledger's entries, of an account that nobody can sign in to and
whose id says nothing. So do the answers, which the requester was given; the worker's old id in them does not.
"""

import json
import re
import secrets
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import Exists, JSONField, OuterRef, Q, QuerySet
from django.utils.translation import ngettext

from marketplace import ids
from marketplace.accounts import erased
from marketplace.engine.assignments import OVERRIDE_WITHIN
from marketplace.models import (
    LIVE,
    Assignment,
    Block,
    Bonus,
    Event,
    FailedSignIn,
    LoggedCall,
    Message,
    Qualification,
    QualificationRequest,
    Requester,
    Token,
    Worker,
)

CLOSED = "ADELETED"  # how the id of an erased account begins
SHORTEST_IN_TEXT = 6  # a shorter id stands in ordinary words
Status = Assignment.Status
HANDED_IN = (Status.SUBMITTED, Status.APPROVED, Status.REJECTED)


@dataclass(slots=True)
class Report:
    """How many accounts were erased, or would be, and why others were kept."""

    n_erased: int = 0
    kept: list[str] = field(default_factory=list)


def holding(worker: Worker, *, now: datetime) -> list[str]:
    """Return what has to be settled before the account can be erased, as sentences for its owner."""
    mine = Assignment.objects.filter(worker=worker)
    n_open = mine.filter(status=Status.OPEN).count()
    n_submitted = mine.filter(status=Status.SUBMITTED).count()
    in_queue = ngettext(
        "%(n)d HIT is in your queue. Submit it or return it first.",
        "%(n)d HITs are in your queue. Submit it or return it first.",
        n_open,
    )
    undecided = ngettext(
        "%(n)d HIT is submitted and not decided yet. You would not be paid for it.",
        "%(n)d HITs are submitted and not decided yet. You would not be paid for it.",
        n_submitted,
    )
    return [words % {"n": n} for words, n in ((in_queue, n_open), (undecided, n_submitted)) if n]


def _counted(n: int) -> str:
    return "1 HIT is" if n == 1 else f"{n} HITs are"


def idle(before: datetime) -> QuerySet[Worker]:
    """Return the accounts that did nothing, and to which nothing happened, since `before`."""
    work = Q(accepted_at__gte=before) | Q(submitted_at__gte=before)
    decided = Q(approved_at__gte=before) | Q(rejected_at__gte=before)
    deeds = (
        Assignment.objects.filter(work | decided),
        Qualification.objects.filter(granted_at__gte=before),
        QualificationRequest.objects.filter(submitted_at__gte=before),
    )
    workers = Worker.objects.filter(created_at__lt=before).exclude(worker_id__startswith=CLOSED)
    for deed in deeds:
        workers = workers.exclude(Exists(deed.filter(worker=OuterRef("pk"))))
    return workers.order_by("pk")


def erase_idle(before: datetime, *, now: datetime, is_dry: bool, spare: Collection[str] = ()) -> Report:
    """Erase idle accounts, each of them whole or not at all; `spare`: worker ids that are needed elsewhere."""
    return _erase_all(idle(before).exclude(worker_id__in=list(spare)), now=now, is_dry=is_dry)


def erase_idle_of(
    requester: Requester,
    *,
    assignment_ids: Collection[str],
    before: datetime,
    now: datetime,
    is_dry: bool = False,
) -> Report:
    """Erase the idle accounts of those who handed in this work of a requester, and never any for another one.

    Whoever was here in the last OVERRIDE_WITHIN stays, whatever `before` says: an account is its worker's, not its
    requester's.
    """
    mine = Assignment.objects.filter(hit__requester=requester, status__in=HANDED_IN, worker=OuterRef("pk"))
    others = Assignment.objects.filter(status__in=LIVE, worker=OuterRef("pk")).exclude(
        hit__requester=requester
    )
    accounts = idle(min(before, now - OVERRIDE_WITHIN)).exclude(Exists(others))
    named = accounts.filter(Exists(mine.filter(assignment_id__in=list(assignment_ids))))
    return _erase_all(named, now=now, is_dry=is_dry)


def erase_unused(before: datetime, *, now: datetime) -> Report:
    """Erase the idle accounts of which no requester knows, as they never handed anything in."""
    handed_in = Assignment.objects.filter(status__in=HANDED_IN, worker=OuterRef("pk"))
    return _erase_all(idle(before).exclude(Exists(handed_in)), now=now)


def _erase_all(accounts: QuerySet[Worker], *, now: datetime, is_dry: bool = False) -> Report:
    report = Report()
    for pk in list(accounts.values_list("pk", flat=True)):
        with transaction.atomic():
            worker = accounts.select_for_update(of=("self",)).filter(pk=pk).first()
            if worker is None:
                continue
            if reasons := _holding_back(worker, now=now):
                report.kept.append(f"account {worker.pk}: {' '.join(reasons)}")
                continue
            if not is_dry:
                _erase(worker)
        report.n_erased += 1
    return report


def _holding_back(worker: Worker, *, now: datetime) -> list[str]:
    """Nobody asked them: so long as a rejection can be overturned, they may still be paid."""
    rejected = Assignment.objects.filter(worker=worker, status=Status.REJECTED)
    n = rejected.filter(rejected_at__gt=now - OVERRIDE_WITHIN).count()
    late = [f"{_counted(n)} rejected, which can still be overturned."] if n else []
    return holding(worker, now=now) + late


@transaction.atomic
def erase(worker: Worker, *, now: datetime) -> list[str]:
    """Erase an account for its owner; return what has to be settled first, and then nothing was done."""
    locked = Worker.objects.select_for_update().get(pk=worker.pk)
    if reasons := holding(locked, now=now):
        return reasons
    _erase(locked)
    return []


def erase_again(*, unless_held: datetime | None = None) -> int:
    """Erase the accounts that a restored backup has brought back; return how many.

    After a restore nothing is in the way: all was settled when they were erased. `unless_held`, a time, is for whoever
    does not know of any restore: an erasure may have been written down and failed, and its owner have gone on working.
    """
    noted, n = erased.noted(), 0
    accounts = Worker.objects.exclude(worker_id__startswith=CLOSED).order_by("pk")
    for pk in [one.pk for one in accounts if noted.has_back(one)] if noted and noted.times else ():
        with transaction.atomic():
            worker = accounts.select_for_update(of=("self",)).filter(pk=pk).first()
            if worker and not (unless_held and holding(worker, now=unless_held)):
                _erase(worker)
                n += 1
    return n


def _erase(worker: Worker) -> None:
    erased.note(worker)
    old, new = worker.worker_id, CLOSED + ids.entity_id()[1:11]
    for rows in (Message, Block, Qualification, QualificationRequest):
        rows._default_manager.filter(worker=worker).delete()
    FailedSignIn.objects.filter(worker_id=old).delete()
    if len(old) >= SHORTEST_IN_TEXT:
        for rows_with, column in _texts(worker, old):
            _unname(rows_with, column, old=old, new=new)
    account = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(Worker))
    account.filter(object_id=str(worker.pk)).update(object_repr=new, change_message="")
    Worker.objects.filter(pk=worker.pk).update(
        worker_id=new, code_digest=secrets.token_hex(32), is_active=False, country="", subdivision=""
    )


def _texts(worker: Worker, worker_id: str) -> Iterator[tuple[QuerySet[Any], str]]:
    """Yield rows and the column of theirs in which a worker's id can stand."""
    mine, bonuses = Assignment.objects.filter(worker=worker), Bonus.objects.filter(assignment__worker=worker)
    yield from ((mine, "answer"), (mine, "feedback"), (bonuses, "reason"))
    for rows, column in (
        (Event.objects.all(), "body"),
        (LoggedCall.objects.all(), "request"),
        (Token.objects.all(), "token"),
        (LogEntry.objects.all(), "object_repr"),
        (LogEntry.objects.all(), "change_message"),
    ):
        yield rows.filter(**{f"{column}__icontains": worker_id}), column


def _unname(rows: QuerySet[Any], column: str, *, old: str, new: str) -> None:
    word = re.compile(rf"(?<![A-Za-z0-9]){re.escape(old)}(?![A-Za-z0-9])", re.IGNORECASE)
    is_json = isinstance(rows.model._meta.get_field(column), JSONField)
    for row in rows.only("pk", column):
        value = getattr(row, column)
        before = json.dumps(value) if is_json else value
        if (after := word.sub(new, before)) != before:
            named = {column: json.loads(after) if is_json else after}
            rows.model._default_manager.filter(pk=row.pk).update(**named)


def of_erased(assignment_ids: Collection[str], *, requester: Requester) -> list[str]:
    """Return which of a requester's assignments were handed in by somebody whose account has been erased since.

    What was given back or abandoned says nothing: the next worker has got its AssignmentId.
    """
    named = Assignment.objects.filter(hit__requester=requester, assignment_id__in=list(assignment_ids))
    erased = named.filter(status__in=HANDED_IN, worker__worker_id__startswith=CLOSED)
    return sorted(erased.values_list("assignment_id", flat=True))


def own_data(worker: Worker) -> dict[str, Any]:
    """Return all that is kept about a worker, in words and plain values."""
    return {
        "account": {
            "worker_id": worker.worker_id,
            "country": worker.country,
            "subdivision": worker.subdivision,
            "created_at": worker.created_at,
            "access_code": "kept as a digest only",
        },
        "assignments": [_own_work(row) for row in _work_of(worker)],
        "qualifications": list(
            Qualification.objects.filter(worker=worker)
            .order_by("pk")
            .values("qualification_type__name", "value", "status", "granted_at")
        ),
        "qualification_requests": list(
            QualificationRequest.objects.filter(worker=worker)
            .order_by("pk")
            .values("qualification_type__name", "status", "submitted_at", "answer")
        ),
        "messages": list(
            Message.objects.filter(worker=worker)
            .order_by("pk")
            .values("requester__name", "subject", "text", "sent_at")
        ),
        "blocked_by": list(
            Block.objects.filter(worker=worker).order_by("pk").values("requester__name", "reason")
        ),
        "failed_sign_ins": list(
            FailedSignIn.objects.filter(worker_id=worker.worker_id)
            .order_by("pk")
            .values_list("failed_at", flat=True)
        ),
    }


def _work_of(worker: Worker) -> QuerySet[Assignment]:
    rows = Assignment.objects.filter(worker=worker).select_related("hit__hit_type__requester")
    return rows.prefetch_related("bonuses").order_by("pk")


def _own_work(row: Assignment) -> dict[str, Any]:
    names = ("assignment_id", "status", "accepted_at", "submitted_at", "approved_at", "rejected_at", "answer")
    return {
        **{name: getattr(row, name) for name in names},
        "title": row.hit.hit_type.title,
        "requester": row.hit.hit_type.requester.name,
        "reward_cents": row.hit.hit_type.reward_cents,
        "requesters_comment": row.feedback,
        "bonuses": [
            {"cents": bonus.cents, "reason": bonus.reason, "paid_at": bonus.paid_at}
            for bonus in row.bonuses.all()
        ],
    }
