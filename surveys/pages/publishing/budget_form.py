"""Raising a published batch's budget."""

from decimal import Decimal

from django import forms

from surveys.models import Batch


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
