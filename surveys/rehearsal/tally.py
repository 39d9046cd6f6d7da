"""What came out, counted from the database, and the invariants it must keep."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Coalesce

from annotators.models import Assignment, Call, Endpoint
from surveys.models import Batch, Replacement, does_not_count
from surveys.protocols.policy import rule_data
from surveys.rehearsal.study import IN, SKIPPED, assignments
from surveys.results.files.layouts import batch_report

Status = Assignment.Status
PAYING = (Call.Operation.APPROVE, Call.Operation.OVERTURN)


@dataclass(frozen=True, slots=True)
class Course:
    """What the workers did, as they know it themselves."""

    workers: int
    stand_ins: int
    rounds: int
    submitted: int
    skipped: int
    expected_rejections: int
    abandoned: int
    double_submissions: int
    missing_pictures: int


@dataclass(frozen=True, slots=True)
class Tally:
    """The app's own counts. A HIT's sibling counts as the same HIT: it shows the same items.

    Kept is what counts: not rejected, skipped or left out. `replaced` counts what was opened again for any of these.
    """

    hits: int
    sibling_hits: int
    assignments: int
    rejected: int
    skipped: int
    replaced: int
    wanted_per_hit: int
    kept_per_hit: tuple[int, ...]
    below_threshold_kept: int
    cost: Decimal
    scores: dict[str, dict[str, float | None]] = field(default_factory=dict)


def count(batch: Batch) -> Tally:
    submitted = assignments(batch).filter(status__in=IN)
    kept = submitted.exclude(status=Status.REJECTED)
    originals = batch.questionnaires.filter(sibling_of=None)
    return Tally(
        hits=originals.exclude(hit=None).count(),
        sibling_hits=batch.questionnaires.exclude(sibling_of=None).count(),
        assignments=submitted.count(),
        rejected=submitted.filter(status=Status.REJECTED).count(),
        skipped=submitted.filter(SKIPPED).count(),
        replaced=_replaced(batch),
        wanted_per_hit=batch.assignments_per_hit,
        kept_per_hit=_kept_per_hit(batch),
        below_threshold_kept=_below_threshold(batch, kept),
        cost=_charged(batch),
        scores=_scores(batch),
    )


def _replaced(batch: Batch) -> int:
    """Count what was opened again: on the marketplace by a replacement, by link by another slot."""
    if batch.endpoint == Endpoint.LINK:
        reopened = Assignment.objects.filter(annotation_slot__reopened_as__isnull=False)
        return reopened.filter(does_not_count(), annotation_slot__batch=batch).count()
    opened = Replacement.objects.filter(opened_at__isnull=False)
    return opened.filter(replaces__hit__questionnaire__batch=batch).count()


def _kept_per_hit(batch: Batch) -> tuple[int, ...]:
    handed_in = assignments(batch).filter(status__in=[Status.SUBMITTED, Status.APPROVED])
    kept = handed_in.exclude(does_not_count())
    root = Coalesce("hit__questionnaire__sibling_of", "hit__questionnaire")
    counts = dict(kept.annotate(root=root).values_list("root").annotate(n=Count("pk")).order_by())
    return tuple(
        counts.get(pk, 0) for pk in batch.questionnaires.filter(sibling_of=None).values_list("pk", flat=True)
    )


def _below_threshold(batch: Batch, kept: QuerySet[Assignment]) -> int:
    """Grade again, from the stored answers and the gold answers alone."""
    rule = rule_data(batch.review_policy, "minimum_correct")
    minimum, out_of = (rule.get(name, 0) for name in ("minimum", "out_of"))
    is_right = Q(responses__answer=F("responses__item__gold"))
    graded = kept.annotate(n=Count("responses"), n_right=Count("responses", filter=is_right))
    return graded.filter(n=out_of, n_right__lt=minimum).count()


def _charged(batch: Batch) -> Decimal:
    paid = Call.objects.filter(
        operation__in=PAYING, state=Call.State.DONE, assignment__hit__questionnaire__batch=batch
    )
    return sum(paid.values_list("amount", flat=True), Decimal("0.00"))


def _scores(batch: Batch) -> dict[str, dict[str, float | None]]:
    """Return {selection: {system: mean rating on the headline criterion}}."""
    summary = batch_report(batch).summary
    scores: dict[str, dict[str, float | None]] = {}
    for selection in summary.selections:
        means = {}
        for system in selection.systems:
            score = system.criterion(summary.headline).score
            means[system.system] = score.rating_mean if score else None
        scores[selection.name] = means
    return scores


def broken(tally: Tally, course: Course, *, marketplace_cost: Decimal) -> Iterator[str]:
    """Yield a sentence for each invariant that does not hold."""
    wanted = tally.wanted_per_hit
    if wrong := [n for n in tally.kept_per_hit if n != wanted]:
        yield f"{len(wrong)} HITs have not exactly {wanted} kept assignments, but {min(wrong)} to {max(wrong)}."
    if tally.below_threshold_kept:
        yield f"{tally.below_threshold_kept} kept assignments have fewer right answers than the rule asks for."
    if tally.replaced != tally.rejected + tally.skipped:
        gone = f"{tally.rejected} assignments were rejected and {tally.skipped} skipped"
        yield f"{gone}, but {tally.replaced} replaced."
    if tally.skipped != course.skipped:
        yield f"{course.skipped} items were skipped, but {tally.skipped} skips are in the database."
    if tally.rejected != course.expected_rejections:
        yield (
            f"{tally.rejected} assignments were rejected; by the item file it should be {course.expected_rejections}."
        )
    if tally.assignments != course.submitted:
        yield f"{course.submitted} assignments were submitted, but {tally.assignments} are in the database."
    if tally.cost != marketplace_cost:
        yield f"Our ledger says ${tally.cost} was charged, the marketplace's ${marketplace_cost}."
