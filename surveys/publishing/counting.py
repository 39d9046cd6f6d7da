"""Where a batch stands."""

from dataclasses import dataclass

from django.db.models import Count, Q

from annotators.models import Assignment, Channel
from surveys.models import Batch, does_not_count, is_skipped
from surveys.protocols.rules import FLAG, PROPOSE


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a batch stands, in questionnaires and assignments; of those handed in, how many not by the marketplace.

    `n_left_out` are those a person or a rule left out of the analysis, `n_uncounted` those handed in and not rejected
    that are wanted again.
    """

    status: str
    error: str
    n_questionnaires: int
    n_published: int
    n_wanted: int
    n_open: int
    n_submitted: int
    n_approved: int
    n_rejected: int
    n_flagged: int
    n_replaced: int
    n_skipped: int = 0
    n_left_out: int = 0
    n_uncounted: int = 0
    n_by_link: int = 0
    n_by_panel: int = 0

    @property
    def n_kept(self) -> int:
        return self.n_submitted + self.n_approved - self.n_uncounted


def progress(batch: Batch) -> Progress:
    """Count a batch's questionnaires and assignments in three queries."""
    status = Assignment.Status
    questionnaires = batch.questionnaires.aggregate(n=Count("pk"), published=Count("hit"))
    is_in = Q(status__in=[status.SUBMITTED, status.APPROVED])
    of_batch = Assignment.objects.filter(hit__questionnaire__batch=batch)
    counts = of_batch.aggregate(
        open=Count("pk", filter=Q(status=status.ACCEPTED)),
        submitted=Count("pk", filter=Q(status=status.SUBMITTED)),
        approved=Count("pk", filter=Q(status=status.APPROVED)),
        rejected=Count("pk", filter=Q(status=status.REJECTED)),
        flagged=Count("pk", filter=Q(status=status.SUBMITTED, decision__verdict__in=[FLAG, PROPOSE])),
        skipped=Count("pk", filter=Q(is_in, is_skipped())),
        left_out=Count("pk", filter=is_in & Q(inclusion__is_included=False)),
        uncounted=Count("pk", filter=is_in & does_not_count()),
        by_link=Count("pk", filter=Q(channel=Channel.LINK) & ~Q(status=status.ACCEPTED)),
        by_panel=Count("pk", filter=Q(channel=Channel.PANEL) & ~Q(status=status.ACCEPTED)),
        replaced=Count("pk", filter=Q(replacement__opened_at__isnull=False)),
    )
    n_wanted = sum(batch.questionnaires.filter(sibling_of=None).values_list("target_assignments", flat=True))
    return Progress(
        status=batch.status,
        error=batch.error,
        n_questionnaires=questionnaires["n"],
        n_published=questionnaires["published"],
        n_wanted=n_wanted,
        **{f"n_{key}": value for key, value in counts.items()},
    )
