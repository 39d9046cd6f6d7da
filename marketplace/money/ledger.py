"""Money in whole cents, by double entry: held at publication, paid at approval, released otherwise; bonuses at once."""

from collections import Counter
from datetime import datetime

from django.db import transaction
from django.db.models import F, Sum

from marketplace import refusals
from marketplace.models import HIT, Assignment, Balance, Bonus, Entry, HITType, Requester, Token
from marketplace.refusals import Refusal

Account = Entry.Account
SEND_BONUS = "SendBonus"


def fee_cents(reward_cents: int, *, max_assignments: int) -> int:
    """Return the fee of one assignment: 20 % of the reward, 40 % in a HIT of ten or more, half up, at least 1.

    Source: MTurk's price list (20 %, a further 20 % from 10 assignments on, minimum $0.01).
    """
    percent = 40 if max_assignments >= 10 else 20
    return max(1, (reward_cents * percent + 50) // 100)


def unit_cents(hit: HIT) -> int:
    """Return what one assignment of the HIT costs its requester, fee included. Reads `hit.hit_type`."""
    reward = hit.hit_type.reward_cents
    return reward + fee_cents(reward, max_assignments=hit.max_assignments)


def account_sum(requester: Requester, *, account: Account) -> int:
    """Return what the entries leave in an account."""
    entries = Entry.objects.filter(requester=requester)
    received = entries.filter(target=account).aggregate(total=Sum("cents"))["total"] or 0
    spent = entries.filter(source=account).aggregate(total=Sum("cents"))["total"] or 0
    return received - spent


def balance_of(requester: Requester) -> Balance:
    """Return the balance, first adding up the entries where that was never done (a loaded fixture)."""
    balance = Balance.objects.filter(requester=requester).first()
    if balance is not None:
        return balance
    sums = {
        "available_cents": account_sum(requester, account=Account.AVAILABLE),
        "held_cents": account_sum(requester, account=Account.HELD),
    }
    return Balance.objects.get_or_create(requester=requester, defaults=sums)[0]


def deposit(requester: Requester, *, cents: int, now: datetime, reference: str | None = None) -> None:
    """Add money from outside. Runs inside the caller's transaction."""
    balance_of(requester)
    book(
        requester, source=Account.OUTSIDE, target=Account.AVAILABLE, cents=cents, now=now, reference=reference
    )
    Balance.objects.filter(requester=requester).update(available_cents=F("available_cents") + cents)


def set_hold(hit: HIT, *, slots: int, now: datetime) -> None:
    """Hold money for exactly `slots` assignments. The HIT's row must be locked.

    Raises Refusal InsufficientFunds, and then nothing has moved.
    """
    _hold(hit, slots=slots, now=now)
    hit.save(update_fields=["held_slots"])


def _hold(hit: HIT, *, slots: int, now: datetime) -> None:
    """Move the money for `slots` assignments; the HIT's own row is the caller's to write."""
    difference = (slots - hit.held_slots) * unit_cents(hit)
    if difference > 0:
        _move(hit, source=Account.AVAILABLE, target=Account.HELD, cents=difference, now=now)
    elif difference < 0:
        _move(hit, source=Account.HELD, target=Account.AVAILABLE, cents=-difference, now=now)
    hit.held_slots = slots


def settle(hit: HIT, *, now: datetime) -> None:
    """Write the HIT's counts and bring the money held for it in line with them. Its row must be locked."""
    _hold(hit, slots=hit.slots_to_fund(now=now), now=now)
    count_open(hit, is_open=hit.is_offered)
    HIT.objects.rewrite(hit)


def count_open(hit: HIT, *, is_open: bool) -> None:
    """Keep the type's count where the HIT opens or closes; the HIT's own row is the caller's to write."""
    if is_open != hit.is_open:
        HITType.objects.count_open(hit.hit_type_id, by=1 if is_open else -1)
    hit.is_open = is_open


def hold_new(hits: list[HIT], *, now: datetime) -> None:
    """Hold the money of all `held_slots` of new HITs of one type, and count them as open.

    Raises Refusal; then nothing has moved.
    """
    requester = hits[0].requester
    costs = [(hit, hit.held_slots * unit_cents(hit)) for hit in hits]
    total = sum(cents for _, cents in costs)
    _take(requester, column="available_cents", cents=total)
    Balance.objects.filter(requester=requester).update(held_cents=F("held_cents") + total)
    _book_all(costs, source=Account.AVAILABLE, target=Account.HELD, now=now)
    HITType.objects.count_open(hits[0].hit_type_id, by=len(hits))


def release_unsold(hits: list[HIT], *, now: datetime) -> None:
    """Release what is held for more than the pending and submitted work. The HITs must be locked.

    Their `held_slots` are the caller's to write.
    """
    unsold = [(hit, (hit.held_slots - hit.pending - hit.submitted) * unit_cents(hit)) for hit in hits]
    costs = [(hit, cents) for hit, cents in unsold if cents > 0]
    totals: Counter[int] = Counter()
    for hit, cents in costs:
        totals[hit.requester_id] += cents
    for requester_id, total in sorted(totals.items()):
        Balance.objects.filter(requester_id=requester_id).update(
            held_cents=F("held_cents") - total, available_cents=F("available_cents") + total
        )
    _book_all(costs, source=Account.HELD, target=Account.AVAILABLE, now=now)


def _book_all(costs: list[tuple[HIT, int]], *, source: Account, target: Account, now: datetime) -> None:
    entries = [
        Entry(
            requester_id=hit.requester_id, hit=hit, source=source, target=target, cents=cents, created_at=now
        )
        for hit, cents in costs
    ]
    Entry.objects.bulk_create(entries, batch_size=500)


def _move(hit: HIT, *, source: Account, target: Account, cents: int, now: datetime) -> None:
    right = f"{target}_cents"
    _take(hit.requester, column=f"{source}_cents", cents=cents)
    Balance.objects.filter(requester_id=hit.requester_id).update(**{right: F(right) + cents})
    book(hit.requester, source=source, target=target, cents=cents, now=now, hit=hit)


def _take(requester: Requester, *, column: str, cents: int) -> None:
    balance_of(requester)
    left = Balance.objects.filter(requester=requester, **{f"{column}__gte": cents})
    if not left.update(**{column: F(column) - cents}):
        raise Refusal("InsufficientFunds", "Your account does not have enough money for this operation.")


def pay(assignment: Assignment, *, now: datetime) -> None:
    """Turn the money held for one assignment into the worker's reward and the fee. The HIT must be locked."""
    hit = assignment.hit
    reward = hit.hit_type.reward_cents
    shares = {Account.WORKERS: reward, Account.FEES: unit_cents(hit) - reward}
    for target, cents in shares.items():
        if cents:
            book(
                hit.requester, source=Account.HELD, target=target, cents=cents, now=now, assignment=assignment
            )
    Balance.objects.filter(requester_id=hit.requester_id).update(
        held_cents=F("held_cents") - sum(shares.values())
    )
    hit.held_slots -= 1
    hit.save(update_fields=["held_slots"])


@transaction.atomic
def send_bonus(
    assignment: Assignment, *, worker_id: str, cents: int, reason: str, token: str | None, now: datetime
) -> Bonus:
    """Pay the worker of an assignment. Raises Refusal for another worker's or open work, a used token, no money."""
    # MTurk does not know an assignment before it is submitted (Mephisto#1081).
    if assignment.status == Assignment.Status.OPEN or assignment.worker.worker_id != worker_id:
        raise refusals.assignment_does_not_exist(assignment.assignment_id)
    Token.objects.refuse_used(assignment.hit.requester, operation=SEND_BONUS, token=token, now=now)
    # The higher fee of HITs with ten or more assignments is on the reward only.
    fee = fee_cents(cents, max_assignments=1)
    _pay_bonus(assignment, cents=cents, fee=fee, now=now)
    Token.objects.remember(assignment.hit, operation=SEND_BONUS, token=token, now=now)
    return Bonus.objects.create(assignment=assignment, cents=cents, fee_cents=fee, reason=reason, paid_at=now)


def _pay_bonus(assignment: Assignment, *, cents: int, fee: int, now: datetime) -> None:
    """Move a bonus and its fee from the money available. Raises Refusal InsufficientFunds; then nothing moved."""
    requester = assignment.hit.requester
    _take(requester, column="available_cents", cents=cents + fee)
    for target, share in {Account.WORKERS: cents, Account.FEES: fee}.items():
        book(requester, source=Account.AVAILABLE, target=target, cents=share, now=now, assignment=assignment)


def book(
    requester: Requester,
    *,
    source: Account,
    target: Account,
    cents: int,
    now: datetime,
    hit: HIT | None = None,
    assignment: Assignment | None = None,
    reference: str | None = None,
) -> None:
    Entry.objects.create(
        requester=requester,
        source=source,
        target=target,
        cents=cents,
        hit=assignment.hit if assignment else hit,
        assignment=assignment,
        reference=reference,
        created_at=now,
    )


def dollars(cents: int) -> str:
    """Write cents as MTurk does: `12.30`."""
    return f"{cents // 100}.{cents % 100:02d}"
