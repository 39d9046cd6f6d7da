"""What a batch can come to cost as things stand, and its budget: nothing is begun that the budget does not cover."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import reduce
from typing import Any

from django.db import transaction
from django.db.models import Case, CharField, Count, F, Q, Sum, Value, When

from annotators.crowds.base import CROWDS, MORE_TIME
from annotators.crowds.mturk.fees import price
from annotators.models import HIT, Assignment, Call
from statements import Hole, Statement
from surveys.models import AnnotationSlot, Batch, Publishing, Questionnaire, Replacement, create_token

LISTED_WITHIN = timedelta(minutes=10)  # submissions were listed up to 7 minutes late (ParlAI#2957)
MAY_HAVE_MADE_A_HIT = (Call.State.SENT, Call.State.UNKNOWN, Call.State.DONE)
OVERTURNED = "Overturned"
ZERO = Decimal("0.00")
Status = Assignment.Status
Counts = Counter[str]
CountsOf = dict[tuple[Any, bool], Counts]


class OverBudget(Exception):
    """The budget does not cover what was asked; the message says what it would cost and what is left."""


@dataclass(frozen=True, slots=True)
class Places:
    """The `n` assignments one HIT has or is to have, and the marketplace's by status, those overturned apart.

    `may_exist`: the HIT is on the marketplace, or is to be, or was made without our knowing. `is_over`: nobody can
    hand in anything more.
    """

    hit: HIT | None
    n: int
    status: Counts
    may_exist: bool
    is_over: bool


@dataclass(frozen=True, slots=True)
class Money:
    """A batch's money in dollars, fees included.

    `committed` is the most it can come to cost as things stand: `paid` for approved work, `bonuses` paid or on their
    way, `held` for work that is open or undecided (the marketplace gives back what nobody accepted as soon as a HIT
    expires, which we can't see), and what is planned. `limit` None: no budget.
    """

    limit: Decimal | None = None
    committed: Decimal = ZERO
    paid: Decimal = ZERO
    held: Decimal = ZERO
    bonuses: Decimal = ZERO

    @property
    def left(self) -> Decimal | None:
        return None if self.limit is None else self.limit - self.committed

    @property
    def to_come(self) -> Decimal:
        """What is neither paid nor a bonus: work that is planned, open or undecided, by whatever way it comes."""
        return self.committed - self.paid - self.bonuses

    def __add__(self, other: "Money") -> "Money":
        """Add up two batches; together they have a limit if both have one."""
        no_limit = self.limit is None or other.limit is None
        return Money(
            limit=None if no_limit else (self.limit or ZERO) + (other.limit or ZERO),
            committed=self.committed + other.committed,
            paid=self.paid + other.paid,
            held=self.held + other.held,
            bonuses=self.bonuses + other.bonuses,
        )


def money(batch: Batch) -> Money:
    """Add up a batch's money from our mirror of the marketplace, in at most five queries.

    A place on a HIT costs until its assignment is rejected, or until nobody can hand it in any more: its batch was
    stopped before the HIT was made, or we have looked at the HIT after its last deadline. People who come by link
    get the reward without a fee. A rejection that is being overturned costs again.
    """
    return money_of([batch])[batch.pk]


def money_of(batches: Sequence[Batch]) -> dict[int, Money]:
    """Return the money of each batch, by its key, in as many queries as for one."""
    if not batches:
        return {}
    counts, wanted, bonuses = _counts(batches), _wanted_by_link(batches), _bonuses(batches)
    places, planned = _places(batches, counts), _to_write(batches)
    return {
        batch.pk: _sum(
            batch,
            [
                Money(committed=planned.get(batch.pk, ZERO)),
                *(_price(one, reward=batch.reward) for one in places[batch.pk]),
                _by_link(batch, counts[batch.pk], n_wanted=wanted.get(batch.pk, 0)),
            ],
            bonuses=bonuses.get(batch.pk, ZERO),
        )
        for batch in batches
    }


def together(each: Iterable[Money]) -> Money:
    """Add up the money of several batches."""
    return reduce(Money.__add__, each, Money(limit=ZERO))


def _sum(batch: Batch, parts: Sequence[Money], *, bonuses: Decimal) -> Money:
    return Money(
        limit=batch.budget,
        committed=sum((part.committed for part in parts), bonuses),
        paid=sum((part.paid for part in parts), ZERO),
        held=sum((part.held for part in parts), ZERO),
        bonuses=bonuses,
    )


def places(batch: Batch) -> list[Places]:
    """Return the places of a batch's HITs on the marketplace, siblings too, in the order of the batch."""
    return _places([batch], _counts([batch]))[batch.pk]


def check(batch: Batch, amount: Decimal) -> None:
    """Raise OverBudget unless the budget covers `amount` dollars more. Call it in a transaction: it locks the batch.

    What then costs the money must be written in the same transaction.
    """
    check_unlocked(lock(batch.pk), amount)


def check_unlocked(batch: Batch, amount: Decimal) -> None:
    """Raise OverBudget unless the budget covers `amount` dollars more as things stand, to say so before it is asked."""
    if batch.budget is not None:
        _compare(money(batch), amount=amount)


@contextmanager
def spending(batch: Batch) -> Iterator[None]:
    """Keep what is written inside only if the budget covers it, else raise OverBudget. One at a time per batch."""
    with transaction.atomic():
        locked = lock(batch.pk)
        before = money(locked) if locked.budget is not None else None
        yield
        if before is not None:
            _compare(before, amount=money(lock(batch.pk)).committed - before.committed)


def one_more(batch: Batch) -> Decimal:
    """Return what one assignment more costs in dollars. Without a marketplace nobody takes a fee."""
    if not batch.has_market:
        return batch.reward
    return price(batch.reward, max_assignments=batch.assignments_per_hit)


def lock(batch_pk: int) -> Batch:
    """Lock a batch's row until the end of the transaction, and return it as it is now.

    So one transaction at a time spends its money, and decides what is collected once more, and where.
    """
    return LOCKED.get(pk=batch_pk)


LOCKED = Statement(lambda: Batch.objects.select_for_update(no_key=True).filter(pk=Hole("pk", Batch._meta.pk)))


def _compare(now: Money, *, amount: Decimal) -> None:
    if now.left is not None and amount > 0 and amount > now.left:
        left = max(now.left, ZERO)
        raise OverBudget(f"It could cost ${amount:.2f}, but ${left:.2f} of the batch's budget is left.")


def _counts(batches: Sequence[Batch]) -> dict[int, CountsOf]:
    """Count assignments of each batch as {(questionnaire, whether the marketplace's): {status: n}}."""
    of_batches = Assignment.objects.filter(hit__questionnaire__batch__in=batches)
    taken_back = Q(status=Status.REJECTED, decision__overturned_at__isnull=False)
    status = Case(When(taken_back, then=Value(OVERTURNED)), default=F("status"), output_field=CharField())
    keys = of_batches.order_by().annotate(now=status)
    rows = keys.values("hit__questionnaire__batch", "hit__questionnaire", "channel", "now")
    counts: dict[int, CountsOf] = {batch.pk: defaultdict(Counter) for batch in batches}
    for row in rows.annotate(n=Count("pk")):
        key = row["hit__questionnaire"], CROWDS[row["channel"]].has_market
        counts[row["hit__questionnaire__batch"]][key][row["now"]] += row["n"]
    return counts


def _places(batches: Sequence[Batch], counts: dict[int, CountsOf]) -> dict[int, list[Places]]:
    found: dict[int, list[Places]] = {batch.pk: [] for batch in batches}
    with_market = {batch.pk: batch for batch in batches if batch.has_market}
    questionnaires = _questionnaires(with_market)
    uncertain = _uncertain(with_market, questionnaires)
    for one in questionnaires:
        batch, status = with_market[one.batch_id], counts[one.batch_id][one.pk, True]
        found[batch.pk].append(_of_hit(batch, one, status, uncertain=uncertain))
    return found


def _questionnaires(batches: dict[int, Batch]) -> list[Any]:
    if not batches:
        return []
    extended = Q(replacements__opened_by=Replacement.OpenedBy.EXTEND)
    questionnaires = (
        Questionnaire.objects.filter(batch__in=batches.values())
        .select_related("hit")
        .annotate(
            n_extended=Count("replacements", filter=extended),
            n_to_extend=Count("replacements", filter=extended & Q(replacements__opened_at=None)),
        )
    )
    return list(questionnaires.order_by("batch", "position"))


def _of_hit(batch: Batch, questionnaire: Any, status: Counts, *, uncertain: set[str]) -> Places:
    """Count the places of one HIT. One that is being extended after it expired comes back to life."""
    hit, is_running = questionnaire.hit, batch.status in Batch.RUNNING
    may_exist = hit is not None or is_running or create_token(questionnaire.pk) in uncertain
    is_told = hit is not None and _is_told_the_end(hit, batch)
    return Places(
        hit=hit,
        n=max(hit.max_assignments if hit else 0, questionnaire.target_assignments + questionnaire.n_extended),
        status=status,
        may_exist=may_exist,
        is_over=not may_exist or (is_told and not (is_running and questionnaire.n_to_extend)),
    )


def _is_told_the_end(hit: HIT, batch: Batch) -> bool:
    """Tell whether we have looked at a HIT after everything handed in before its last deadline is listed."""
    last_listed = hit.expires_at + batch.assignment_duration + MORE_TIME + LISTED_WITHIN
    return hit.synced_at is not None and hit.synced_at >= last_listed


def _price(places: Places, *, reward: Decimal) -> Money:
    n, each = places.status, price(reward, max_assignments=places.n)
    handed_in = n[Status.SUBMITTED] + n[Status.APPROVED] + n[OVERTURNED]
    on_market = places.hit.max_assignments if places.hit else 0
    n_held = on_market - n[Status.APPROVED] - n[Status.REJECTED] - n[OVERTURNED]
    return Money(
        committed=each * (handed_in if places.is_over else places.n - n[Status.REJECTED]),
        paid=each * n[Status.APPROVED],
        held=each * max(n[Status.SUBMITTED] if places.is_over else n_held, 0),
    )


def _uncertain(batches: dict[int, Batch], questionnaires: Iterable[Questionnaire]) -> set[str]:
    """Of batches that run no more, return the tokens of HITs that may have been made without our knowing."""
    over = [one for one in questionnaires if batches[one.batch_id].status not in Batch.RUNNING]
    tokens = [create_token(one.pk) for one in over if one.hit_id is None]
    if not tokens:
        return set()
    open_calls = Call.objects.filter(token__in=tokens, state__in=MAY_HAVE_MADE_A_HIT)
    return set(open_calls.values_list("token", flat=True))


def _by_link(batch: Batch, counts: CountsOf, *, n_wanted: int) -> Money:
    """Price what people do by link. A draft can be handed in at any time, its place given away or not."""
    n: Counts = sum((found for (_, is_market), found in counts.items() if not is_market), Counter())
    return Money(
        committed=batch.reward * (n_wanted + n.total() - n[Status.REJECTED]),
        paid=batch.reward * n[Status.APPROVED],
    )


def _wanted_by_link(batches: Sequence[Batch]) -> dict[int, int]:
    """Count, by batch, the places that nobody has of batches without a marketplace that take people."""
    open_ones = [one for one in batches if not one.has_market and one.status in Batch.RUNNING]
    if not open_ones:
        return {}
    free = AnnotationSlot.objects.filter(batch__in=open_ones, assignment=None).order_by()
    return dict(free.values_list("batch").annotate(Count("pk")))


def _to_write(batches: Sequence[Batch]) -> dict[int, Decimal]:
    """Return what was confirmed of batches whose HITs the worker still has to write."""
    begun = [one for one in batches if one.status == Batch.Status.PUBLISHING]
    if not begun:
        return {}
    return dict(Publishing.objects.filter(batch__in=begun, written_at=None).values_list("batch", "total"))


def _bonuses(batches: Sequence[Batch]) -> dict[int, Decimal]:
    of_batch = "assignment__hit__questionnaire__batch"
    calls = Call.objects.filter(operation=Call.Operation.BONUS, **{f"{of_batch}__in": batches})
    live = calls.exclude(state=Call.State.REFUSED).order_by()
    return {pk: total or ZERO for pk, total in live.values_list(of_batch).annotate(Sum("amount"))}
