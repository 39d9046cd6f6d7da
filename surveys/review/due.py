"""What of a HIT is still to be done, and when a batch is complete."""

from datetime import timedelta

from django.db.models import Count, DateTimeField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotators.models import HIT, Assignment, Call, Channel, Endpoint
from surveys import quota
from surveys.models import Batch
from surveys.policies import APPROVE, REJECT
from surveys.review.replacing import SKIPPED, unreplaced

LISTING_LAG = timedelta(hours=1)  # how long after its deadline we still look for a submission
Status = Assignment.Status


def due_hits(*, every: timedelta) -> QuerySet[HIT]:
    """Return the HITs to sync: not seen for `every`, and something about them can still change.

    A HIT is settled when all its assignments are in and decided, or when it expired so long ago that nobody can
    still be working on it. HITStatus alone does not tell: MTurk lists submissions with a lag.
    """
    now = timezone.now()
    last_submission = F("expires_at") + F("hit_type__assignment_duration")
    is_in = ~Q(assignments__status=Status.ACCEPTED) & Q(assignments__channel=Channel.MARKETPLACE)
    seen = HIT.objects.annotate(
        n_in=Count("assignments", filter=is_in, distinct=True),
        last_submission=ExpressionWrapper(last_submission, output_field=DateTimeField()),
    )
    can_fill = Q(n_in__lt=F("max_assignments"), last_submission__gt=now - LISTING_LAG)
    of_hit = Assignment.objects.filter(hit=OuterRef("pk"))
    return seen.filter(Q(synced_at=None) | Q(synced_at__lte=now - every)).filter(
        (can_fill & ~Q(hit_type__endpoint=Endpoint.LINK))
        | Exists(of_hit.filter(status=Status.SUBMITTED))
        | Exists(unreplaced().filter(hit=OuterRef("pk")))
        | Exists(overturned().filter(hit=OuterRef("pk")))
        | Exists(unsettled().filter(hit=OuterRef("pk")))
        | Exists(_not_wanted_again().filter(hit=OuterRef("pk"))),
        questionnaire__isnull=False,
    )


def to_carry_out(hit: HIT) -> list[Assignment]:
    """Return the assignments of a HIT with a decision that is not carried out."""
    submitted = Q(status=Status.SUBMITTED, decision__verdict__in=[APPROVE, REJECT])
    taken_back = Q(pk__in=overturned())
    return list(hit.assignments.filter(submitted | taken_back).select_related("decision", "hit__hit_type"))


def unsettled() -> QuerySet[Assignment]:
    """Return what came by link and was saved, but not handed in: the server stopped in between."""
    saved = Assignment.objects.filter(status=Status.ACCEPTED, saved_at__isnull=False)
    return saved.exclude(channel=Channel.MARKETPLACE)


def overturned() -> QuerySet[Assignment]:
    """Return rejected assignments we overturned, unless a marketplace has refused that for good."""
    refused = Call.objects.filter(
        assignment=OuterRef("pk"), operation=Call.Operation.OVERTURN, state=Call.State.REFUSED
    )
    overturned = Assignment.objects.filter(status=Status.REJECTED, decision__overturned_at__isnull=False)
    return overturned.exclude(Exists(refused))


def reopen(hit: HIT) -> int:
    """Want the annotations of a HIT again that were rejected or skipped, where people may come by link."""
    waiting = _not_wanted_again().filter(hit=hit).order_by("pk")
    return sum(quota.reopen(assignment) is not None for assignment in waiting)


def finish(batch: Batch) -> bool:
    """Mark an open batch complete when every questionnaire has the assignments it was to get, all decided."""
    if batch.questionnaires.filter(hit=None).exists() or not _is_filled(batch):
        return False
    return (
        Batch.objects.filter(pk=batch.pk, status=Batch.Status.OPEN).update(status=Batch.Status.COMPLETE) == 1
    )


def _not_wanted_again() -> QuerySet[Assignment]:
    open_ones = Assignment.objects.filter(hit__questionnaire__batch__status=Batch.Status.OPEN)
    return quota.to_reopen(open_ones)


def _is_filled(batch: Batch) -> bool:
    """A skipped assignment fills its place only where it is not replaced any more."""
    assignments = Assignment.objects.filter(hit__questionnaire__batch=batch)
    if assignments.filter(status=Status.SUBMITTED).exists():
        return False
    if quota.has_slots(batch):
        return not (unsettled() & assignments).exists() and not quota.unfilled(batch)
    root = Coalesce("hit__questionnaire__sibling_of", "hit__questionnaire")
    approved = assignments.filter(status=Status.APPROVED).annotate(root=root).values("root")
    counts = approved.annotate(n=Count("pk"), n_skipped=Count("pk", filter=SKIPPED)).order_by()
    kept = {pk: (n, skipped) for pk, n, skipped in counts.values_list("root", "n", "n_skipped")}
    targets = batch.questionnaires.filter(sibling_of=None).values_list("pk", "target_assignments")
    return all(_fills(*kept.get(pk, (0, 0)), target=target) for pk, target in targets)


def _fills(n_approved: int, n_skipped: int, *, target: int) -> bool:
    return n_approved - min(n_skipped, target) >= target
