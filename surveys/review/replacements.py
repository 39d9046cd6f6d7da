"""What an assignment that does not count is replaced by: more room on its HIT, or a sibling HIT."""

import uuid
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from annotators.crowds.base import by_market
from annotators.crowds.mturk import mirror
from annotators.crowds.mturk.gateway import Gateway
from annotators.failpoints import reach
from annotators.models import HIT, Assignment, Call
from annotators.outbox import market
from statements import Hole, Statement
from surveys.models import (
    Batch,
    Questionnaire,
    QuestionnaireItem,
    Replacement,
    SlotOutput,
    does_not_count,
    is_left_out,
    is_skipped,
)
from surveys.publishing import budget, quota

LARGEST_GROWING_HIT = 9  # MTurk: a HIT created with fewer than 10 assignments can't be extended to 10
_ONLY_SKIPPED = ~Q(status=Assignment.Status.REJECTED) & ~is_left_out()
_PLANNED = Replacement.objects.filter(replaces=OuterRef("pk"))
REPLACED = Exists(_PLANNED) | quota.GIVEN_AGAIN
Status = Assignment.Status


def replace(replaced: Assignment, *, questionnaire: Questionnaire, gateway: Gateway) -> Replacement | None:
    """Open one more assignment for one that does not count, exactly once: on a HIT with room, or on a sibling HIT.

    A sibling shows the same items on a HIT of its own; the caller publishes it like any other questionnaire. None
    where it counts by now, or its batch runs no more. Raises OverBudget where the batch's budget does not cover it.
    """
    replacement = _planned_replacement(replaced, questionnaire)
    reach("replace.planned")
    if replacement and replacement.opened_at is None and _is_open(replacement, gateway=gateway):
        Replacement.objects.filter(pk=replacement.pk, opened_at=None).update(opened_at=timezone.now())
        reach("replace.opened")
        replacement.refresh_from_db(fields=["opened_at"])
    return replacement


def to_replace(hit: HIT) -> list[Assignment]:
    """Return the assignments of a HIT that do not count and whose replacement is not open yet.

    A stopped batch replaces none. Of one questionnaire as many skipped ones are replaced as it wants assignments:
    an item nobody can judge comes to an end.
    """
    found: list[Any] = MISSING.all(hit=hit.pk)
    room = _skips_left(hit.questionnaire) if found else 0
    return [
        assignment
        for assignment in found
        if assignment.is_planned or not assignment.is_only_skipped or (room := room - 1) >= 0
    ]


def _missing() -> QuerySet[Assignment]:
    missing = unreplaced().filter(hit=Hole("hit", HIT._meta.pk)).order_by("rejected_at", "pk")
    return missing.annotate(is_planned=Exists(_PLANNED), is_only_skipped=Q(_ONLY_SKIPPED))


MISSING = Statement(_missing)


def unreplaced() -> QuerySet[Assignment]:
    """Return the marketplace's assignments in open batches that don't count and have no open replacement.

    Where people may come by link too, a skipped one waits until its annotation is wanted again. What is planned is
    carried through, also where the answers count again by now: the marketplace may have heard of it.
    """
    batch = "hit__questionnaire__batch"
    assignments = Assignment.objects.filter(by_market(), **{f"{batch}__status": Batch.Status.OPEN}).exclude(
        replacement__opened_at__isnull=False
    )
    is_wanted_again = Q(**{f"{batch}__takes_links": False}) | quota.OFFERED_AGAIN
    is_missing = does_not_count() & (~_ONLY_SKIPPED | is_wanted_again)
    return assignments.filter(is_missing | Q(replacement__isnull=False))


def is_replaced(assignment: Assignment) -> bool:
    """Tell whether somebody else gives, or is to give, the answers in place of this assignment's."""
    return Assignment.objects.filter(REPLACED, pk=assignment.pk).exists()


def offer_again(assignment: Assignment) -> None:
    """Let the next sync open the place of an assignment's replacement again, if nobody has taken it.

    A batch that was complete has expired it, and is open again. Raises OverBudget where that could cost too much.
    """
    has_room = HIT.objects.filter(max_assignments__gt=mirror.n_handed_in())
    is_free = Q(opened_at=None) | Q(questionnaire__hit__in=has_room)
    free = Replacement.objects.filter(is_free, replaces=assignment)
    batch = assignment.hit.questionnaire.batch
    with budget.spending(batch):
        if free.exclude(questionnaire__batch__status=Batch.Status.STOPPED).update(opened_at=None):
            reopen_batch(batch.pk)


def reopen_batch(batch_pk: int) -> None:
    """Let a batch that was complete collect again."""
    complete = Batch.objects.filter(pk=batch_pk, status=Batch.Status.COMPLETE)
    complete.update(status=Batch.Status.OPEN)


def _skips_left(questionnaire: Questionnaire) -> int:
    root = questionnaire.sibling_of or questionnaire
    family = Q(hit__questionnaire=root) | Q(hit__questionnaire__sibling_of=root)
    skipped = Assignment.objects.filter(family, _ONLY_SKIPPED, is_skipped())
    return root.target_assignments - skipped.filter(replacement__isnull=False).count()


@transaction.atomic
def _planned_replacement(replaced: Assignment, questionnaire: Questionnaire) -> Replacement | None:
    root = questionnaire.sibling_of or questionnaire
    if budget.lock(root.batch_id).status != Batch.Status.OPEN:
        return None
    planned_before = (
        Replacement.objects.filter(replaces=replaced).select_related("questionnaire__hit__hit_type").first()
    )
    if planned_before:
        return planned_before
    if not Assignment.objects.filter(does_not_count(), pk=replaced.pk).exists():
        return None
    roomy = _roomy(root)
    with budget.spending(root.batch):
        planned = Replacement.objects.create(
            replaces=replaced,
            questionnaire=roomy or _sibling(root, replaced=replaced),
            opened_by=Replacement.OpenedBy.EXTEND if roomy else Replacement.OpenedBy.CREATE,
        )
        reach("replace.planning")
    return planned


def _is_open(replacement: Replacement, *, gateway: Gateway) -> bool:
    """Open the slot if that is still to be done. False while it is not certain, or waits for a sibling HIT."""
    target = replacement.questionnaire
    if target.hit is None or not _is_running(target.batch_id):
        return False
    if replacement.opened_by == Replacement.OpenedBy.CREATE:
        return target.hit.expires_at > timezone.now() or _keep_open(target.hit, target.batch, gateway=gateway)
    call = market.extend_for(replacement.replaces, target.hit, gateway=gateway)
    if call.state == Call.State.REFUSED:
        _use_sibling(replacement)
    if call.state != Call.State.DONE:
        return False
    reach("replace.extended")
    mirror.mirror_hit(target.hit, gateway.get_hit(target.hit.hit_id))
    reach("replace.mirrored")
    return _keep_open(target.hit, target.batch, gateway=gateway)


@transaction.atomic
def _use_sibling(replacement: Replacement) -> None:
    """The HIT can't grow after all (MTurk: too old, disposed of): a sibling HIT takes its place."""
    root = replacement.questionnaire.sibling_of or replacement.questionnaire
    budget.lock(root.batch_id)
    if Replacement.objects.filter(pk=replacement.pk, opened_by=Replacement.OpenedBy.EXTEND).exists():
        Replacement.objects.filter(pk=replacement.pk).update(
            questionnaire=_sibling(root, replaced=replacement.replaces), opened_by=Replacement.OpenedBy.CREATE
        )
    replacement.refresh_from_db()


def _roomy(root: Questionnaire) -> Questionnaire | None:
    """Return a questionnaire of this family whose HIT can take one assignment more, and is not gone.

    One with more assignments than we know a reason for was extended after the backup that was restored, perhaps for
    just this replacement; the call's token tells.
    """
    family = Questionnaire.objects.filter(
        Q(pk=root.pk) | Q(sibling_of=root), hit__isnull=False, hit__gone_at=None
    )
    extensions = Q(replacements__opened_by="extend")
    counted = family.annotate(
        n_extended=Count("replacements", filter=extensions),
        to_come=Count("replacements", filter=extensions & Q(replacements__opened_at=None)),
    )
    return next(
        (m for m in counted.select_related("hit__hit_type").order_by("position") if _has_room(m)), None
    )


def _has_room(member: Any) -> bool:
    size = member.hit.max_assignments if member.hit else 0
    is_large: bool = member.target_assignments > LARGEST_GROWING_HIT
    is_larger_than_known: bool = size > member.target_assignments + member.n_extended
    has_room: bool = size + member.to_come < LARGEST_GROWING_HIT
    return is_large or is_larger_than_known or has_room


def _sibling(root: Questionnaire, *, replaced: Assignment) -> Questionnaire:
    """Make the sibling that is to replace an assignment. Made once more after a restore it has the same key, and so
    finds the HIT it was given."""
    last = root.batch.questionnaires.aggregate(position=Max("position"))["position"]
    sibling = Questionnaire.objects.create(
        pk=uuid.uuid5(root.pk, replaced.assignment_id),
        batch=root.batch,
        position=last + 1,
        target_assignments=1,
        sibling_of=root,
    )
    originals = list(root.slots.prefetch_related("drawn"))
    slots = QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=sibling, item_id=slot.item_id, position=slot.position)
        for slot in originals
    )
    SlotOutput.objects.bulk_create(
        SlotOutput(slot=slot, output_id=drawn.output_id)
        for slot, original in zip(slots, originals, strict=True)
        for drawn in original.drawn.all()
    )
    return sibling


def _keep_open(hit: HIT, batch: Batch, *, gateway: Gateway) -> bool:
    """Extending an expired HIT reopens nothing: where it is about to expire, its expiration moves too."""
    if hit.expires_at >= timezone.now() + batch.assignment_duration:
        return True
    if not _is_running(batch.pk):
        return False
    call = market.move_expiration(hit, when=timezone.now() + batch.lifetime, gateway=gateway)
    if call.state != Call.State.DONE:
        return False
    mirror.mirror_hit(hit, gateway.get_hit(hit.hit_id))
    return True


def _is_running(batch_pk: int) -> bool:
    """Ask the database: somebody may have stopped the batch while we talked to the marketplace."""
    return Batch.objects.filter(pk=batch_pk, status=Batch.Status.OPEN).exists()
