"""HITs that their marketplace does not know any more: what their batch says of it, and what is lost with them."""

import logging
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import F, Q, QuerySet

from annotators.crowds.mturk import mirror
from annotators.models import HIT, IS_CLAIM, IS_LOST, Assignment, Call
from surveys.models import Batch, Decision

Status = Assignment.Status
STRANGE = (
    "None of the HITs it was asked about for an hour is there. Are the keys in the settings those of another account, "
    "or are its data lost? Nothing is given up, and it goes on being asked."
)
logger = logging.getLogger(__name__)


@transaction.atomic
def note_missing(hit: HIT) -> bool:
    """Write down that the marketplace knows no such HIT; once that is believed its batch says so, and True.

    Where the marketplace knows none of ours that is not believed, and the batch says why; it is mailed about as any
    error that stands.
    """
    is_gone = mirror.note_missing(hit)
    if is_gone:
        claimed = Assignment.objects.filter(IS_CLAIM, hit=hit, saved_at__isnull=False).count()
        text = f"{_sentence(hit)} It is asked about once a day from now on; saved here and never confirmed there: "
        _say(hit, f"{text}{claimed}, which are kept and not used. Fetch now asks at once.")
        logger.warning("HIT %s is gone from %s.", hit.hit_id, hit.endpoint)
    elif mirror.is_account_strange(hit):
        _say(hit, STRANGE)
    return is_gone


def note_found(hit: HIT) -> None:
    """Take back what was said about a HIT that was missing and is there again: its account is the right one."""
    Batch.objects.filter(questionnaires__hit=hit, error__startswith=_sentence(hit)).update(error="")
    Batch.objects.filter(endpoint=hit.endpoint, error=STRANGE).update(error="")


def _sentence(hit: HIT) -> str:
    return f"There is no HIT {hit.hit_id} any more."


def _say(hit: HIT, text: str) -> None:
    Batch.objects.filter(questionnaires__hit=hit, error__in=["", STRANGE]).update(error=text)


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
