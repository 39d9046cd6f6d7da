"""What a rejected or skipped assignment is replaced by: more room on its HIT, or a sibling HIT."""

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from annotators import market, mirror
from annotators.gateway import Gateway
from annotators.models import HIT, Assignment, Call, Channel
from surveys.models import Batch, Questionnaire, QuestionnaireItem, Replacement, is_skipped

LARGEST_GROWING_HIT = 9  # MTurk: a HIT created with fewer than 10 assignments can't be extended to 10
SKIPPED = is_skipped()
_PLANNED = Replacement.objects.filter(replaces=OuterRef("pk"))
Status = Assignment.Status


def replace(replaced: Assignment, *, questionnaire: Questionnaire, gateway: Gateway) -> Replacement:
    """Open one more assignment for one that does not count, exactly once: on a HIT with room, or on a sibling HIT.

    A sibling shows the same items on a HIT of its own; the caller publishes it like any other questionnaire.
    """
    replacement = _planned_replacement(replaced, questionnaire)
    if replacement.opened_at is None and _is_open(replacement, gateway=gateway):
        Replacement.objects.filter(pk=replacement.pk, opened_at=None).update(opened_at=timezone.now())
        replacement.refresh_from_db(fields=["opened_at"])
    return replacement


def to_replace(hit: HIT) -> list[Assignment]:
    """Return the rejected and skipped assignments of a HIT whose replacement is not open yet.

    A stopped batch replaces none. Of one questionnaire as many skipped ones are replaced as it wants assignments:
    an item nobody can judge comes to an end.
    """
    missing = unreplaced().filter(hit=hit).order_by("rejected_at", "pk").annotate(is_skipped=SKIPPED)
    room = _skips_left(hit.questionnaire)
    return [
        assignment
        for assignment in missing.annotate(is_planned=Exists(_PLANNED))
        if assignment.status == Status.REJECTED or assignment.is_planned or (room := room - 1) >= 0
    ]


def unreplaced() -> QuerySet[Assignment]:
    """Return the marketplace's assignments in open batches that don't count and have no open replacement.

    Where people may come by link too, a skipped one waits until its annotation is wanted again.
    """
    batch = "hit__questionnaire__batch"
    assignments = Assignment.objects.filter(
        channel=Channel.MARKETPLACE, **{f"{batch}__status": Batch.Status.OPEN}
    ).exclude(replacement__opened_at__isnull=False)
    is_rejected = Q(status=Status.REJECTED) & ~Q(decision__overturned_at__isnull=False)
    is_wanted_again = Q(**{f"{batch}__takes_links": False}) | Q(annotation_slot__reopened_as__isnull=False)
    is_handed_in = Q(status__in=[Status.SUBMITTED, Status.APPROVED])
    return assignments.filter(is_rejected | is_handed_in & is_wanted_again & SKIPPED)


def _skips_left(questionnaire: Questionnaire) -> int:
    root = questionnaire.sibling_of or questionnaire
    family = Q(hit__questionnaire=root) | Q(hit__questionnaire__sibling_of=root)
    skipped = Assignment.objects.filter(family, SKIPPED).exclude(status=Status.REJECTED)
    return root.target_assignments - skipped.filter(replacement__isnull=False).count()


def _lock(batch_pk: int) -> None:
    """Let one transaction at a time plan replacements: they share the positions of the batch."""
    Batch.objects.select_for_update(no_key=True).get(pk=batch_pk)


@transaction.atomic
def _planned_replacement(replaced: Assignment, questionnaire: Questionnaire) -> Replacement:
    root = questionnaire.sibling_of or questionnaire
    _lock(root.batch_id)
    found = (
        Replacement.objects.filter(replaces=replaced).select_related("questionnaire__hit__hit_type").first()
    )
    if found:
        return found
    roomy = _roomy(root)
    return Replacement.objects.create(
        replaces=replaced,
        questionnaire=roomy or _sibling(root),
        opened_by=Replacement.OpenedBy.EXTEND if roomy else Replacement.OpenedBy.CREATE,
    )


def _is_open(replacement: Replacement, *, gateway: Gateway) -> bool:
    """Open the slot if that is still to be done. False while it is not certain, or waits for a sibling HIT."""
    target = replacement.questionnaire
    if target.hit is None or replacement.opened_by == Replacement.OpenedBy.CREATE:
        return target.hit is not None
    call = market.extend(target.hit, token=f"replace:{replacement.replaces_id}", gateway=gateway)
    if call.state == Call.State.REFUSED:
        _use_sibling(replacement)
    if call.state != Call.State.DONE:
        return False
    mirror.mirror_hit(target.hit, gateway.get_hit(target.hit.hit_id))
    return _keep_open(target.hit, target.batch, gateway=gateway)


@transaction.atomic
def _use_sibling(replacement: Replacement) -> None:
    """The HIT can't grow after all (MTurk: too old, disposed of): a sibling HIT takes its place."""
    root = replacement.questionnaire.sibling_of or replacement.questionnaire
    _lock(root.batch_id)
    if Replacement.objects.filter(pk=replacement.pk, opened_by=Replacement.OpenedBy.EXTEND).exists():
        Replacement.objects.filter(pk=replacement.pk).update(
            questionnaire=_sibling(root), opened_by=Replacement.OpenedBy.CREATE
        )
    replacement.refresh_from_db()


def _roomy(root: Questionnaire) -> Questionnaire | None:
    """Return a questionnaire of this family whose HIT can take one assignment more."""
    family = Questionnaire.objects.filter(Q(pk=root.pk) | Q(sibling_of=root), hit__isnull=False)
    to_come = Count("replacements", filter=Q(replacements__opened_at=None, replacements__opened_by="extend"))
    for member in family.select_related("hit__hit_type").annotate(to_come=to_come).order_by("position"):
        is_large = member.target_assignments > LARGEST_GROWING_HIT
        if member.hit and (is_large or member.hit.max_assignments + member.to_come < LARGEST_GROWING_HIT):
            return member
    return None


def _sibling(root: Questionnaire) -> Questionnaire:
    last = root.batch.questionnaires.aggregate(position=Max("position"))["position"]
    sibling = Questionnaire.objects.create(
        batch=root.batch, position=last + 1, target_assignments=1, sibling_of=root
    )
    QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=sibling, item_id=slot.item_id, position=slot.position)
        for slot in root.slots.all()
    )
    return sibling


def _keep_open(hit: HIT, batch: Batch, *, gateway: Gateway) -> bool:
    """Extending an expired HIT reopens nothing: where it is about to expire, its expiration moves too."""
    if hit.expires_at >= timezone.now() + batch.assignment_duration:
        return True
    call = market.move_expiration(hit, when=timezone.now() + batch.lifetime, gateway=gateway)
    return call.state == Call.State.DONE
