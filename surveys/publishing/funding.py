"""Whether there is money for a batch: within its budget, and on the account."""

from collections.abc import Iterator
from decimal import Decimal

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction

from annotators.crowds.mturk.gateway import Gateway
from annotators.models import Endpoint
from surveys import audit
from surveys.models import Batch
from surveys.publishing import budget
from surveys.publishing.pricing import Quote, quote


class CannotChangeBudget(ValueError):
    """This can't be the batch's budget; the message says why."""


def budget_problems(batch: Batch) -> Iterator[str]:
    """Yield the sentence that says why the budget is too small to publish, if it is."""
    total = quote(batch).total
    if batch.budget is not None and total > batch.budget:
        yield f"Publishing it costs ${total:.2f}, but its budget is ${batch.budget:.2f}."


def proposed_budget(batch: Batch, *, price: Quote) -> Decimal:
    """Return dollars that cover a batch and its expected replacements.

    Beside a marketplace, people who come by link are paid on top of the places held there.
    """
    by_link = price.reward_total if batch.takes_links and batch.endpoint != Endpoint.LINK else 0
    return price.total + price.replacement_total + by_link


@transaction.atomic
def raise_budget(batch: Batch, amount: Decimal, *, by: AbstractBaseUser | AnonymousUser) -> None:
    """Give a published batch a budget, or a larger one. Raises CannotChangeBudget."""
    before = budget.lock(batch.pk)
    committed = budget.money(before).committed
    if before.budget is not None and amount <= before.budget:
        raise CannotChangeBudget(f"The budget is ${before.budget:.2f}; it can only be raised.")
    if amount < committed:
        raise CannotChangeBudget(f"${committed:.2f} are committed already; the budget can't be less.")
    Batch.objects.filter(pk=batch.pk).update(budget=amount)
    details = {"before": before.budget and f"{before.budget:.2f}", "after": f"{amount:.2f}"}
    audit.record(audit.Kind.BUDGET, "raise", batch=batch, by=by, details=details)


def balance_problem(batch: Batch, *, gateway: Gateway) -> str:
    """Ask the marketplace whether the account covers what a batch still has to have held; empty if it does.

    Raises MarketError. Runs outside transactions.
    """
    needed, balance = _still_to_hold(batch), gateway.balance()
    return (
        "" if balance >= needed else f"The account holds ${balance:.2f}; this batch may need ${needed:.2f}."
    )


def _still_to_hold(batch: Batch) -> Decimal:
    if batch.status == Batch.Status.DRAFT:
        return quote(batch).total
    money = budget.money(batch)
    return money.committed - money.paid - money.held - money.bonuses
