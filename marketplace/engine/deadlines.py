"""What happens by itself once its time has come, done before anything is read."""

from datetime import datetime, timedelta

from django.db import transaction

from marketplace.engine import assignments, expiry, states
from marketplace.models import HIT, Assignment
from marketplace.notifications import events

Status = Assignment.Status
DISPOSED_AFTER = timedelta(days=120)  # API reference, DeleteHIT


def sweep(*, now: datetime) -> None:
    """Abandon, auto-approve, release and dispose whatever is due. Four indexed queries when nothing is."""
    for assignment in Assignment.objects.filter(status=Status.OPEN, deadline__lte=now):
        assignments.abandon(assignment, now=now)
    for assignment in Assignment.objects.filter(status=Status.SUBMITTED, auto_approval_at__lte=now):
        assignments.approve_by_time(assignment, now=now)
    expiry.expire_due(now=now)
    for hit in HIT.objects.filter(
        states.reviewable(now=now), expires_at__lte=now - DISPOSED_AFTER, submitted=0
    ):
        _dispose_by_time(hit, now=now)


@transaction.atomic
def _dispose_by_time(hit: HIT, *, now: datetime) -> None:
    hit, disposed_at = assignments.locked(hit.pk), hit.expires_at + DISPOSED_AFTER
    due = HIT.objects.filter(states.reviewable(now=now), pk=hit.pk, submitted=0)
    if due.update(disposed_at=disposed_at):
        events.record(hit, "HITDisposed", at=disposed_at)
