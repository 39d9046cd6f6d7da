"""What happens by itself once its time has come, done before anything is read."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from marketplace import clock
from marketplace.engine import assignments
from marketplace.engine.hits import expire
from marketplace.models import HIT, Assignment, HITType, NotificationSetting
from marketplace.money import ledger
from marketplace.notifications import events

Status = Assignment.Status
DISPOSED_AFTER = timedelta(days=120)  # API reference, DeleteHIT
CHUNK = 500  # thousands of HITs of a batch expire at one moment
# Written out, and worded as the partial indexes are, like `clock.MOMENTS`.
ANYTHING_DUE = """
SELECT EXISTS (SELECT 1 FROM marketplace_assignment WHERE status = 'Open' AND deadline <= %s)
    OR EXISTS (SELECT 1 FROM marketplace_assignment WHERE status = 'Submitted' AND auto_approval_at <= %s)
    OR EXISTS (SELECT 1 FROM marketplace_hit WHERE disposed_at IS NULL AND NOT is_expired AND expires_at <= %s)
    OR EXISTS (
        SELECT 1 FROM marketplace_hit
        WHERE disposed_at IS NULL AND expires_at <= %s AND pending = 0 AND submitted = 0
    )
"""


def arrive(moments: clock.Moments | None = None) -> datetime:
    """Return the marketplace's time, with all done that is due by then. One statement when nothing can be.

    None where the moments were read a moment ago, with something else.
    """
    return caught_up(moments)[0]


def caught_up(moments: clock.Moments | None) -> tuple[datetime, bool]:
    """Do all that is due; return the time, and whether anything may have been: what was read is outdated then."""
    moments = moments or clock.moments()
    now = timezone.now() + moments.ahead
    by_now, long_ago = _as_stored(now), _as_stored(now - DISPOSED_AFTER)
    is_possible = any(moment is not None and moment <= by_now for moment in moments.next_due)
    is_possible = is_possible or (moments.oldest_end is not None and moments.oldest_end <= long_ago)
    if is_possible:
        sweep(now=now)
    return now, is_possible


def _as_stored(moment: datetime) -> Any:
    """Return a moment as the database hands it out; in SQLite that is a text, and texts sort as times do."""
    return connection.ops.adapt_datetimefield_value(moment)


def sweep(*, now: datetime) -> None:
    """Abandon, auto-approve, release and dispose whatever is due. One indexed query when nothing is."""
    if _is_anything_due(now=now):
        _do_due(now=now)


def _is_anything_due(*, now: datetime) -> bool:
    """Ask for everything that `_do_due` would find, and for nothing else."""
    moments = [now, now, now, now - DISPOSED_AFTER]
    with connection.cursor() as cursor:
        cursor.execute(ANYTHING_DUE, [_as_stored(at) for at in moments])
        return bool(cursor.fetchone()[0])


def _do_due(*, now: datetime) -> None:
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
    watched = _types_told_of(hits)
    silent = [hit for hit in hits if hit.hit_type_id not in watched]
    ledger.release_unsold(silent, now=now)
    HIT.objects.filter(pk__in=[hit.pk for hit in silent]).update(
        is_expired=True, is_open=False, held_slots=F("pending") + F("submitted")
    )
    for pk, n in sorted(Counter(hit.hit_type_id for hit in silent if hit.is_open).items()):
        HITType.objects.count_open(pk, by=-n)
    for hit in hits:
        if hit.hit_type_id in watched:
            expire(hit, now=now)


def _types_told_of(hits: list[HIT]) -> set[int]:
    """Return the keys of the types whose requesters are told of events."""
    settings = NotificationSetting.objects.filter(hit_type__in={hit.hit_type_id for hit in hits})
    return set(settings.filter(is_active=True).values_list("hit_type_id", flat=True))
