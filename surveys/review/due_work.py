"""What of a HIT is still to be done, and when a batch is complete."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Count, DateTimeField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotators.crowds.base import by_market, on_market
from annotators.crowds.mturk import mirror
from annotators.models import HIT, IS_LOST, Assignment, Call
from annotators.outbox.journal import CLOCK_SKEW
from surveys.answering import claiming
from surveys.models import Batch, is_left_out, is_skipped
from surveys.protocols.rules import APPROVE, REJECT
from surveys.publishing import budget, quota
from surveys.review.delivery import approved_late
from surveys.review.replacements import unreplaced

# How long after its deadline we still look for a submission: far longer than any lag seen, as a look costs nothing.
LISTING_LAG = timedelta(hours=1)
Status = Assignment.Status


def due_hits(*, every: timedelta) -> QuerySet[HIT]:
    """Return the HITs to sync: not seen for `every`, and something about them can still change.

    One seen in the future was seen before the clock was set back.

    A HIT is settled when all its assignments are in and decided, or when it was seen so long after it expired that
    nobody could still be working on it. HITStatus alone does not tell: MTurk lists submissions with a lag. One that
    the marketplace does not know any more is asked about once a day; what came to it by link is looked after as ever.
    """
    now = timezone.now()
    last_submission = F("expires_at") + F("hit_type__assignment_duration")
    is_in = ~Q(assignments__status=Status.ACCEPTED) & by_market("assignments__")
    seen = HIT.objects.annotate(
        n_in=Count("assignments", filter=is_in, distinct=True),
        last_submission=ExpressionWrapper(last_submission, output_field=DateTimeField()),
    )
    is_late = Q(last_submission__lte=now - LISTING_LAG)
    is_told_the_end = Q(synced_at__gt=F("last_submission") + LISTING_LAG)
    can_fill = Q(n_in__lt=F("max_assignments")) & ~(is_late & is_told_the_end)
    of_hit = Assignment.objects.filter(hit=OuterRef("pk"))
    is_seen = Q(synced_at__gt=now - every, synced_at__lte=now + CLOCK_SKEW)
    there = (
        (can_fill & on_market("hit_type__"))
        | Exists(of_hit.filter(by_market(), status=Status.SUBMITTED))
        | Exists(_decided_elsewhere().filter(hit=OuterRef("pk")))
        | Exists(unreplaced().filter(hit=OuterRef("pk")))
        | Exists(overturned().filter(hit=OuterRef("pk")))
        | Exists(approved_late().filter(hit=OuterRef("pk")))
        | Exists(claiming.unasked().filter(hit=OuterRef("pk")))
    )
    here = (
        Exists(of_hit.filter(~by_market(), status=Status.SUBMITTED))
        | Exists(overturned().filter(~by_market(), hit=OuterRef("pk")))
        | Exists(unsettled().filter(hit=OuterRef("pk")))
        | Exists(_not_wanted_again().filter(hit=OuterRef("pk")))
    )
    return seen.filter(Q(synced_at=None) | ~is_seen).filter(
        (there & mirror.is_asked()) | here, questionnaire__isnull=False
    )


def to_carry_out(hit: HIT) -> list[Assignment]:
    """Return the assignments of a HIT with a decision that is not carried out, or that came too late.

    A marketplace that does not know the HIT any more is told nothing about it.
    """
    submitted = Q(status=Status.SUBMITTED, decision__verdict__in=[APPROVE, REJECT])
    other = Q(pk__in=overturned()) | Q(pk__in=approved_late())
    found = hit.assignments.filter(submitted | other).select_related("decision", "hit__hit_type")
    return list(found.exclude(by_market()) if hit.gone_at else found)


def unsettled() -> QuerySet[Assignment]:
    """Return what came by link and was saved, but not handed in: the server stopped in between."""
    return Assignment.objects.filter(~by_market(), status=Status.ACCEPTED, saved_at__isnull=False)


def _decided_elsewhere() -> QuerySet[Assignment]:
    """Return what the marketplace decided by itself and we have no decision on: the task stopped once it knew."""
    return Assignment.objects.filter(
        by_market(), status__in=[Status.APPROVED, Status.REJECTED], decision=None
    )


def overturned() -> QuerySet[Assignment]:
    """Return rejected assignments we overturned, unless a marketplace has refused that for good."""
    refused = Call.objects.filter(
        assignment=OuterRef("pk"), operation=Call.Operation.OVERTURN, state=Call.State.REFUSED
    )
    overturned = Assignment.objects.filter(status=Status.REJECTED, decision__overturned_at__isnull=False)
    return overturned.exclude(Exists(refused))


def reopen(hit: HIT) -> int:
    """Want the annotations of a HIT again that do not count, where people may come by link."""
    waiting = _not_wanted_again().filter(hit=hit).order_by("pk")
    return sum(quota.reopen(assignment) is not None for assignment in waiting)


def finish(batch: Batch) -> bool:
    """Mark an open batch complete when every questionnaire has the assignments it was to get, all decided.

    Asked once more under the batch's lock: whoever leaves answers out meanwhile opens it again.
    """
    if not _can_finish(batch):
        return False
    with transaction.atomic():
        locked = budget.lock(batch.pk)
        if locked.status != Batch.Status.OPEN or not _can_finish(locked):
            return False
        Batch.objects.filter(pk=batch.pk).update(status=Batch.Status.COMPLETE)
    return True


def _can_finish(batch: Batch) -> bool:
    return not batch.questionnaires.filter(hit=None).exists() and _is_filled(batch)


def _not_wanted_again() -> QuerySet[Assignment]:
    open_ones = Assignment.objects.filter(hit__questionnaire__batch__status=Batch.Status.OPEN)
    return quota.to_reopen(open_ones)


def _is_filled(batch: Batch) -> bool:
    """A skipped assignment fills its place only where it is not replaced any more.

    What was handed in to a HIT that its marketplace has forgotten fills its place, undecided as it stays.
    """
    assignments = Assignment.objects.filter(hit__questionnaire__batch=batch)
    if assignments.filter(status=Status.SUBMITTED).exclude(IS_LOST).exists():
        return False
    if quota.has_slots(batch):
        return not (unsettled() & assignments).exists() and not quota.unfilled(batch)
    root = Coalesce("hit__questionnaire__sibling_of", "hit__questionnaire")
    kept = assignments.filter(status__in=[Status.APPROVED, Status.SUBMITTED]).exclude(is_left_out())
    by_root = kept.annotate(root=root).values("root").order_by()
    counts = by_root.annotate(n=Count("pk"), n_skipped=Count("pk", filter=is_skipped()))
    n_kept = {pk: (n, skipped) for pk, n, skipped in counts.values_list("root", "n", "n_skipped")}
    targets = batch.questionnaires.filter(sibling_of=None).values_list("pk", "target_assignments")
    return all(_fills(*n_kept.get(pk, (0, 0)), target=target) for pk, target in targets)


def _fills(n_approved: int, n_skipped: int, *, target: int) -> bool:
    return n_approved - min(n_skipped, target) >= target
