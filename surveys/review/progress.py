"""Batches as lists show them: with their counts, in one query however many there are."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotators.models import IS_LOST, Assignment
from surveys.models import Batch, Invitation, PanelVisit, Questionnaire, does_not_count, is_held, is_undecided

if TYPE_CHECKING:
    from typing import TypedDict

    from django_stubs_ext import WithAnnotations

    class _Counts(TypedDict):
        n_hits: int
        n_published: int
        n_wanted: int
        n_kept: int
        n_undecided: int
        n_held: int
        n_rejected: int

    CountedBatch = WithAnnotations[Batch, _Counts]
else:
    CountedBatch = Batch

Person = TypeVar("Person", Invitation, PanelVisit)
LONGEST_WARNING = timedelta(hours=6)


def with_counts(batches: QuerySet[Batch]) -> "QuerySet[CountedBatch]":
    """Annotate n_hits, n_published, n_wanted (assignments to keep), n_kept, n_undecided, n_held and n_rejected.

    What does not count is in, but not kept. What is held waits for a person.
    """
    questionnaires = Questionnaire.objects.filter(batch=OuterRef("pk"))
    assignments = Assignment.objects.filter(hit__questionnaire__batch=OuterRef("pk"))
    status = Assignment.Status
    kept = assignments.exclude(does_not_count()).filter(status__in=[status.SUBMITTED, status.APPROVED])
    return batches.annotate(
        n_hits=_number(questionnaires, Count("pk"), by="batch"),
        n_published=_number(questionnaires, Count("hit"), by="batch"),
        n_wanted=_number(questionnaires.filter(sibling_of=None), Sum("target_assignments"), by="batch"),
        n_kept=_of(kept),
        n_undecided=_of(assignments.filter(is_undecided())),
        n_held=_of(assignments.filter(is_held())),
        n_rejected=_of(assignments.filter(status=status.REJECTED)),
    )


def undecided() -> QuerySet[Assignment]:
    """Return what the marketplace approves by itself unless it hears from us: nothing of a HIT that it forgot."""
    return Assignment.objects.filter(is_undecided()).exclude(IS_LOST)


def warning_time(batch: Batch) -> timedelta:
    """How long before auto-approval undecided work is urgent: a quarter of the delay, at most six hours."""
    return min(LONGEST_WARNING, batch.auto_approval_delay / 4)


def urgent(batch: Batch, *, now: datetime | None = None) -> QuerySet[Assignment]:
    """Return the undecided assignments the marketplace is about to approve by itself."""
    deadline = (now or timezone.now()) + warning_time(batch)
    return undecided().filter(auto_approval_at__lte=deadline, hit__questionnaire__batch=batch)


def is_soon(assignment: Assignment, *, batch: Batch, now: datetime) -> bool:
    """Tell whether the marketplace is about to approve an undecided assignment by itself."""
    at = assignment.auto_approval_at
    return at is not None and at <= now + warning_time(batch)


def with_work(people: QuerySet[Person], *, batch: Batch) -> QuerySet[Person]:
    """Annotate invitations or visits with n_done and n_open: what their worker has done of the batch, and begun."""
    given = Assignment.objects.filter(annotation_slot__batch=batch, worker=OuterRef("worker"))
    return people.annotate(
        n_done=_number(given.filter(saved_at__isnull=False), Count("pk"), by="worker"),
        n_open=_number(given.filter(saved_at=None), Count("pk"), by="worker"),
    )


def _of(assignments: QuerySet[Assignment]) -> Coalesce:
    return _number(assignments, Count("pk"), by="hit__questionnaire__batch")


def _number(rows: QuerySet[Any], aggregate: Count | Sum, *, by: str) -> Coalesce:
    numbers = rows.order_by().values(by).annotate(number=aggregate).values("number")
    return Coalesce(Subquery(numbers, output_field=IntegerField()), 0)
