"""The mirror of what the marketplace says about HITs and assignments, and the lease to work on one of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import CharField, F, Q, Value
from django.db.models.functions import Cast, Concat, Greatest
from django.utils import timezone

from annotators.gateway import AssignmentRecord, Gateway, HITRecord
from annotators.models import HIT, Assignment, Channel, Worker

LEASE = timedelta(minutes=10)
FACTS = (
    "assignment_id",
    "status",
    "accepted_at",
    "submitted_at",
    "auto_approval_at",
    "approved_at",
    "rejected_at",
    "feedback",
    "answer_xml",
)


def fetch(hit: HIT, *, gateway: Gateway) -> list[Assignment]:
    """Mirror the HIT and its submitted assignments; returns ours, in the order of submission.

    What its worker did by link on the same HIT is left alone: the marketplace knows nothing about it.
    """
    mirror_hit(hit, gateway.get_hit(hit.hit_id))
    records = gateway.list_assignments(hit.hit_id)
    mirrored = [mirror_assignment(hit, record) for record in records]
    of_market = [assignment for assignment in mirrored if assignment.channel == Channel.MARKETPLACE]
    return sorted(
        of_market, key=lambda assignment: (assignment.submitted_at or timezone.now(), assignment.pk)
    )


def mirror_hit(hit: HIT, record: HITRecord) -> None:
    """Write the marketplace's facts about a HIT. MaxAssignments only ever grows, so an older answer can't win."""
    HIT.objects.filter(pk=hit.pk).update(
        status=record.status,
        max_assignments=Greatest(F("max_assignments"), record.max_assignments),
        expires_at=record.expires_at,
        synced_at=timezone.now(),
    )
    hit.refresh_from_db(fields=["status", "max_assignments", "expires_at", "synced_at"])


def mark_synced(hit: HIT) -> None:
    """Write down that a HIT was looked after, where no marketplace says anything about it."""
    HIT.objects.filter(pk=hit.pk).update(synced_at=timezone.now())
    hit.refresh_from_db(fields=["synced_at"])


def mirror_assignment(hit: HIT, record: AssignmentRecord) -> Assignment:
    """Write the marketplace's facts about one submission on our row for that worker, or on a new one.

    A worker has one assignment a HIT, so (HIT, WorkerId) finds the row even where a return and a second accept
    have changed the AssignmentId. A row that says the same already is left alone.
    """
    try:
        return _mirrored(hit, record)
    except IntegrityError:
        _refute_claims(hit, record)
        return _mirrored(hit, record)


@transaction.atomic
def _mirrored(hit: HIT, record: AssignmentRecord) -> Assignment:
    worker, _ = Worker.objects.get_or_create(source=hit.endpoint, worker_id=record.worker_id)
    facts = {name: getattr(record, name) for name in FACTS}
    assignment, is_new = Assignment.objects.get_or_create(hit=hit, worker=worker, defaults=facts)
    changed = [name for name in FACTS if getattr(assignment, name) != facts[name]]
    if changed and not is_new and assignment.channel == Channel.MARKETPLACE:
        for name in changed:
            setattr(assignment, name, facts[name])
        assignment.save(update_fields=changed)
    return assignment


def _refute_claims(hit: HIT, record: AssignmentRecord) -> None:
    """Take this AssignmentId from the worker's other HITs: their frame was opened with it, which proves nothing.

    Those rows keep what they hold, and get an AssignmentId of their own once the worker opens that HIT with it.
    """
    claims = Assignment.objects.filter(
        worker__source=hit.endpoint,
        worker__worker_id=record.worker_id,
        assignment_id=record.assignment_id,
        status=Assignment.Status.ACCEPTED,
    )
    claims.exclude(hit=hit).update(assignment_id=Concat(Value("refuted:"), Cast("pk", CharField())))


@contextmanager
def lease(hit: HIT) -> Iterator[bool]:
    """Yield True to the one task that may work on this HIT now. A lease that was never given back runs out."""
    now = timezone.now()
    free = Q(leased_until__isnull=True) | Q(leased_until__lt=now)
    until = now + LEASE
    is_ours = HIT.objects.filter(free, pk=hit.pk).update(leased_until=until) == 1
    try:
        yield is_ours
    finally:
        if is_ours:
            HIT.objects.filter(pk=hit.pk, leased_until=until).update(leased_until=None)
