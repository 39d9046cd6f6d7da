"""Which of the wanted annotations a worker could be given, and which first (ADR 6). `slots_of_admitted` says it whole.

First those that nobody ever had, then what others began and let go, then what is only claimed; of each the least filled
first. What is given again comes later because a draft of it can still be handed in, and costs: a budget may not cover
it twice, and nobody would get to the places behind it, which are paid for. Left out are questionnaires with an item the
worker is known to have seen, by whatever way they came, and those that answers came late for.

What comes next is asked for with every page of somebody who came by link, and so is how much is left. The next one is
found without a look at each slot: there is an index of those nobody has, and what was given and is not handed in is
little. How much is left takes a look at each questionnaire. Both have to find what a look at each slot finds; where
answers came late, which is rare, that is what they do.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotators.models import Assignment, Worker
from statements import Hole, Moment, Statement
from surveys.models import AnnotationSlot, Batch, Questionnaire, QuestionnaireItem, Response
from surveys.publishing import pilots
from surveys.publishing.quota import SUPERSEDED, UNTOUCHED, Status, has_lapsed, without_room

# As good as "no assignment" (`given_slot_has_lease`), which SQLite would look for in the index that makes them unique.
NEVER_GIVEN = Q(leased_until=None)
BATCH = Hole("batch", Batch._meta.pk)
WORKER = Hole("worker", Worker._meta.pk)
HAS_LAPSED = has_lapsed(Moment("now"))


def free_slots(batch: Batch, *, worker: Worker, now: datetime | None = None) -> QuerySet[AnnotationSlot]:
    """Return the slots this worker could be given, in the order they are given in.

    The excluded get none, and none those who took part before where the batch leaves them out.
    """
    if _is_barred(worker, batch=batch):
        return AnnotationSlot.objects.none()
    return slots_of_admitted(batch, worker=worker, now=now)


def slots_of_admitted(
    batch: Batch, *, worker: Worker, now: datetime | None = None
) -> QuerySet[AnnotationSlot]:
    """Return the `free_slots` of somebody of whom it is known that they are not kept from the batch."""
    has_run_out = has_lapsed(now or timezone.now())
    of_kind = Case(When(NEVER_GIVEN, then=0), When(has_run_out, then=1), default=2)
    slots = _unseen(AnnotationSlot.objects.filter(batch=batch), batch=batch, worker=worker)
    slots = slots.filter(NEVER_GIVEN | has_run_out | UNTOUCHED)
    return slots.exclude(questionnaire__in=without_room(batch)).order_by(of_kind, "replicate", "number")


def next_free(batch: Batch, *, worker: Worker) -> AnnotationSlot | None:
    """Return the first of `slots_of_admitted`, and hold it for nobody."""
    if without_room(batch):
        return slots_of_admitted(batch, worker=worker).first()
    return _first(NEXT, batch=batch, worker=worker)


def lock_next(batch: Batch, *, worker: Worker) -> AnnotationSlot | None:
    """Lock and return the first of `slots_of_admitted` nobody else is just taking."""
    if without_room(batch):
        return lock_free(slots_of_admitted(batch, worker=worker))
    return _first(LOCKED_NEXT, batch=batch, worker=worker)


def lock_free(slots: QuerySet[AnnotationSlot]) -> AnnotationSlot | None:
    """Lock and return the first slot nobody else is just taking. SQLite has one writer at a time anyway."""
    return _locked(slots).first()


def n_free(batch: Batch, *, worker: Worker) -> int:
    """Return how many annotations this worker could still be given."""
    if _is_barred(worker, batch=batch):
        return 0
    if without_room(batch):
        return slots_of_admitted(batch, worker=worker).order_by().values("questionnaire").distinct().count()
    ((n_never_given, n_seen, n_given_before),) = N_FREE.rows(
        batch=batch.pk, worker=worker.pk, now=timezone.now()
    )
    return int(n_never_given - n_seen + n_given_before)


def _is_barred(worker: Worker, *, batch: Batch) -> bool:
    return worker.standing == Worker.Standing.EXCLUDED or pilots.took_part(worker, batch=batch)


def _first(
    kinds: Sequence[Statement[AnnotationSlot]], *, batch: Batch, worker: Worker
) -> AnnotationSlot | None:
    now = timezone.now()
    found = (kind.first(batch=batch.pk, worker=worker.pk, now=now) for kind in kinds)
    return next(filter(None, found), None)


def _locked(slots: QuerySet[AnnotationSlot]) -> QuerySet[AnnotationSlot]:
    with_work = slots.select_related("questionnaire__batch__survey", "questionnaire__hit", "assignment")
    return with_work.select_for_update(of=("self",), no_key=True, skip_locked=True)


def _unseen(
    slots: QuerySet[AnnotationSlot], *, batch: Batch | Hole, worker: Worker | Hole
) -> QuerySet[AnnotationSlot]:
    """Return those that are the last of their chains, of questionnaires of which the worker has seen no item.

    Item by item, within: SQLite would go through all that they have seen, for each slot.
    """
    to_them = Response.objects.filter(item=OuterRef("item"), is_claim=False, batch=batch, worker=worker)
    seen = QuestionnaireItem.objects.filter(Exists(to_them), questionnaire=OuterRef("questionnaire"))
    return slots.filter(~SUPERSEDED).exclude(Exists(seen))


def _never_given() -> QuerySet[AnnotationSlot]:
    nobodys = AnnotationSlot.objects.filter(NEVER_GIVEN, batch=BATCH)
    return _unseen(nobodys, batch=BATCH, worker=WORKER).order_by("replicate", "number")


def _given_before() -> QuerySet[AnnotationSlot]:
    """Return what was given and is free again, found by what is not handed in, of which there is little."""
    not_handed_in = Assignment.objects.filter(status=Status.ACCEPTED, hit__questionnaire__batch=BATCH)
    again = AnnotationSlot.objects.filter(HAS_LAPSED | UNTOUCHED, assignment__in=not_handed_in)
    of_kind = Case(When(HAS_LAPSED, then=0), default=1)
    return _unseen(again, batch=BATCH, worker=WORKER).order_by(of_kind, "replicate", "number")


NEXT = [Statement(lambda: _never_given()[:1]), Statement(lambda: _given_before()[:1])]
LOCKED_NEXT = [
    Statement(lambda: _locked(_never_given())[:1]),
    Statement(lambda: _locked(_given_before())[:1]),
]


def _how_many() -> QuerySet[Batch, Any]:
    """Return of how many questionnaires nobody has had a slot, how many of these are seen, and how many others have
    a slot that is free again.

    No slot that nobody has is superseded: what is reopened has an assignment.
    """
    of_questionnaire = AnnotationSlot.objects.filter(NEVER_GIVEN)
    wanting = Questionnaire.objects.filter(
        Exists(of_questionnaire.filter(questionnaire=OuterRef("pk"))), batch=BATCH
    )
    seen = Response.objects.filter(
        Exists(of_questionnaire.filter(questionnaire=OuterRef("item__slots__questionnaire"))),
        is_claim=False,
        batch=BATCH,
        worker=WORKER,
        item__slots__questionnaire__batch=BATCH,
    )
    others = _given_before().exclude(Exists(of_questionnaire.filter(questionnaire=OuterRef("questionnaire"))))
    return Batch.objects.filter(pk=BATCH).values_list(
        _n_different(wanting, "pk"),
        _n_different(seen, "item__slots__questionnaire"),
        _n_different(others, "questionnaire"),
    )


def _n_different(rows: QuerySet[Any], column: str) -> Coalesce:
    counted = rows.order_by().values("batch").annotate(n=Count(column, distinct=True))
    return Coalesce(Subquery(counted.values("n")), 0)


N_FREE = Statement(_how_many)
