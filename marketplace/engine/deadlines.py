"""What happens by itself once its time has come, done before anything is read."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from marketplace.engine import assignments
from marketplace.engine.hits import expire
from marketplace.models import HIT, Assignment, NotificationSetting
from marketplace.money import ledger
from marketplace.notifications import events

Status = Assignment.Status
DISPOSED_AFTER = timedelta(days=120)  # API reference, DeleteHIT
CHUNK = 500  # thousands of HITs of a batch expire at one moment


def sweep(*, now: datetime) -> None:
    """Abandon, auto-approve, release and dispose whatever is due. Four indexed queries when nothing is."""
    for assignment in Assignment.objects.filter(status=Status.OPEN, deadline__lte=now):
        assignments.abandon(assignment, now=now)
    for assignment in Assignment.objects.filter(status=Status.SUBMITTED, auto_approval_at__lte=now):
        assignments.approve_by_time(assignment, now=now)
    _expire_due(now=now)
    for hit in HIT.objects.reviewable(now=now).filter(expires_at__lte=now - DISPOSED_AFTER, submitted=0):
        _dispose_by_time(hit, now=now)


@transaction.atomic
def _dispose_by_time(hit: HIT, *, now: datetime) -> None:
    hit, disposed_at = HIT.objects.locked(hit.pk), hit.expires_at + DISPOSED_AFTER
    due = HIT.objects.reviewable(now=now).filter(pk=hit.pk, submitted=0)
    if due.update(disposed_at=disposed_at):
        events.record(hit, "HITDisposed", at=disposed_at)


def _expire_due(*, now: datetime) -> None:
    """Release what nobody took of every HIT that is due. One indexed query when nothing is."""
    due = HIT.objects.filter(expires_at__lte=now, is_expired=False, disposed_at=None)
    keys = list(due.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(keys), CHUNK):
        _expire(keys[start : start + CHUNK], now=now)


@transaction.atomic
def _expire(keys: list[int], *, now: datetime) -> None:
    due = HIT.objects.filter(pk__in=keys, expires_at__lte=now, is_expired=False, disposed_at=None)
    locked = due.select_for_update(of=("self",), no_key=True).select_related("hit_type", "requester")
    hits = list(locked.defer("question").order_by("pk"))
    told = _types_told_of(hits)
    silent = [hit for hit in hits if hit.hit_type_id not in told]
    ledger.release_unsold(silent, now=now)
    HIT.objects.filter(pk__in=[hit.pk for hit in silent]).update(
        is_expired=True, held_slots=F("pending") + F("submitted")
    )
    for hit in hits:
        if hit.hit_type_id in told:
            expire(hit, now=now)


def _types_told_of(hits: list[HIT]) -> set[int]:
    """Return the keys of the types whose requesters are told of events."""
    settings = NotificationSetting.objects.filter(hit_type__in={hit.hit_type_id for hit in hits})
    return set(settings.filter(is_active=True).values_list("hit_type_id", flat=True))
