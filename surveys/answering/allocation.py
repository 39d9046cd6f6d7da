"""Which annotation is given to whom, for people who come by a link.

One person works on what was given to them until their time runs out; then it goes to whoever asks next, and the
draft, and late answers too, stay with their author.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, Model, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from annotators.constraints import is_about
from annotators.crowds.base import by_market, crowd_of
from annotators.crowds.links import work as link_work
from annotators.failpoints import reach
from annotators.models import HIT, Assignment, Worker
from statements import Hole, Moment, Statement
from surveys.answering.orders import draw_responses
from surveys.models import (
    AnnotationSlot,
    Appeal,
    Batch,
    Decision,
    PanelVisit,
    Picture,
    Questionnaire,
    Response,
    skips,
)
from surveys.publishing import budget, giving, pilots, quota

TRIES = 5
NUMBER_MAX = 2**31 - 1  # of an annotation: its column holds no more, and SQLite takes no number beyond 2**63
MOST_COMING = 8  # pictures that are fetched before they are asked for
ONCE_EACH: tuple[tuple[type[Model], str], ...] = (
    (Assignment, "assignment_once_per_hit_and_worker"),
    (Response, "worker_sees_item_once_per_batch"),
)
LATER = gettext_lazy("There is nothing to do here at the moment. Please come back later.")
Status = Assignment.Status
IS_OPEN = Q(status=Status.ACCEPTED, saved_at=None)


class NothingLeft(Exception):
    """There is nothing, or nothing more, to do here for this person; the message tells them why."""


class NoneFree(NothingLeft):
    """Whatever this person could have been given, others have, or they have seen it."""


class _Overtaken(Exception):
    """Somebody, or the same person by another way, was quicker: what is left has to be asked again."""


class NotYours(Exception):
    """This annotation id can't be given to this person; the message tells them why."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation of a person. `state` is "open", "answered" or "skipped"."""

    number: int
    state: str
    assignment: Assignment
    saved_at: datetime | None

    @property
    def is_accepted(self) -> bool:
        return self.assignment.status == Status.APPROVED

    @property
    def is_rejected(self) -> bool:
        return self.assignment.status == Status.REJECTED

    @property
    def appeal(self) -> Appeal | None:
        """Return where the person reads why this was not accepted, and what became of it; None if it never was."""
        appeal: Appeal | None = getattr(self.assignment, "appeal", None)
        decision: Decision | None = getattr(self.assignment, "decision", None)
        was_rejected = self.is_rejected or (decision is not None and decision.overturned_at is not None)
        return appeal if appeal and (was_rejected or appeal.made_at) else None


def take(batch: Batch, *, worker: Worker, channel: str, limit: int | None = None) -> Assignment:
    """Return the person's open assignment, else a new one where the least is filled. Raises NothingLeft.

    `limit`: how many assignments this person may have in the batch; None is as many as there are.
    """
    for _ in range(TRIES):
        with suppress(_Overtaken), _noticing_who_was_quicker():
            return _taken(batch, worker=worker, channel=channel, limit=limit)
    raise NothingLeft(gettext("Somebody was quicker. Please try again."))


def take_number(
    batch: Batch, *, number: int, worker: Worker, channel: str, limit: int | None = None
) -> Assignment:
    """Return the person's assignment with this annotation id, answered ones too, or give it to them if it is free.

    Raises NotYours if it is somebody else's, does not exist or shows what the person has seen; NothingLeft if the
    batch is closed or the limit reached.
    """
    slot = _numbered(batch, number=number)
    if mine := _mine(slot, worker=worker):
        quota.keep(mine, batch=batch)
        return mine
    try:
        with _noticing_who_was_quicker():
            return _given_number(slot, worker=worker, channel=channel, limit=limit)
    except _Overtaken as error:
        raise NotYours(
            gettext("Annotation %(n)d shows what you have seen already.") % {"n": number}
        ) from error


def own(batch: Batch, *, worker: Worker) -> list[Annotation]:
    """Return the annotations given to this person by link, by annotation id."""
    slots = AnnotationSlot.objects.filter(~by_market("assignment__"), batch=batch, assignment__worker=worker)
    found = slots.select_related("assignment__appeal", "assignment__decision").order_by("number")
    mine = [(slot.number, slot.assignment) for slot in found if slot.assignment]
    found_skips = skips(Response.objects.filter(assignment__in=[one for _, one in mine]))
    skipped: set[Any] = set(found_skips.values_list("assignment", flat=True))
    return [Annotation(n, _state(a, skipped), a, a.saved_at) for n, a in mine]


def progress(batch: Batch, *, worker: Worker) -> tuple[int, int]:
    """Return how many annotations were given to this person by link, and how many of those are answered or skipped."""
    rows = PROGRESS.rows(batch=batch.pk, worker=worker.pk)
    n_given, n_open = rows[0] if rows else (0, 0)
    return n_given, n_given - n_open


def has_done(batch: Batch, *, number: int, worker: Worker) -> bool:
    """Tell whether this person has handed in the annotation with this id."""
    slot = _slot(batch, number=number)
    mine = _mine(slot, worker=worker) if slot else None
    return mine is not None and mine.saved_at is not None


def _theirs() -> QuerySet[Assignment]:
    """Return what was given to a person by link."""
    return Assignment.objects.filter(
        ~by_market(),
        annotation_slot__batch=Hole("batch", Batch._meta.pk),
        worker=Hole("worker", Worker._meta.pk),
    )


def _progress() -> QuerySet[Assignment, Any]:
    in_one = _theirs().values("annotation_slot__batch")
    counted = in_one.annotate(n=Count("pk"), n_open=Count("pk", filter=IS_OPEN))
    return counted.values_list("n", "n_open")


PROGRESS = Statement(_progress)


def suggest(batch: Batch, *, worker: Worker, limit: int | None = None) -> int | None:
    """Return the annotation id this person would be given next, without giving it; None if there is none."""
    with suppress(NothingLeft):
        return next_number(batch, worker=worker, limit=limit)
    return None


def next_number(batch: Batch, *, worker: Worker, limit: int | None = None) -> int:
    """Return the annotation id this person would be given next, without giving it. Raises NothingLeft, as `take`."""
    if mine := _open_one(batch, worker):
        return mine.annotation_slot.number
    slot = _next_free(batch, worker=worker, limit=limit)
    _check_covered(slot, batch=batch)
    return slot.number


def coming(batch: Batch, *, worker: Worker, limit: int | None = None) -> list[Picture]:
    """Return the pictures of what this person would probably be given next; nothing is given or held by that."""
    with suppress(NothingLeft):
        return _pictures_of(_next_free(batch, worker=worker, limit=limit).questionnaire_id)
    return []


def _next_free(batch: Batch, *, worker: Worker, limit: int | None) -> AnnotationSlot:
    """Return the place this person would come to next, whatever the budget is. Raises NothingLeft."""
    _check_may_take(batch, worker=worker, limit=limit)
    return _found(giving.next_free(batch, worker=worker))


def coming_after(assignment: Assignment) -> list[Picture]:
    """Return the pictures of what the marketplace would probably offer this worker next: its oldest open HIT.

    What others claim in this worker's name tells nobody anything, as elsewhere (`is_borne_out`).
    """
    following = FOLLOWING.first(
        batch=assignment.hit.questionnaire.batch_id,
        now=timezone.now(),
        worker=assignment.worker_id,
        claimed_from=assignment.claimed_from,
        assignment=assignment.pk,
    )
    return _pictures_of(following.pk) if following else []


def _offered_next() -> QuerySet[Questionnaire]:
    """Return the oldest that a marketplace still offers to a worker who has seen none of its items."""
    claimed_from = Hole("claimed_from", Assignment._meta.get_field("claimed_from"))
    theirs = quota.is_borne_out(claimed_from, assignment="assignment__")
    this, worker = Q(assignment=Hole("assignment", Assignment._meta.pk)), Hole("worker", Worker._meta.pk)
    seen = Response.objects.filter(theirs | this, worker=worker, item__slots__questionnaire=OuterRef("pk"))
    offered = Questionnaire.objects.filter(
        ~Exists(seen),
        batch=Hole("batch", Batch._meta.pk),
        hit__status=HIT.Status.ASSIGNABLE,
        hit__expires_at__gt=Moment("now"),
    )
    wanting = offered.annotate(n=Count("hit__assignments")).filter(n__lt=F("hit__max_assignments"))
    return wanting.order_by("hit")[:1]


FOLLOWING = Statement(_offered_next)


def _pictures_of(questionnaire: UUID) -> list[Picture]:
    return COMING.all(questionnaire=questionnaire)


def _coming() -> QuerySet[Picture]:
    of_items = Picture.objects.filter(
        item__slots__questionnaire=Hole("questionnaire", Questionnaire._meta.pk)
    )
    images = of_items.exclude(file="").filter(content_type__startswith="image/")
    return images.order_by("item", "position")[:MOST_COMING]


COMING = Statement(_coming)


@transaction.atomic
def settle(assignment: Assignment) -> None:
    """Hand in saved answers; a skipped item is wanted again, one that is judged after all is not.

    Safe to repeat, and after a change of answers.
    """
    link_work.submit(assignment)
    reach("link.settling")
    if assignment.saved_at is None or crowd_of(assignment).has_market:
        return
    if skips(assignment.responses.all()).exists():
        quota.reopen(assignment)
    else:
        quota.withdraw(assignment)
    if crowd_of(assignment).is_panel:
        _close_visit(assignment)


@contextmanager
def _noticing_who_was_quicker() -> Iterator[None]:
    """Raise _Overtaken where the same person has just been given these items by another way; nothing else is hidden."""
    try:
        yield
    except IntegrityError as error:
        if any(is_about(error, model, name) for model, name in ONCE_EACH):
            raise _Overtaken from error
        raise


@transaction.atomic
def _taken(batch: Batch, *, worker: Worker, channel: str, limit: int | None) -> Assignment:
    _lock(worker)
    if mine := _open_one(batch, worker):
        quota.keep(mine, batch=batch)
        return mine
    _check_may_take(batch, worker=worker, limit=limit)
    slot = _found(giving.lock_next(batch, worker=worker))
    return _opened_within_budget(slot, worker=worker, channel=channel)


def _found(slot: AnnotationSlot | None) -> AnnotationSlot:
    if slot is None:
        raise NoneFree(gettext("There is nothing left to do here for you. Thank you!"))
    return slot


def _check_covered(slot: AnnotationSlot, *, batch: Batch) -> None:
    """Raise NothingLeft where the budget does not cover a place that is free, as `_opened_within_budget` would.

    What somebody's draft still stands for, or a HIT still offers, can come to cost twice; what nobody has is covered.
    """
    if batch.budget is None or (slot.assignment_id is None and not batch.has_market):
        return
    try:
        budget.check_unlocked(batch, batch.reward)
    except budget.OverBudget as error:
        raise NothingLeft(str(LATER)) from error


@transaction.atomic
def _given_number(slot: AnnotationSlot, *, worker: Worker, channel: str, limit: int | None) -> Assignment:
    _lock(worker)
    _check_may_take(slot.batch, worker=worker, limit=limit)
    free = giving.lock_free(giving.slots_of_admitted(slot.batch, worker=worker).filter(pk=slot.pk))
    if free is None:
        raise NotYours(_why_not(slot, worker=worker))
    return _opened_within_budget(free, worker=worker, channel=channel)


def _opened_within_budget(slot: AnnotationSlot, *, worker: Worker, channel: str) -> Assignment:
    """Open what the budget covers, as it is now that nobody else spends it.

    Questionnaire before batch, the order in which `arrival` locks them.
    """
    batch = slot.questionnaire.batch  # as it is now: the slot was locked with it
    if batch.budget is None:
        return _opened(slot, worker=worker, channel=channel)
    LOCKED.get(pk=slot.questionnaire_id)
    try:
        with budget.spending(batch):
            return _opened(slot, worker=worker, channel=channel)
    except budget.OverBudget as error:
        raise NothingLeft(str(LATER)) from error


def _opened(slot: AnnotationSlot, *, worker: Worker, channel: str) -> Assignment:
    questionnaire = LOCKED.get(pk=slot.questionnaire_id)
    if questionnaire.hit is None:
        raise NothingLeft(gettext("This study is not ready yet. Please come back later."))
    assignment = Assignment.objects.create(
        hit=questionnaire.hit,
        worker=worker,
        assignment_id=link_work.new_assignment_id(),
        channel=channel,
        accepted_at=timezone.now(),
    )
    if not quota.give(slot, assignment=assignment):
        raise _Overtaken
    slot.assignment = assignment
    draw_responses(questionnaire, assignment=assignment, is_new=True)
    reach("link.taking")
    return assignment


def _lock(worker: Worker) -> None:
    """One person in two tabs takes one thing at a time."""
    Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)


LOCKED = Statement(
    lambda: (
        Questionnaire.objects.select_for_update(of=("self",), no_key=True)
        .select_related("batch__survey", "hit")
        .filter(pk=Hole("pk", Questionnaire._meta.pk))
    )
)


def _open_one(batch: Batch, worker: Worker) -> Assignment | None:
    return OPEN_ONE.first(batch=batch.pk, worker=worker.pk)


OPEN_ONE = Statement(
    lambda: (
        _theirs().filter(IS_OPEN).select_related("annotation_slot").order_by("annotation_slot__number")[:1]
    )
)


def _check_may_take(batch: Batch, *, worker: Worker, limit: int | None) -> None:
    status = Batch.objects.values_list("status", flat=True).get(pk=batch.pk)
    if status != Batch.Status.OPEN:
        raise NothingLeft(gettext("This study takes no more annotations. Thank you!"))
    if worker.standing == Worker.Standing.EXCLUDED:
        raise NothingLeft(gettext("This study is not open to you."))
    if pilots.took_part(worker, batch=batch):
        raise NothingLeft(gettext("You have taken part in this study before. Thank you!"))
    given = AnnotationSlot.objects.filter(batch=batch, assignment__worker=worker)
    if limit is not None and given.count() >= limit:
        raise NothingLeft(gettext("You have done all that was meant for you. Thank you!"))


def _numbered(batch: Batch, *, number: int) -> AnnotationSlot:
    slot = _slot(batch, number=number)
    if slot is None:
        raise NotYours(gettext("There is no annotation %(n)d in this study.") % {"n": number})
    return slot


def _slot(batch: Batch, *, number: int) -> AnnotationSlot | None:
    return NUMBERED.first(batch=batch.pk, number=number) if number <= NUMBER_MAX else None


NUMBERED = Statement(
    lambda: AnnotationSlot.objects.select_related("batch", "reopens", "assignment__worker").filter(
        batch=Hole("batch", Batch._meta.pk), number=Hole("number", AnnotationSlot._meta.get_field("number"))
    )
)


def _mine(slot: AnnotationSlot, *, worker: Worker) -> Assignment | None:
    """Return the person's assignment under this number, also where the number went to somebody else since."""
    holder: AnnotationSlot | None = slot
    while holder is not None:
        if holder.assignment and holder.assignment.worker_id == worker.pk and _is_by_link(holder.assignment):
            return holder.assignment
        holder = holder.reopens
    return None


def _is_by_link(assignment: Assignment) -> bool:
    return not crowd_of(assignment).has_market


def _why_not(slot: AnnotationSlot, *, worker: Worker) -> str:
    seen = Response.objects.filter(
        batch=slot.batch, worker=worker, item__slots__questionnaire=slot.questionnaire_id
    )
    if seen.exists():
        return gettext("Annotation %(n)d shows what you have seen already.") % {"n": slot.number}
    return gettext("Annotation %(n)d was given to somebody else.") % {"n": slot.number}


def _state(assignment: Assignment, skipped: set[Any]) -> str:
    if assignment.saved_at is None and assignment.status == Status.ACCEPTED:
        return "open"
    return "skipped" if assignment.pk in skipped else "answered"


def _close_visit(assignment: Assignment) -> None:
    """Write down when a panel's person had done as much as the panel asked for."""
    batch = assignment.hit.questionnaire.batch
    visits = PanelVisit.objects.filter(panel__batch=batch, worker=assignment.worker, completed_at=None)
    visit = visits.select_related("panel").first()
    done = Assignment.objects.filter(
        annotation_slot__batch=batch, worker=assignment.worker, saved_at__isnull=False
    )
    if visit and done.count() >= visit.panel.assignments_per_worker:
        visits.update(completed_at=timezone.now())
