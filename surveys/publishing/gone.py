"""HITs that their marketplace does not know any more, and what of a batch is lost with them."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import F, Q, QuerySet

from annotators.crowds.mturk import mirror
from annotators.models import HIT, IS_LOST, Assignment, Call
from surveys.models import Batch, Decision

Status = Assignment.Status


@dataclass(frozen=True, slots=True)
class Lost:
    """What of a batch is lost with its HITs that are gone; sums in dollars, without fees.

    `n_unpaid`: work handed in that was never seen paid, nor refused by us. `n_bonuses`: bonuses without an outcome.
    `n_places`: assignments that nobody can hand in any more.
    """

    n_hits: int
    n_unpaid: int
    rewards: Decimal
    n_bonuses: int
    bonuses: Decimal
    n_places: int


def lost(batch: Batch) -> Lost | None:
    """Return what is lost with the HITs of a batch that are gone; None where none is."""
    hits = HIT.objects.filter(questionnaire__batch=batch, gone_at__isnull=False)
    free = hits.annotate(n_free=F("max_assignments") - mirror.n_handed_in()).values_list("n_free", flat=True)
    if not (places := list(free)):
        return None
    n_unpaid, amounts = _unpaid(batch).count(), _bonuses(batch)
    return Lost(
        n_hits=len(places),
        n_unpaid=n_unpaid,
        rewards=n_unpaid * batch.reward,
        n_bonuses=len(amounts),
        bonuses=sum(amounts, Decimal("0.00")),
        n_places=sum(max(n, 0) for n in places),
    )


def _unpaid(batch: Batch) -> QuerySet[Assignment]:
    """Return work of gone HITs that we did not refuse, or took that back, and never saw approved."""
    is_refused = Q(decision__verdict=Decision.Verdict.REJECT, decision__overturned_at=None)
    handed_in = Q(status=Status.SUBMITTED) & ~is_refused
    overturned = Q(status=Status.REJECTED, decision__overturned_at__isnull=False)
    return Assignment.objects.filter(IS_LOST, handed_in | overturned, hit__questionnaire__batch=batch)


def _bonuses(batch: Batch) -> list[Decimal]:
    calls = Call.objects.filter(operation=Call.Operation.BONUS, state__in=Call.OPEN)
    of_gone = calls.filter(
        assignment__hit__gone_at__isnull=False, assignment__hit__questionnaire__batch=batch
    )
    return [Decimal(arguments["amount"]) for arguments in of_gone.values_list("arguments", flat=True)]
