"""What is known of one worker, over all batches somebody may see; how much they did takes no more queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from django.db.models import Count, Q, QuerySet, Sum

from annotators.models import Assignment, Worker
from surveys.models import Appeal, AuditEntry, Batch, Invitation, PersonLabel, is_held_by_hand
from surveys.pages.people.labels import SEES_LABELS
from surveys.pages.review.decisions import use_of
from surveys.publishing.bonuses import Bonus, given_to
from surveys.review.replacements import REPLACED
from surveys.teams import Person, seen_by

Status = Assignment.Status
TRAIL_LENGTH = 200
UNFOLDED = 10  # of a batch's assignments and of the trail; so the page stays within a few screens


@dataclass(frozen=True, slots=True)
class InBatch:
    """What a worker did in one batch. `share`: of all its assignments that were handed in, in [0, 1].

    `label` is what researchers call them in its study, `invited_as` by which name they were invited.
    """

    batch: Batch
    assignments: Sequence[Assignment]
    share: float | None
    accuracy: float | None
    median_seconds: float | None
    label: str = ""
    invited_as: str = ""

    @property
    def n_waiting(self) -> int:
        return sum(one.status == Status.SUBMITTED for one in self.assignments)

    @property
    def n_held_by_hand(self) -> int:
        return sum(one.is_held_by_hand for one in self.assignments)  # type: ignore[attr-defined]

    @property
    def rows(self) -> list[tuple[Assignment, str]]:
        """Each assignment, and whether its answers are used, in the words of the assignment's own page."""
        return [(one, use_of(one, is_replaced=one.is_replaced).words) for one in self.assignments]  # type: ignore[attr-defined]

    @property
    def first(self) -> list[tuple[Assignment, str]]:
        return self.rows[:UNFOLDED]

    @property
    def rest(self) -> list[tuple[Assignment, str]]:
        return self.rows[UNFOLDED:]


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    worker: Worker
    batches: Sequence[InBatch]
    n_assignments: int
    n_rejected: int
    n_flagged: int
    accuracy: float | None
    median_seconds: float | None
    appeals: Sequence[Appeal]
    bonuses: Sequence[Bonus]
    bonus_total: Decimal
    trail: Sequence[AuditEntry]

    @property
    def trail_first(self) -> Sequence[AuditEntry]:
        return self.trail[:UNFOLDED]

    @property
    def trail_rest(self) -> Sequence[AuditEntry]:
        return self.trail[UNFOLDED:]


def worker_facts(worker: Worker, *, reader: Person) -> WorkerFacts:
    """Return everything the worker's page shows to this reader."""
    assignments = list(_assignments(worker, reader=reader))
    seen = {assignment.pk for assignment in assignments}
    bonuses = [bonus for bonus in given_to(worker) if bonus.assignment.pk in seen]
    return WorkerFacts(
        worker=worker,
        batches=_by_batch(assignments, names=_names(worker, reader=reader)),
        n_assignments=len(assignments),
        n_rejected=sum(a.status == Status.REJECTED for a in assignments),
        n_flagged=_n_flagged(assignments),
        accuracy=_accuracy(assignments),
        median_seconds=_median_seconds(assignments),
        appeals=[a.appeal for a in assignments if hasattr(a, "appeal") and a.appeal.made_at],
        bonuses=bonuses,
        bonus_total=_paid(bonuses),
        trail=list(_trail(worker, reader=reader)[:TRAIL_LENGTH]),
    )


def _n_flagged(assignments: Sequence[Assignment]) -> int:
    return sum(bool(a.decision.flags) for a in assignments if hasattr(a, "decision"))


def _paid(bonuses: Sequence[Bonus]) -> Decimal:
    return sum((bonus.amount for bonus in bonuses if bonus.is_paid), Decimal(0))


def _trail(worker: Worker, *, reader: Person) -> QuerySet[AuditEntry]:
    """Return what was decided about a worker and their work, the newest first."""
    entries = AuditEntry.objects.filter(worker=worker).select_related("actor", "batch", "assignment")
    return seen_by(reader, entries)


def _assignments(worker: Worker, *, reader: Person) -> QuerySet[Assignment]:
    found = Assignment.objects.filter(worker=worker, hit__questionnaire__isnull=False)
    return (
        seen_by(reader, found)
        .select_related("hit__questionnaire__batch__survey", "decision__decided_by", "inclusion", "appeal")
        .annotate(
            n_right=Count("responses", filter=Q(responses__is_correct=True, responses__is_repeat=False)),
            n_graded=Count(
                "responses", filter=Q(responses__is_correct__isnull=False, responses__is_repeat=False)
            ),
            seconds=Sum("responses__active_seconds"),
            is_replaced=REPLACED,
            is_held_by_hand=is_held_by_hand(),
        )
        .order_by("-hit__questionnaire__batch__created_at", "pk")
    )


def _by_batch(
    assignments: Sequence[Assignment], *, names: tuple[dict[int, str], dict[int, str]]
) -> list[InBatch]:
    labels, invited = names
    grouped: dict[Batch, list[Assignment]] = {}
    for assignment in assignments:
        grouped.setdefault(assignment.hit.questionnaire.batch, []).append(assignment)
    all_in = _n_handed_in([batch.pk for batch in grouped])
    return [
        InBatch(
            batch,
            theirs,
            share=_share(theirs, of=all_in.get(batch.pk, 0)),
            accuracy=_accuracy(theirs),
            median_seconds=_median_seconds(theirs),
            label=labels.get(batch.survey_id, ""),
            invited_as=invited.get(batch.pk, ""),
        )
        for batch, theirs in grouped.items()
    ]


def _names(worker: Worker, *, reader: Person) -> tuple[dict[int, str], dict[int, str]]:
    """Return {study: label} and {batch: name on the invitation}; nothing to readers who may not see any."""
    if not reader.has_perm(SEES_LABELS):
        return {}, {}
    labels = PersonLabel.objects.filter(worker=worker).values_list("survey", "text")
    return dict(labels), dict(Invitation.objects.filter(worker=worker).values_list("batch", "name"))


def _n_handed_in(batches: Sequence[int]) -> dict[int, int]:
    batch = "hit__questionnaire__batch"
    handed_in = Assignment.objects.filter(**{f"{batch}__in": batches}).exclude(status=Status.ACCEPTED)
    return dict(handed_in.order_by().values_list(batch).annotate(n=Count("pk")))


def _share(theirs: Sequence[Assignment], *, of: int) -> float | None:
    return sum(a.status != Status.ACCEPTED for a in theirs) / of if of else None


def _accuracy(assignments: Sequence[Assignment]) -> float | None:
    n_graded = sum(a.n_graded for a in assignments)  # type: ignore[attr-defined]
    return sum(a.n_right for a in assignments) / n_graded if n_graded else None  # type: ignore[attr-defined]


def _median_seconds(assignments: Sequence[Assignment]) -> float | None:
    """Return the median of what was measured; nothing of work without answers."""
    seconds = [a.seconds for a in assignments if a.saved_at and a.seconds]  # type: ignore[attr-defined]
    return median(seconds) if seconds else None
