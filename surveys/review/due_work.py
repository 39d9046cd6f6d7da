"""What of a HIT is still to be done, and when a batch is complete."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import (
    Count,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from annotators.crowds.base import by_market, crowd_of
from annotators.crowds.mturk import mirror
from annotators.models import HIT, IS_CLAIM, IS_LOST, Assignment, Call
from annotators.outbox.journal import CLOCK_SKEW
from statements import Hole, Moment, Statement
from surveys import notes
from surveys.answering import claiming
from surveys.models import Batch, Questionnaire, Replacement, Response, is_left_out, is_skipped
from surveys.protocols.rules import APPROVE, REJECT
from surveys.publishing import budget, quota
from surveys.review.delivery import approved_late
from surveys.review.replacements import unreplaced

MOST_WAITING = MOST_READ = 200  # of what is due no more is read than could be enqueued
LOOKED_AT_WITHIN = timedelta(days=8)
Status = Assignment.Status


def moved_hits() -> QuerySet[HIT]:
    """Return the HITs of which something has come in, or is about to, those first that people have just submitted.

    Their page tells us before the marketplace does: answers are saved here, then handed in there. The list of the
    marketplace tells of the rest. One that was looked at too early is looked at again after as long as that was late,
    so that a claim that never comes true costs the less the older it is. One seen in the future was seen before the
    clock was set back.
    """
    return _moved(timezone.now())


def _moved(now: datetime | Moment) -> QuerySet[HIT]:
    saved = Assignment.objects.filter(IS_CLAIM, saved_at__isnull=False)
    latest = saved.filter(hit=OuterRef("pk")).order_by("-saved_at").values("saved_at")[:1]
    moved = _any([HIT.objects.filter(moved_at__isnull=False).values("pk"), _hits(saved)])
    hits = HIT.objects.filter(pk__in=moved, questionnaire__isnull=False, missing_since=None, gone_at=None)
    news = hits.annotate(saved_at=Subquery(latest), since=Greatest(*_either("moved_at", "saved_at")))
    return (
        news.annotate(
            late_by=ExpressionWrapper(F("synced_at") - F("since"), output_field=DurationField()),
            rested=ExpressionWrapper(now - F("synced_at"), output_field=DurationField()),
        )
        .filter(
            Q(synced_at=None)
            | Q(synced_at__lt=F("since"))
            | Q(synced_at__gt=now + CLOCK_SKEW)
            | Q(rested__gte=F("late_by"))
        )
        .order_by(F("saved_at").desc(nulls_last=True), "moved_at", "pk")
    )


def due_hits(*, every: timedelta, within: timedelta | None = LOOKED_AT_WITHIN) -> QuerySet[HIT]:
    """Return the HITs to sync: not seen for `every`, and something about them is still to be done.

    What the marketplace has decided otherwise, or without us, is looked for among the HITs seen `within` that time and
    those whose task has not ended, as it is a look that tells us so; None: among all.

    HITs that nobody has touched are none of these. One seen in the future was seen before the clock was set back. One
    that the marketplace does not know any more is asked about once a day; what came by link is looked after as ever.
    """
    now = timezone.now()
    return _due(now, unseen_since=now - every, within=within)


def _due(
    now: datetime | Moment, *, unseen_since: datetime | Moment, within: timedelta | None
) -> QuerySet[HIT]:
    is_seen = Q(synced_at__gt=unseen_since, synced_at__lte=now + CLOCK_SKEW)
    is_stopped = Q(hit__enqueued_at__isnull=False)
    seen_lately = Q() if within is None else Q(hit__synced_at__gte=now - within) | is_stopped
    either = [_to_settle(now), overturned()]
    works = [
        *either,
        _decided_elsewhere().filter(seen_lately),
        unreplaced(),
        approved_late().filter(seen_lately),
        claiming.unasked(now),
    ]
    there = [
        HIT.objects.filter(missing_since__isnull=False).values("pk"),
        *(_hits(work.filter(by_market())) for work in works),
    ]
    asked = HIT.objects.filter(mirror.is_asked(now), pk__in=_any(there)).values("pk")
    here = [_hits(work.filter(~by_market())) for work in (*either, unsettled())]
    to_do = _any([asked, _hits(_not_wanted_again()), *here])
    hits = HIT.objects.filter(Q(synced_at=None) | ~is_seen).filter(pk__in=to_do, questionnaire__isnull=False)
    return hits.order_by(F("synced_at").asc(nulls_first=True), "pk")


def look_again() -> int:
    """Have the HITs looked at that only a look at all of them finds: as what has moved, until it is done."""
    everything = set(due_hits(every=timedelta(0), within=None).values_list("pk", flat=True))
    rest = everything.difference(due_hits(every=timedelta(0)).values_list("pk", flat=True))
    return HIT.objects.filter(pk__in=rest, moved_at=None).update(moved_at=timezone.now())


def _hits(assignments: QuerySet[Assignment]) -> QuerySet[Any, Any]:
    return assignments.order_by().values("hit")


def _any(keys: Sequence[QuerySet[Any, Any]]) -> QuerySet[Any, Any]:
    """Return all of some keys: asked for one after the other, each comes from an index, which no OR of them does."""
    return keys[0].union(*keys[1:])


def waiting_since() -> datetime | None:
    """Return since when the HIT waits that waits longest to be looked at; None where none does."""
    moved: QuerySet[Any] = moved_hits()
    looks = moved.values_list("since", "synced_at")
    times = [since if not seen or seen < since else seen + (seen - since) for since, seen in looks]
    due = due_hits(every=timedelta(0)).values_list(Coalesce("synced_at", "created_at"), flat=True)
    return min([*times, *due], default=None)


def waits_at_most() -> timedelta:
    """Return how long a task to sync a HIT may wait: after that it is dropped, and another one enqueued."""
    return timedelta(seconds=min(60, 5 * settings.SYNC_EVERY_SECONDS))


def claim(hits: QuerySet[HIT]) -> list[int]:
    """Return the HITs to enqueue a task for, the first of these: none that a task waits for, and few at a time.

    So there are never more such tasks than MOST_WAITING, whatever is due, and what comes in is behind no more. Whose
    last task was dropped or failed comes after all others, so that a marketplace that is away holds up no other one.
    """
    return _claim(lambda now, enqueued_since: _in_turn(hits, _is_waiting(now, enqueued_since)))


def claim_due(*, every: timedelta) -> list[int]:
    """Claim the `due_hits`."""
    return _claim(
        lambda now, enqueued_since: DUE.rows(now=now, enqueued_since=enqueued_since, unseen_since=now - every)
    )


def claim_moved() -> list[int]:
    """Claim the `moved_hits`."""
    return _claim(lambda now, enqueued_since: MOVED.rows(now=now, enqueued_since=enqueued_since))


def _claim(read: Callable[[datetime, datetime], Iterable[tuple[int]]]) -> list[int]:
    now = timezone.now()
    enqueued_since = now - waits_at_most()
    n_free = MOST_WAITING - len(WAITING.rows(now=now, enqueued_since=enqueued_since))
    wanted = [pk for (pk,) in read(now, enqueued_since)][:n_free] if n_free > 0 else []
    if not wanted:
        return []
    free = HIT.objects.filter(pk__in=wanted).exclude(_is_waiting(now, enqueued_since))
    free.update(enqueued_at=now)
    claimed = set(HIT.objects.filter(pk__in=wanted, enqueued_at=now).values_list("pk", flat=True))
    return [pk for pk in wanted if pk in claimed]


def _is_waiting(now: datetime | Moment, enqueued_since: datetime | Moment) -> Q:
    return Q(enqueued_at__gt=enqueued_since, enqueued_at__lte=now + CLOCK_SKEW)


def _in_turn(hits: QuerySet[HIT], is_waiting: Q) -> QuerySet[HIT, tuple[int]]:
    in_turn = hits.order_by(F("enqueued_at").asc(nulls_first=True), *hits.query.order_by)
    return in_turn.exclude(is_waiting).values_list("pk")[:MOST_READ]


NOW, UNSEEN_SINCE = Moment("now"), Moment("unseen_since")
IS_WAITING = _is_waiting(NOW, Moment("enqueued_since"))
WAITING = Statement(lambda: HIT.objects.filter(IS_WAITING).values_list("pk"))
MOVED = Statement(lambda: _in_turn(_moved(NOW), IS_WAITING))
DUE = Statement(lambda: _in_turn(_due(NOW, unseen_since=UNSEEN_SINCE, within=LOOKED_AT_WITHIN), IS_WAITING))


def _either(one: str, other: str) -> tuple[Coalesce, Coalesce]:
    """Greatest is NULL on SQLite where one is NULL."""
    return Coalesce(one, other), Coalesce(other, one)


def _to_settle(now: datetime | Moment) -> QuerySet[Assignment]:
    """Return what is handed in, and to be judged, or told of; or the marketplace has approved it by now."""
    is_open = Q(decision=None) | Q(decision__verdict__in=[APPROVE, REJECT])
    is_over = Q(auto_approval_at__lte=now)
    return Assignment.objects.filter(is_open | is_over, status=Status.SUBMITTED)


def undecided(hit: HIT) -> list[Any]:
    """Return what of a HIT is handed in and not decided, with `is_claimed`: not known yet to be its worker's."""
    return _of(hit, UNDECIDED)


def _of(hit: HIT, assignments: Statement[Assignment]) -> list[Assignment]:
    found = assignments.all(hit=hit.pk)
    for assignment in found:
        assignment.hit = hit
    return found


def _handed_in() -> QuerySet[Assignment]:
    return Assignment.objects.filter(hit=Hole("hit", HIT._meta.pk)).exclude(status=Status.ACCEPTED)


def _undecided() -> QuerySet[Assignment]:
    claimed = Response.objects.filter(assignment=OuterRef("pk"), is_claim=True)
    undecided = _handed_in().filter(decision=None).select_related("worker")
    return undecided.annotate(is_claimed=Exists(claimed))


UNDECIDED = Statement(_undecided)
DECIDED = Statement(lambda: _handed_in().filter(decision__isnull=False).select_related("decision"))


def to_carry_out(hit: HIT) -> list[Assignment]:
    """Return the assignments of a HIT with a decision that is not carried out, or that came too late.

    A marketplace that does not know the HIT any more is told nothing about it.
    """
    assignments = _of(hit, DECIDED)
    if hit.gone_at:
        assignments = [assignment for assignment in assignments if not crowd_of(assignment).has_market]
    others = _others([assignment.pk for assignment in assignments if _is_not_as_decided(assignment)])
    return [assignment for assignment in assignments if assignment.pk in others or _is_to_tell(assignment)]


def _is_to_tell(assignment: Assignment) -> bool:
    return assignment.status == Status.SUBMITTED and assignment.decision.verdict in {APPROVE, REJECT}


def _is_not_as_decided(assignment: Assignment) -> bool:
    is_overturned = assignment.decision.overturned_at is not None
    if assignment.status == Status.REJECTED:
        return is_overturned
    return assignment.status == Status.APPROVED and assignment.decision.verdict != APPROVE


def _others(pks: Collection[int]) -> set[int]:
    """Return which of these, decided by the marketplace, are overturned here or were approved too early there."""
    if not pks:
        return set()
    either = Assignment.objects.filter(Q(pk__in=overturned()) | Q(pk__in=approved_late()), pk__in=pks)
    return set(either.values_list("pk", flat=True))


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
    if not quota.has_slots(hit.questionnaire.batch):
        return 0
    waiting = _not_wanted_again().filter(hit=hit).order_by("pk")
    return sum(quota.reopen(assignment) is not None for assignment in waiting)


def finish(batch: Batch) -> bool:
    """Mark an open batch complete when every questionnaire has the assignments it was to get, all decided; tell who
    published it, once.

    Asked once more under the batch's lock: whoever leaves answers out meanwhile opens it again.
    """
    if not _can_finish(batch):
        return False
    with transaction.atomic():
        locked = budget.lock(batch.pk)
        if locked.status != Batch.Status.OPEN or not _can_finish(locked):
            return False
        Batch.objects.filter(pk=batch.pk).update(status=Batch.Status.COMPLETE)
        words = "all its annotations are in, and decided."
        notes.tell_publisher(batch, event="complete", words=lambda _: words)
    return True


def _can_finish(batch: Batch) -> bool:
    """A place that is planned may be open already, and taken: what is known of it is written down first."""
    return not any(one.rows(batch=batch.pk) for one in STILL_TO_COME) and _is_filled(batch)


def _unpublished() -> QuerySet[Questionnaire]:
    return Questionnaire.objects.filter(batch=BATCH, hit=None)


def _being_opened() -> QuerySet[Replacement]:
    """Return what is planned and not known to be open; nothing in place of work on a HIT that is gone."""
    return Replacement.objects.filter(
        by_market("replaces__"),
        opened_at=None,
        replaces__hit__gone_at=None,
        replaces__hit__questionnaire__batch=BATCH,
    )


def _in_batch() -> QuerySet[Assignment]:
    return Assignment.objects.filter(hit__questionnaire__batch=BATCH)


def _counted() -> QuerySet[Assignment, tuple[Any, ...]]:
    """Return (questionnaire, assignments kept, of these skipped), siblings under the one they are of."""
    root = Coalesce("hit__questionnaire__sibling_of", "hit__questionnaire")
    kept = _in_batch().filter(status__in=[Status.APPROVED, Status.SUBMITTED]).exclude(is_left_out())
    by_root = kept.annotate(root=root).values("root").order_by()
    counts = by_root.annotate(n=Count("pk"), n_skipped=Count("pk", filter=is_skipped()))
    return counts.values_list("root", "n", "n_skipped")


BATCH = Hole("batch", Batch._meta.pk)
STILL_TO_COME = (
    Statement(lambda: _unpublished().values_list("pk")[:1]),
    Statement(lambda: _being_opened().values_list("pk")[:1]),
)
TO_DECIDE = Statement(
    lambda: _in_batch().filter(status=Status.SUBMITTED).exclude(IS_LOST).values_list("pk")[:1]
)
UNSETTLED = Statement(lambda: (unsettled() & _in_batch()).values_list("pk")[:1])
COUNTED = Statement(_counted)


def _not_wanted_again() -> QuerySet[Assignment]:
    open_ones = Assignment.objects.filter(hit__questionnaire__batch__status=Batch.Status.OPEN)
    return quota.to_reopen(open_ones)


def _is_filled(batch: Batch) -> bool:
    """A skipped assignment fills its place only where it is not replaced any more.

    What was handed in to a HIT that its marketplace has forgotten fills its place, undecided as it stays.
    """
    if TO_DECIDE.rows(batch=batch.pk):
        return False
    if quota.has_slots(batch):
        return not UNSETTLED.rows(batch=batch.pk) and not quota.unfilled(batch)
    n_kept = {pk: (n, skipped) for pk, n, skipped in COUNTED.rows(batch=batch.pk)}
    targets = batch.questionnaires.filter(sibling_of=None).values_list("pk", "target_assignments")
    return all(_fills(*n_kept.get(pk, (0, 0)), target=target) for pk, target in targets)


def _fills(n_approved: int, n_skipped: int, *, target: int) -> bool:
    return n_approved - min(n_skipped, target) >= target
