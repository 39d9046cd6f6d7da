"""Work that no marketplace knows of: HITs of our own, handed in and decided by our own clock."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from annotators.crowds.base import HITTypeTerms
from annotators.models import HIT, Assignment, Channel, Endpoint, HITType

Status = Assignment.Status


def own_hit_type(terms: HITTypeTerms, *, name: str) -> HITType:
    """Return the HITType called `name` for work without a marketplace; safe to repeat."""
    hit_type, _ = HITType.objects.get_or_create(
        endpoint=Endpoint.LINK, hit_type_id=name, defaults=asdict(terms)
    )
    return hit_type


def own_hits(hit_type: HITType, *, places: Mapping[str, int], lifetime: timedelta) -> dict[str, int]:
    """Return {name: key} of HITs without a marketplace, each with so many places; safe to repeat."""
    now = timezone.now()
    times = {"created_at": now, "expires_at": now + lifetime}
    wanted = [HIT(hit_type=hit_type, hit_id=name, max_assignments=n, **times) for name, n in places.items()]
    HIT.objects.bulk_create(wanted, ignore_conflicts=True)
    made = HIT.objects.filter(hit_type=hit_type, hit_id__in=places)
    return dict(made.values_list("hit_id", "pk"))


def new_assignment_id() -> str:
    """Return an AssignmentId no marketplace gives: theirs are in capitals and digits, ours begins with L."""
    return f"L{uuid.uuid4().hex}"


def submit(assignment: Assignment) -> bool:
    """Hand in what is saved, by our own clock. False if it was before, or is not ours to say."""
    ours = _ours(assignment, Status.ACCEPTED).filter(saved_at__isnull=False)
    return _moved(ours, assignment, status=Status.SUBMITTED, submitted_at=timezone.now())


def approve(assignment: Assignment, *, feedback: str) -> bool:
    """Approve submitted link work here, where no marketplace has to hear of it. False if it is decided already."""
    ours = _ours(assignment, Status.SUBMITTED)
    return _moved(ours, assignment, status=Status.APPROVED, approved_at=timezone.now(), feedback=feedback)


def reject(assignment: Assignment, *, feedback: str) -> bool:
    """Reject submitted link work here. False if it is decided already."""
    ours = _ours(assignment, Status.SUBMITTED)
    return _moved(ours, assignment, status=Status.REJECTED, rejected_at=timezone.now(), feedback=feedback)


def overturn(assignment: Assignment, *, feedback: str) -> bool:
    """Approve rejected link work after all. False if it is not rejected."""
    ours = _ours(assignment, Status.REJECTED)
    return _moved(ours, assignment, status=Status.APPROVED, approved_at=timezone.now(), feedback=feedback)


def _ours(assignment: Assignment, status: str) -> QuerySet[Assignment]:
    by_link = Assignment.objects.exclude(channel=Channel.MARKETPLACE)
    return by_link.filter(pk=assignment.pk, status=status)


def _moved(rows: QuerySet[Assignment], assignment: Assignment, **changes: object) -> bool:
    is_first = rows.update(**changes) == 1
    assignment.refresh_from_db()
    return is_first
