"""Blocks and messages between a requester and workers."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from marketplace.models import Assignment, Block, Message, Requester, Worker

DECIDED = (Assignment.Status.APPROVED, Assignment.Status.REJECTED)
HARD = "HardFailure"


@dataclass(frozen=True)
class Failure:
    """A worker a message did not reach; `code` is HardFailure, for trying again would not help."""

    worker_id: str
    code: str
    message: str


def block(requester: Requester, *, worker: Worker, reason: str) -> None:
    """Keep the worker from accepting the requester's HITs; work accepted before goes on."""
    Block.objects.update_or_create(requester=requester, worker=worker, defaults={"reason": reason})


def unblock(requester: Requester, *, worker: Worker) -> None:
    Block.objects.filter(requester=requester, worker=worker).delete()


def notify(
    requester: Requester, *, worker_ids: Iterable[str], subject: str, text: str, now: datetime
) -> list[Failure]:
    """Leave a message for workers whose work the requester has decided. Returns who was not reached."""
    wanted = list(dict.fromkeys(worker_ids))
    workers = Worker.objects.in_bulk(wanted, field_name="worker_id")
    decided = Assignment.objects.filter(hit__requester=requester, status__in=DECIDED)
    known = set(decided.filter(worker__in=workers.values()).values_list("worker__worker_id", flat=True))
    Message.objects.bulk_create(
        Message(requester=requester, worker=workers[name], subject=subject, text=text, sent_at=now)
        for name in wanted
        if name in known
    )
    return [_failure(name, exists=name in workers) for name in wanted if name not in known]


def _failure(worker_id: str, *, exists: bool) -> Failure:
    if not exists:
        return Failure(worker_id, HARD, f"Worker {worker_id} does not exist.")
    return Failure(worker_id, HARD, f"You have not approved or rejected work of {worker_id} before.")
