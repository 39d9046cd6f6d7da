"""The one quota of a batch over all channels: which annotations are wanted, given, and wanted again.

Every wanted annotation is one slot. A slot that was `reopened_as` another has an answer that does not count (rejected,
skipped, or left out to be collected once more) or an author whose time ran out; the last slot of such a chain is the
one that is wanted.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from annotators.crowds.base import MORE_TIME, by_market
from annotators.failpoints import reach
from annotators.models import IS_CLAIM, Assignment, Worker
from statements import Change, Hole, Moment, Statement
from surveys.models import (
    AnnotationSlot,
    Batch,
    Questionnaire,
    Response,
    does_not_count,
    is_left_out,
    is_skipped,
)
from surveys.protocols.policy import cap
from surveys.protocols.rules import most_assignments
from surveys.publishing import budget

Status = Assignment.Status
# What a marketplace's worker has saved with us is not submitted there yet; what came by link is handed in by saving.
UNANSWERED = Q(assignment__status=Status.ACCEPTED) & (
    Q(assignment__saved_at=None) | by_market("assignment__")
)
# Opened by the frame's address alone, and nothing written since: it holds a place against nobody.
UNTOUCHED = Q(
    by_market("assignment__"), assignment__status=Status.ACCEPTED, assignment__saved_at=None
) & ~Exists(Response.objects.filter(assignment=OuterRef("assignment"), draft_version__gt=0))
SUPERSEDED = Exists(AnnotationSlot.objects.filter(reopens=OuterRef("pk")))
SKIPPED = is_skipped("assignment")
LEFT_OUT = is_left_out("assignment")
# Of assignments: the place of an answer that did not count is offered once more, and has gone to somebody else. These
# are subqueries: of two joins more PostgreSQL would look for the best order longer than they take.
_AGAIN = AnnotationSlot.objects.filter(reopens__assignment=OuterRef("pk"))
OFFERED_AGAIN = Exists(_AGAIN)
GIVEN_AGAIN = Exists(_AGAIN.filter(assignment__isnull=False))


@dataclass(frozen=True, slots=True)
class Room:
    """Of one questionnaire: slots that could be given now, and answers that came after their slot was given away."""

    n_free: int
    n_late: int

    @property
    def is_there(self) -> bool:
        return self.n_free > self.n_late


def has_slots(batch: Batch) -> bool:
    """Tell whether a batch counts its annotations by slots: whoever comes by link needs them."""
    return batch.takes_links or not batch.has_market


def is_at_work(batch: Batch, *, assignment: str = "") -> Q:
    """Tell, in a query over assignments of a batch, who may still hand in what they began; `assignment` leads to it.

    Neither whose time is over, although late work counts, nor whoever was forgotten. By link a look renews the time.
    """
    at, now = f"{assignment}__" if assignment else "", timezone.now()
    begun = Q(**{f"{at}loaded_at__gt": now - batch.assignment_duration - MORE_TIME})
    in_time = Q(**{f"{at}annotation_slot__leased_until__gt": now}) if has_slots(batch) else begun
    is_known = Q(**{f"{at}worker__purged_at": None})
    is_back = Q(**{f"{at}loaded_at__gt": F(f"{at}worker__purged_at")})
    return in_time & (is_known | is_back) & Q(**{f"{at}status": Status.ACCEPTED})


def write_slots(batch: Batch) -> int:
    """Number the wanted annotations of a batch that is being published: all first ones, then all second ones."""
    questionnaires = list(batch.questionnaires.filter(sibling_of=None).order_by("position"))
    wanted = [(q, n) for q in questionnaires for n in range(1, q.target_assignments + 1)]
    wanted.sort(key=lambda one: one[1])
    slots = [
        AnnotationSlot(batch=batch, questionnaire=questionnaire, replicate=replicate, number=number)
        for number, (questionnaire, replicate) in enumerate(wanted, 1)
    ]
    return len(AnnotationSlot.objects.bulk_create(slots))


def give(slot: AnnotationSlot, *, assignment: Assignment) -> bool:
    """Give a free slot to an assignment, with a lease. False if somebody else was quicker.

    The draft of an author whose time ran out moves to a slot of its own, which this one then reopens.
    """
    still_free = AnnotationSlot.objects.filter(
        pk=slot.pk, assignment=slot.assignment, leased_until=slot.leased_until
    )
    until = timezone.now() + slot.questionnaire.batch.assignment_duration
    if slot.assignment is None:
        return still_free.update(assignment=assignment, leased_until=until) == 1
    return _pass_on(slot, still_free, assignment=assignment, until=until)


def keep(assignment: Assignment, *, batch: Batch) -> bool:
    """Renew the lease of an assignment that is being worked on. False if its slot went to somebody else."""
    until = timezone.now() + batch.assignment_duration
    return RENEWED(assignment=assignment.pk, until=until) == 1


def _unanswered(assignment: Hole) -> QuerySet[AnnotationSlot]:
    unanswered = AnnotationSlot.objects.filter(UNANSWERED, ~SUPERSEDED, assignment=assignment)
    return AnnotationSlot.objects.filter(pk__in=unanswered.values("pk"))


RENEWED = Change(lambda: _unanswered(Hole("assignment", Assignment._meta.pk)), leased_until=Moment("until"))


def let_go(batch: Batch, *, worker: Worker) -> int:
    """Let others have what somebody has begun and not handed in, as if its time had run out; return how many that is.

    Their draft stays with them, and counts if they hand it in after all.
    """
    now = timezone.now()
    held = AnnotationSlot.objects.filter(
        UNANSWERED, ~SUPERSEDED, batch=batch, assignment__worker=worker, leased_until__gt=now
    )
    return AnnotationSlot.objects.filter(pk__in=held.values("pk")).update(leased_until=now)


@transaction.atomic
def release(assignment: Assignment) -> None:
    """Take back the slot of an assignment that is going to be removed. One that was given away goes with it."""
    slot = AnnotationSlot.objects.filter(assignment=assignment).first()
    if slot is None:
        return
    following = AnnotationSlot.objects.filter(reopens=slot)
    if (pk := following.values_list("pk", flat=True).first()) is None:
        AnnotationSlot.objects.filter(pk=slot.pk).update(assignment=None, leased_until=None)
        return
    following.update(reopens=None)
    slot.delete()
    AnnotationSlot.objects.filter(pk=pk).update(reopens=slot.reopens_id)


@transaction.atomic
def reopen(assignment: Assignment) -> AnnotationSlot | None:
    """Want an annotation again whose answer does not count. None if it counts, has no slot, or was reopened before.

    None, too, as long as the budget does not cover it. Skipped ones are reopened at most as often as their
    questionnaire wants assignments: an item nobody can judge comes to an end.
    """
    slot = (
        AnnotationSlot.objects.filter(~SUPERSEDED, assignment=assignment)
        .select_related("questionnaire")
        .first()
    )
    if slot is None:
        return None
    batch = budget.lock(slot.batch_id)
    is_wanted_again = Assignment.objects.filter(does_not_count(), pk=assignment.pk).exists()
    if not is_wanted_again or AnnotationSlot.objects.filter(reopens=slot).exists():
        return None
    is_too_often = _is_only_skipped(assignment) and _n_skips_reopened(slot) >= _most_skips(slot)
    if is_too_often:
        return None
    with suppress(budget.OverBudget), budget.spending(batch):
        added = _add(slot, reopens=slot)
        reach("link.reopening")
        return added
    return None


def withdraw(assignment: Assignment) -> None:
    """Want nothing in place of an answer that counts again, as long as nobody has that place.

    A place that is just being taken stays, and so does one that a marketplace is to open. Call it in a transaction.
    """
    for slot in UNTAKEN.all(assignment=assignment.pk):
        slot.delete()


def _untaken(assignment: Hole) -> QuerySet[AnnotationSlot]:
    counts = Assignment.objects.filter(~does_not_count(), pk=assignment, replacement=None)
    untaken = AnnotationSlot.objects.filter(Exists(counts), reopens__assignment=assignment, assignment=None)
    return untaken.select_for_update(of=("self",), no_key=True, skip_locked=True)


UNTAKEN = Statement(lambda: _untaken(Hole("assignment", Assignment._meta.pk)))


def to_reopen(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Return those whose answer does not count and whose slot is still the last of its chain."""
    last = Exists(AnnotationSlot.objects.filter(~SUPERSEDED, assignment=OuterRef("pk")))
    return assignments.filter(last).filter(does_not_count())


def room(questionnaire: Questionnaire) -> Room:
    """Count what of a questionnaire could be given now."""
    slots = AnnotationSlot.objects.filter(questionnaire=questionnaire)
    return Room(
        n_free=slots.filter(Q(assignment=None) | has_lapsed(timezone.now()), ~SUPERSEDED).count(),
        n_late=_late(slots).count(),
    )


def without_room(batch: Batch) -> list[Questionnaire]:
    """Return the questionnaires that have free slots, but as many answers that came late."""
    return [one for one in WITH_LATE.all(batch=batch.pk) if not room(one).is_there]


def _with_late(batch: Hole) -> QuerySet[Questionnaire]:
    # Few slots are superseded. They are found by those that reopen them, which have an index.
    superseded = AnnotationSlot.objects.filter(reopened_as__batch=batch, reopened_as__reopens__isnull=False)
    return Questionnaire.objects.filter(pk__in=_late(superseded).values("questionnaire"))


WITH_LATE = Statement(lambda: _with_late(Hole("batch", Batch._meta.pk)))


def unfilled(batch: Batch) -> list[Questionnaire]:
    """Return the questionnaires whose wanted annotations are not all answered and decided, or are worked on now."""
    n_late: dict[Any, int] = dict(N_LATE.rows(batch=batch.pk))
    n_open = N_OPEN.rows(batch=batch.pk, now=timezone.now())
    short = [pk for pk, n, n_busy in n_open if n_busy or n > n_late.get(pk, 0)]
    return list(Questionnaire.objects.filter(pk__in=short)) if short else []


def _by_questionnaire(slots: QuerySet[AnnotationSlot], **counts: Count) -> QuerySet[Any, tuple[Any, ...]]:
    """Return (questionnaire, its slots, counts of these)."""
    counted = slots.order_by().values("questionnaire").annotate(n=Count("pk"), **counts)
    return counted.values_list("questionnaire", "n", *counts)


def _open_ones() -> QuerySet[AnnotationSlot]:
    does_not_count_yet = Q(assignment__status__in=[Status.SUBMITTED, Status.REJECTED])
    return _in_batch().filter(Q(assignment=None) | UNANSWERED | does_not_count_yet | LEFT_OUT, ~SUPERSEDED)


def _in_batch() -> QuerySet[AnnotationSlot]:
    return AnnotationSlot.objects.filter(batch=Hole("batch", Batch._meta.pk))


IS_BUSY = UNANSWERED & Q(leased_until__gt=Moment("now"))
N_OPEN = Statement(lambda: _by_questionnaire(_open_ones(), n_busy=Count("pk", filter=IS_BUSY)))
N_LATE = Statement(lambda: _by_questionnaire(_late(_in_batch())))


def _pass_on(
    slot: AnnotationSlot, still_free: QuerySet[AnnotationSlot], *, assignment: Assignment, until: datetime
) -> bool:
    earlier = slot.reopens
    if not still_free.update(assignment=assignment, leased_until=until, reopens=None):
        return False
    kept = _add(slot, assignment=slot.assignment, leased_until=slot.leased_until, reopens=earlier)
    return AnnotationSlot.objects.filter(pk=slot.pk).update(reopens=kept) == 1


def has_lapsed(now: datetime | Hole) -> Q:
    """Tell, in a query over slots, whose lease has run out unanswered."""
    return Q(leased_until__lt=now) & UNANSWERED


def _late(slots: QuerySet[AnnotationSlot]) -> QuerySet[AnnotationSlot]:
    """Return the superseded slots whose answer counts after all."""
    counts = ~UNANSWERED & ~does_not_count("assignment")
    return slots.filter(SUPERSEDED, counts, assignment__isnull=False)


def _is_only_skipped(assignment: Assignment) -> bool:
    is_left_out_too = Assignment.objects.filter(is_left_out(), pk=assignment.pk).exists()
    return assignment.status != Status.REJECTED and not is_left_out_too


def _n_skips_reopened(slot: AnnotationSlot) -> int:
    return AnnotationSlot.objects.filter(SUPERSEDED, SKIPPED, questionnaire=slot.questionnaire_id).count()


def _most_skips(slot: AnnotationSlot) -> int:
    return slot.questionnaire.target_assignments


def _add(slot: AnnotationSlot, **values: Any) -> AnnotationSlot:
    """Add a slot beside `slot` under the next free number."""
    budget.lock(slot.batch_id)
    last = AnnotationSlot.objects.filter(batch=slot.batch_id).aggregate(number=Max("number"))["number"]
    return AnnotationSlot.objects.create(
        batch_id=slot.batch_id,
        questionnaire_id=slot.questionnaire_id,
        replicate=slot.replicate,
        number=last + 1,
        **values,
    )


def n_wanted(batch: Batch) -> int:
    """Return how many kept assignments a batch is to get."""
    roots = batch.questionnaires.filter(sibling_of=None)
    return int(roots.aggregate(n=Sum("target_assignments"))["n"] or 0)


def is_borne_out(claimed_from: str | Hole, *, assignment: str = "") -> Q:
    """Tell, in a query, which work counts for a visitor: what is known, and what was claimed from where they are.

    `assignment` leads to the assignment. Work that anybody can claim in a worker's name is held against nobody else.
    """
    is_claim = by_market(assignment) & Q(**{f"{assignment}status": Status.ACCEPTED})
    return ~is_claim | Q(**{f"{assignment}claimed_from": claimed_from})


def cap_of(batch: Batch) -> int | None:
    """Return how many of the batch's assignments one worker may have; None without a cap."""
    share = cap(batch.review_policy)
    return None if share is None else most_assignments(share, n_wanted=n_wanted(batch))


def has_reached_cap(batch: Batch, *, claim: Assignment) -> bool:
    """Tell whether a worker has had their share without this claim. What they may be working on now counts too.

    The marketplace does not tell when somebody returns a HIT: until the time for it is over it counts as worked on.
    What others claim in the worker's name, from other addresses, counts for nothing.
    """
    most = cap_of(batch)
    if most is None:
        return False
    begun_since = timezone.now() - batch.assignment_duration
    is_given_up = Q(status=Assignment.Status.ACCEPTED, saved_at=None, loaded_at__lt=begun_since)
    works = Assignment.objects.filter(hit__questionnaire__batch=batch, worker=claim.worker)
    others = works.filter(is_borne_out(claim.claimed_from)).exclude(IS_CLAIM, hit=claim.hit)
    return others.exclude(is_given_up).values("hit").distinct().count() >= most
