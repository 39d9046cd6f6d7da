"""The purge by the calendar: who is due, and the purge itself in chunks, each of them whole or not at all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotators.models import Assignment, Worker
from surveys import audit
from surveys.models import Consent, Invitation, PanelVisit, QuizAttempt
from surveys.operations import erased
from surveys.operations.erasing import erase
from surveys.operations.holding import Kept, kept

CHUNK = 50
DEEDS: tuple[tuple[QuerySet[Any], tuple[str, ...]], ...] = (
    (Assignment.objects.all(), ("loaded_at", "saved_at", "submitted_at")),
    (Invitation.objects.all(), ("created_at", "opened_at")),
    (PanelVisit.objects.all(), ("created_at", "completed_at")),
    (QuizAttempt.objects.all(), ("created_at",)),
    (Consent.objects.all(), ("given_at",)),
)


def due(before: datetime) -> QuerySet[Worker]:
    """Return whoever did nothing since `before`: those not purged yet, and those who came back after they were."""
    old = Worker.objects.filter(created_at__lt=before)
    for deed in _deeds_since(before):
        old = old.exclude(deed)
    came_back = Q(pk=None)
    for deed in _deeds_since(OuterRef("purged_at")):
        came_back |= Q(deed)
    return old.filter(Q(purged_at=None) | came_back).order_by("pk")


def _deeds_since(since: Any) -> Iterator[Exists]:
    for rows, times in DEEDS:
        is_late = Q(pk=None)
        for name in times:
            is_late |= Q(**{f"{name}__gte": since})
        yield Exists(rows.filter(is_late, worker=OuterRef("pk")).order_by())


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
        erased.note(worker, erased.Deed.COMMENTS if comments else erased.Deed.PURGE)
        erase(worker, comments=comments)
        audit.record(audit.Kind.PURGE, "purge", worker=worker, details=details)
