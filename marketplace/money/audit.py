"""The ledger checked against everything it has to agree with."""

from typing import Any

from django.db.models import Count, F, Q, Sum

from marketplace.models import HIT, IS_FULL, Assignment, Balance, Bonus, Entry, HITType, Requester
from marketplace.money import ledger

Account = Entry.Account
Status = Assignment.Status
COUNTED = {
    "pending": Status.OPEN,
    "submitted": Status.SUBMITTED,
    "approved": Status.APPROVED,
    "rejected": Status.REJECTED,
}


def report() -> dict[str, Any]:
    """Return {"is_sound", "requesters": [statement]}; all amounts are dollars as text."""
    statements = [statement(requester) for requester in Requester.objects.order_by("name")]
    return {"is_sound": not any(row["problems"] for row in statements), "requesters": statements}


def statement(requester: Requester) -> dict[str, Any]:
    """Return one requester's accounts, the number of approved assignments, and the broken invariants."""
    sums = {account: ledger.account_sum(requester, account=account) for account in Account}
    bonuses = _bonuses(requester)
    paid = Assignment.objects.filter(hit__requester=requester, status=Status.APPROVED).count()
    return {
        "requester": requester.name,
        "deposited": ledger.dollars(-sums[Account.OUTSIDE]),
        "available": ledger.dollars(sums[Account.AVAILABLE]),
        "held": ledger.dollars(sums[Account.HELD]),
        "bonuses": ledger.dollars(bonuses["paid"]),
        "rewards": ledger.dollars(sums[Account.WORKERS] - bonuses["paid"]),
        "fees": ledger.dollars(sums[Account.FEES]),
        "charged": ledger.dollars(sums[Account.WORKERS] + sums[Account.FEES]),
        "approved": paid,
        "problems": problems(requester, sums=sums),
    }


def problems(requester: Requester, *, sums: dict[Account, int]) -> list[str]:
    """Return a sentence for each invariant that does not hold."""
    balance = ledger.balance_of(requester)
    held, charged = _owed(requester)
    charged += sum(_bonuses(requester).values())
    checks = {
        "The accounts do not add up to nothing.": sum(sums.values()) == 0,
        "The kept balance differs from the entries.": _agrees(balance, sums=sums),
        "The money held differs from what open HITs need.": held == sums[Account.HELD],
        "The money charged differs from the approved work and the bonuses.": charged
        == sums[Account.WORKERS] + sums[Account.FEES],
        "A HIT's counts differ from its assignments.": not _miscounted(requester),
        "A HIT is open that is not, or the other way round.": not _wrongly_open(requester),
        "A HIT type's open HITs are miscounted.": not _types_miscounted(requester),
    }
    return [sentence for sentence, holds in checks.items() if not holds]


def _agrees(balance: Balance, *, sums: dict[Account, int]) -> bool:
    return (balance.available_cents, balance.held_cents) == (sums[Account.AVAILABLE], sums[Account.HELD])


def _owed(requester: Requester) -> tuple[int, int]:
    """Return the cents to be held and charged according to the HITs alone, grouped by price."""
    prices = (
        HIT.objects.filter(requester=requester)
        .values(reward=F("hit_type__reward_cents"), many=Q(max_assignments__gte=10))
        .annotate(slots=Sum("held_slots"), paid=Sum("approved"))
    )
    held = charged = 0
    for row in prices:
        unit = row["reward"] + ledger.fee_cents(row["reward"], max_assignments=10 if row["many"] else 1)
        held += unit * row["slots"]
        charged += unit * row["paid"]
    return held, charged


def _bonuses(requester: Requester) -> dict[str, int]:
    """Return the cents of all bonuses, paid to workers and as fees."""
    rows = Bonus.objects.filter(assignment__hit__requester=requester)
    return rows.aggregate(paid=Sum("cents", default=0), fees=Sum("fee_cents", default=0))


def _miscounted(requester: Requester) -> bool:
    counts = {
        f"real_{name}": Count("assignments", filter=Q(assignments__status=status))
        for name, status in COUNTED.items()
    }
    wrong = Q()
    for name in COUNTED:
        wrong |= ~Q(**{f"real_{name}": F(name)})
    return HIT.objects.filter(requester=requester).annotate(**counts).filter(wrong).exists()


def _wrongly_open(requester: Requester) -> bool:
    is_offered = Q(disposed_at=None, is_expired=False) & ~IS_FULL
    wrong = (Q(is_open=True) & ~is_offered) | (Q(is_open=False) & is_offered)
    return HIT.objects.filter(wrong, requester=requester).exists()


def _types_miscounted(requester: Requester) -> bool:
    counted = Count("hits", filter=Q(hits__is_open=True))
    kinds = HITType.objects.filter(requester=requester).annotate(counted=counted)
    return kinds.exclude(open_hits=F("counted")).exists()
