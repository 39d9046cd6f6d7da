"""A published batch's money on its page: what it has cost, what it can come to, and what the budget holds back."""

from decimal import Decimal
from typing import Any

from django import forms

from annotators.models import HIT, Assignment
from surveys.models import Batch
from surveys.publishing import budget, quota
from surveys.publishing.budget import Money
from surveys.review import replacements


class BudgetForm(forms.Form):
    """The new budget of a batch that is published, in dollars."""

    budget = forms.DecimalField(
        label="Budget in dollars",
        min_value=Decimal("0.01"),
        max_digits=Batch._meta.get_field("budget").max_digits,
        decimal_places=2,
        widget=forms.NumberInput(attrs={"step": "0.01", "min": "0.01"}),
        error_messages={
            "required": "Say how many dollars.",
            "invalid": "A budget is an amount like 120.50.",
            "min_value": "A budget is at least one cent.",
        },
    )


def money_block(batch: Batch) -> dict[str, Any]:
    """Return what the template shows: `money`, and how many assignments the budget holds back at what price."""
    found = budget.money(batch)
    each = budget.one_more(batch)
    is_short = found.left is not None and found.left < each and batch.status == Batch.Status.OPEN
    return {
        "money": found,
        "bar": bar(found),
        "one_more": each,
        "n_held_back": _n_to_replace(batch) if is_short else 0,
        "over_by": -found.left if found.left is not None and found.left < 0 else None,
    }


def money_counts(batch: Batch) -> dict[str, Any]:
    """Return the figures as the page writes them, and the ends of its bar in cents."""
    found = budget.money(batch)
    figures = {name: getattr(found, name) for name in ("committed", "paid", "to_come", "bonuses", "left")}
    texts = {f"money_{name}": _written(figure) for name, figure in figures.items() if figure is not None}
    return {**texts, **bar(found)}


def bar(found: Money) -> dict[str, int]:
    """Return the bar in cents: committed of the budget, or without one, paid of committed."""
    done, of = (
        (found.paid + found.bonuses, found.committed)
        if found.limit is None
        else (found.committed, found.limit)
    )
    return {"money_cents": int(done * 100), "money_of_cents": int(of * 100)}


def _written(amount: Decimal) -> str:
    return f"${max(amount, Decimal(0)):,.2f}"


def _n_to_replace(batch: Batch) -> int:
    """Count what is to be collected once more and not planned yet."""
    of_batch = Assignment.objects.filter(hit__questionnaire__batch=batch)
    if not batch.has_market:
        return quota.to_reopen(of_batch).count()
    waiting = replacements.unreplaced() & of_batch.filter(replacement=None)
    hits = HIT.objects.filter(assignments__in=waiting).select_related("questionnaire__sibling_of").distinct()
    wanted = [assignment.pk for hit in hits for assignment in replacements.to_replace(hit)]
    return waiting.filter(pk__in=wanted).count()
