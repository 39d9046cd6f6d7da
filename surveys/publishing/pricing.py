"""What a batch will cost, and what it pays an hour."""

from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from statistics import median

from django.db.models import Count, Q

from annotators.crowds.base import whose_fee
from annotators.crowds.mturk.fees import fee_rate
from annotators.models import Assignment, Channel
from surveys.models import Batch, Publishing, does_not_count, is_held, is_skipped, is_used
from surveys.protocols.policy import can_reject, cap
from surveys.protocols.rules import PolicyError, most_assignments
from surveys.publishing import budget
from surveys.publishing.pilots import items_of
from surveys.publishing.quota import is_at_work


@dataclass(frozen=True, slots=True)
class Quote:
    """What a batch will cost in dollars, and what it pays an hour.

    `minutes` is the time one assignment takes: the median of `n_measured` earlier ones, of none what was assumed.
    """

    n_items: int
    n_hits: int
    n_assignments: int
    reward: Decimal
    reward_total: Decimal
    fee_rate: Decimal
    fee_total: Decimal
    whose_fee: str
    total: Decimal
    expected_rejections: Decimal
    replacement_total: Decimal
    worst_case_total: Decimal
    minutes: Decimal
    hourly_wage: Decimal
    n_measured: int

    @property
    def is_piloted(self) -> bool:
        return self.n_measured > 0


def quote(batch: Batch, *, rejection_rate: Decimal = Decimal("0.10")) -> Quote:
    """Price a batch as if it were published now. Without a marketplace nobody takes a fee.

    A rejected assignment is not paid for, so its replacement costs nothing extra in the end; but the money is
    held until then. `replacement_total` is that additional hold, `worst_case_total` the cost if every
    assignment were rejected, replaced once, and paid after all because its rejection was overturned.
    """
    n_items = items_of(batch).count()
    n_hits = -(-n_items // batch.items_per_hit) * batch.draws_per_item
    n, per_hit = n_hits * batch.assignments_per_hit, batch.assignments_per_hit
    is_free = not batch.has_market
    each = budget.one_more(batch)
    rejections = n * rejection_rate if _may_reject(batch) else Decimal(0)
    minutes, n_measured = _minutes(batch)
    return Quote(
        n_items=n_items,
        n_hits=n_hits,
        n_assignments=n,
        reward=batch.reward,
        reward_total=n * batch.reward,
        fee_rate=Decimal(0) if is_free else fee_rate(max_assignments=per_hit),
        fee_total=n * (each - batch.reward),
        whose_fee=whose_fee(batch.endpoint),
        total=n * each,
        expected_rejections=rejections,
        replacement_total=(rejections * each).quantize(Decimal("0.01")),
        worst_case_total=n * each * (2 if rejections else 1),
        minutes=minutes,
        hourly_wage=(batch.reward * 60 / minutes).quantize(Decimal("0.01")),
        n_measured=n_measured,
    )


def reward_for(hourly_wage: Decimal, *, minutes: Decimal) -> Decimal:
    """Return dollars for work of so many minutes that pay at least this wage an hour."""
    return (hourly_wage * minutes / 60).quantize(Decimal("0.01"), ROUND_UP)


def measured_reward(batch: Batch, *, wage: Decimal) -> Decimal | None:
    """Return the reward that pays a wage for the minutes that work of the study took; None before there is any."""
    price = quote(batch)
    return reward_for(wage, minutes=price.minutes) if price.is_piloted else None


@dataclass(frozen=True, slots=True)
class People:
    """How many people a batch needs at least: `without_cap` if each does all they may see, `n` if none passes `cap`.

    `cap` is the number of HITs one of them may do, None without such a rule. People with a personal link have none.
    """

    cap: int | None
    without_cap: int
    n: int


def people_needed(batch: Batch, *, n_hits: int) -> People:
    """Count the people that so many HITs need: nobody sees an item twice, nor does more of them than the cap allows."""
    per_hit, share = batch.assignments_per_hit, cap(batch.review_policy)
    n_wanted = n_hits * per_hit
    without_cap = per_hit * batch.draws_per_item if n_hits else 0
    if share is None or not n_hits:
        return People(None, without_cap, without_cap)
    most = most_assignments(share, n_wanted=n_wanted)
    return People(most, without_cap, max(without_cap, -(-n_wanted // most)))


def _may_reject(batch: Batch) -> bool:
    """A policy that can't be read is repaired before the batch is published; until then the higher price is shown."""
    try:
        return can_reject(batch.review_policy)
    except PolicyError:
        return True


def _minutes(batch: Batch) -> tuple[Decimal, int]:
    """Return the median minutes of the survey's earlier assignments, and of how many; else what was assumed.

    What simulated people took says nothing about people, and what rules noticed, or was left out, nothing about work.
    """
    of_survey = Q(hit__questionnaire__batch__survey=batch.survey, submitted_at__isnull=False)
    is_sound = is_used() & (Q(decision=None) | Q(decision__flags=[]))
    of_alike = Assignment.objects.filter(
        of_survey, hit__questionnaire__batch__is_simulated=batch.is_simulated
    )
    earlier = of_alike.filter(is_sound)
    seconds = [a.work_seconds for a in earlier.only("accepted_at", "submitted_at") if a.work_seconds]
    if not seconds:
        return batch.assumed_minutes, 0
    return (Decimal(median(seconds)) / 60).quantize(Decimal("0.01")), len(seconds)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a batch stands, in questionnaires and assignments; of those handed in, how many not by the marketplace.

    `n_open` are those somebody may still hand in, `n_left_out` those a person or a rule left out of the analysis,
    `n_uncounted` those handed in and not rejected that are wanted again.
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
    """Count a batch's questionnaires and assignments in three queries, and a fourth while it is being published."""
    status = Assignment.Status
    questionnaires = batch.questionnaires.aggregate(n=Count("pk"), published=Count("hit"))
    is_in = Q(status__in=[status.SUBMITTED, status.APPROVED])
    of_batch = Assignment.objects.filter(hit__questionnaire__batch=batch)
    counts = of_batch.aggregate(
        open=Count("pk", filter=is_at_work(batch)),
        submitted=Count("pk", filter=Q(status=status.SUBMITTED)),
        approved=Count("pk", filter=Q(status=status.APPROVED)),
        rejected=Count("pk", filter=Q(status=status.REJECTED)),
        flagged=Count("pk", filter=is_held()),
        skipped=Count("pk", filter=Q(is_in, is_skipped())),
        left_out=Count("pk", filter=is_in & Q(inclusion__is_included=False)),
        uncounted=Count("pk", filter=is_in & does_not_count()),
        by_link=Count("pk", filter=Q(channel=Channel.LINK) & ~Q(status=status.ACCEPTED)),
        by_panel=Count("pk", filter=Q(channel=Channel.PANEL) & ~Q(status=status.ACCEPTED)),
        replaced=Count("pk", filter=Q(replacement__opened_at__isnull=False)),
    )
    n_wanted = sum(batch.questionnaires.filter(sibling_of=None).values_list("target_assignments", flat=True))
    n_to_write = _to_write(batch)
    return Progress(
        status=batch.status,
        error=batch.error,
        n_questionnaires=questionnaires["n"] or n_to_write,
        n_published=questionnaires["published"],
        n_wanted=n_wanted or n_to_write * batch.assignments_per_hit,
        **{f"n_{key}": value for key, value in counts.items()},
    )


def _to_write(batch: Batch) -> int:
    """Return how many HITs the worker still has to write for a batch that is being published."""
    if batch.status != Batch.Status.PUBLISHING:
        return 0
    asked = Publishing.objects.filter(batch=batch, written_at=None).values_list("n_hits", flat=True)
    return asked.first() or 0
