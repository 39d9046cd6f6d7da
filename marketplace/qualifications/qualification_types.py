"""A requester's own qualification types and the values workers have on them."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from marketplace import ids, refusals
from marketplace.models import (
    Message,
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.refusals import Refusal

Status = Qualification.Status


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a requester may change about a type later."""

    description: str
    status: str
    test: str = ""
    answer_key: str = ""
    test_seconds: int | None = None
    retry_seconds: int | None = None
    auto_granted: bool = False
    auto_granted_value: int = 1


def create(
    requester: Requester, *, name: str, keywords: str, settings: Settings, now: datetime
) -> QualificationType:
    """Make a type. Raises Refusal QualificationTypeAlreadyExists when the requester has one of this name."""
    try:
        with transaction.atomic():
            return QualificationType.objects.create(
                type_id=ids.entity_id(),
                requester=requester,
                name=name,
                keywords=keywords,
                created_at=now,
                **asdict(settings),
            )
    except IntegrityError as error:
        # The sentence Mephisto matches.
        raise Refusal(
            "QualificationTypeAlreadyExists", "You have already created a QualificationType with this name."
        ) from error


def update(kind: QualificationType, *, changes: dict[str, Any]) -> None:
    """Write new values of members of Settings."""
    for name, value in changes.items():
        setattr(kind, name, value)
    kind.save(update_fields=list(changes))


@transaction.atomic
def dispose(kind: QualificationType, *, now: datetime) -> None:
    """Delete a type: waiting requests are rejected, values that live HITs ask for stay, its name is free."""
    QualificationType.objects.filter(pk=kind.pk, disposed_at=None).update(disposed_at=now)
    open_ones = (QualificationRequest.Status.STARTED, QualificationRequest.Status.PENDING)
    waiting = kind.requests.filter(status__in=open_ones)
    waiting.update(status=QualificationRequest.Status.REJECTED)


def find(type_id: str, *, owner: Requester | None = None) -> QualificationType:
    """Return a type, of one owner or of anybody. Raises Refusal QualificationTypeDoesNotExist."""
    rows = QualificationType.objects.filter(type_id=type_id, disposed_at=None)
    kind = (rows if owner is None else rows.filter(requester=owner)).first()
    if kind is None:
        raise refusals.qualification_type_does_not_exist(type_id)
    return kind


def matching(
    requester: Requester, *, query: str, requestable_only: bool, owned_only: bool
) -> QuerySet[QualificationType]:
    """Return the types a requester finds: own ones, and unless `owned_only` everybody's active ones."""
    active, own = Q(status=QualificationType.Status.ACTIVE), Q(requester=requester)
    rows = QualificationType.objects.filter(own if owned_only else own | active, disposed_at=None)
    if requestable_only:
        rows = rows.filter(active)
    for word in query.split():
        rows = rows.filter(
            Q(name__icontains=word) | Q(description__icontains=word) | Q(keywords__icontains=word)
        )
    return rows


@transaction.atomic
def grant(kind: QualificationType, *, worker: Worker, value: int, notify: bool, now: datetime) -> None:
    """Give the worker a value, or change the one there is."""
    given = {"value": value, "status": Status.GRANTED, "granted_at": now}
    Qualification.objects.update_or_create(qualification_type=kind, worker=worker, defaults=given)
    if notify:
        tell(kind, worker=worker, subject=f"You now have the qualification “{kind.name}”", now=now)


@transaction.atomic
def revoke(kind: QualificationType, *, worker: Worker, reason: str, now: datetime) -> None:
    """Take a value back and tell the worker why. Raises Refusal when there is none, or none any more."""
    granted = held(kind, worker_id=worker.worker_id)
    Qualification.objects.filter(pk=granted.pk, status=Status.GRANTED).update(status=Status.REVOKED)
    subject = f"You no longer have the qualification “{kind.name}”"
    tell(kind, worker=worker, subject=subject, text=reason, now=now)


def tell(kind: QualificationType, *, worker: Worker, subject: str, now: datetime, text: str = "") -> None:
    """Leave the worker a message of the type's owner."""
    Message.objects.create(requester=kind.requester, worker=worker, subject=subject, text=text, sent_at=now)


def held(kind: QualificationType, *, worker_id: str) -> Qualification:
    """Return the worker's granted value. Raises Refusal QualificationDoesNotExist, InvalidQualificationState."""
    rows = Qualification.objects.filter(qualification_type=kind, worker__worker_id=worker_id)
    qualification = rows.select_related("qualification_type", "worker").first()
    if qualification is None:
        raise Refusal(
            "QualificationDoesNotExist",
            f"Qualification {kind.type_id} of worker {worker_id} does not exist.",
        )
    if qualification.status != Status.GRANTED:
        raise Refusal("InvalidQualificationState", "This operation can be called with a status of: Granted")
    return qualification
