"""Accounts of the embedded marketplace: who has deleted theirs is forgotten here, who is forgotten here loses theirs.

The marketplace is asked over HTTP, as for everything else: it may have a database, and a machine, of its own.
"""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Q, QuerySet

from annotators.crowds.base import by_market
from annotators.crowds.mturk.gateway import PAGE, ErasedRecord, Gateway
from annotators.models import IS_CLAIM, Assignment, Endpoint, Source, Worker
from surveys.operations.holding import kept
from surveys.operations.own_data import forget
from surveys.operations.purging import due


def forget_closed() -> int:
    """Forget whoever has deleted their account since; return how many. Raises MarketError.

    Whose pay is on its way is forgotten once it is settled.
    """
    works = _one_each(Worker.objects.filter(source=Source.EMBEDDED, purged_at=None))
    gateway, forgotten = Gateway(Endpoint.EMBEDDED), 0
    for chunk in _chunks(list(works)):
        closed = [works[name] for name in gateway.erased_work(chunk)]
        workers = Worker.objects.filter(pk__in=closed).order_by("pk")
        forgotten += sum(not forget(worker) for worker in workers)
    return forgotten


def purge(before: datetime, *, dry_run: bool = False) -> ErasedRecord:
    """Erase the accounts of those who are purged here, if they were not used since `before`. Raises MarketError.

    To be called after the purge of our own tables: whoever has to be kept here keeps the account.
    """
    late = list(due(before))
    staying = kept(late)
    going = [worker.pk for worker in late if worker.pk not in staying]
    purged = Q(purged_at__isnull=False) | Q(pk__in=going)
    workers = Worker.objects.filter(purged, source=Source.EMBEDDED).exclude(pk__in=staying)
    gateway, n_erased, reasons = Gateway(Endpoint.EMBEDDED), 0, []
    for chunk in _chunks(list(_one_each(workers))):
        record = gateway.erase_idle_accounts(chunk, before=before, dry_run=dry_run)
        n_erased += record.n_erased
        reasons += record.kept
    return ErasedRecord(n_erased, reasons)


def _one_each(workers: QuerySet[Worker]) -> dict[str, int]:
    """Return {AssignmentId: worker} with the last assignment that each of them has handed in on the marketplace.

    The last: a requester is told about their own HITs only, and keys of another one may have been set before.
    """
    works = Assignment.objects.filter(~IS_CLAIM, by_market(), worker__in=workers).order_by("pk")
    last = {work.worker_id: work.assignment_id for work in works.only("worker_id", "assignment_id")}
    return {assignment_id: worker for worker, assignment_id in last.items()}


def _chunks(names: list[str]) -> Iterator[list[str]]:
    yield from (names[start : start + PAGE] for start in range(0, len(names), PAGE))
