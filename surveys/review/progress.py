"""Batches as lists show them: with their counts, in one query however many there are."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotators.crowds.base import by_market
from annotators.models import IS_LOST, Assignment
from surveys.models import Batch, Invitation, PanelVisit, Questionnaire, does_not_count, is_held, is_undecided
from surveys.publishing import quota

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
    status = Assignment.Status
    of_hits = "hit__assignments"  # this way round: from assignments, a planner may read those of every batch
    kept = ~does_not_count(of_hits) & Q(**{f"{of_hits}__status__in": [status.SUBMITTED, status.APPROVED]})

    def assignments(which: Q) -> Coalesce:
        return _number(questionnaires, Count(of_hits, filter=which))

    return batches.annotate(
        n_hits=_number(questionnaires, Count("pk")),
        n_published=_number(questionnaires, Count("hit")),
        n_wanted=_number(questionnaires.filter(sibling_of=None), Sum("target_assignments")),
        n_kept=assignments(kept),
        n_undecided=assignments(is_undecided(of_hits)),
        n_held=assignments(is_held(of_hits)),
        n_rejected=assignments(Q(**{f"{of_hits}__status": status.REJECTED})),
    )


def runs_out() -> Q:
    """Tell whether the marketplace approves work by itself unless it hears from us: nothing of a HIT that it forgot."""
    return is_undecided() & ~IS_LOST


def undecided() -> QuerySet[Assignment]:
    """Return the assignments of which that is so."""
    return Assignment.objects.filter(runs_out())


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
    """Annotate invitations or visits with what their worker has of the batch: n_done, n_open, and n_left.

    `n_open` is begun and held for them, `n_left` begun, and free for others by now.
    """
    given = Assignment.objects.filter(annotation_slot__batch=batch, worker=OuterRef("worker"))
    begun, is_at_work = given.filter(saved_at=None), quota.is_at_work(batch)
    return people.annotate(
        n_done=_number(given.filter(saved_at__isnull=False), Count("pk")),
        n_open=_number(begun.filter(is_at_work), Count("pk")),
        n_left=_number(begun.exclude(is_at_work), Count("pk")),
    )


def with_pay(people: QuerySet[Person], *, batch: Batch) -> QuerySet[Person]:
    """Annotate invitations with n_accepted, what their worker has to be paid for, and n_waiting, what may follow.

    What they did on a marketplace, that pays.
    """
    given = Assignment.objects.filter(~by_market(), annotation_slot__batch=batch, worker=OuterRef("worker"))
    return people.annotate(
        n_accepted=_number(given.filter(status=Assignment.Status.APPROVED), Count("pk")),
        n_waiting=_number(given.filter(status=Assignment.Status.SUBMITTED), Count("pk")),
    )


def _number(rows: QuerySet[Any], aggregate: Count | Sum) -> Coalesce:
    """Return one number of rows that are chosen by what they are asked for."""
    numbers = rows.order_by().annotate(all=Value(1)).values("all").annotate(number=aggregate).values("number")
    return Coalesce(Subquery(numbers, output_field=IntegerField()), 0)
