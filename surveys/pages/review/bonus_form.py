"""What a researcher gives as a bonus."""

import uuid
from decimal import Decimal

from django import forms

from annotators.outbox.market import FEEDBACK_MAX


class BonusForm(forms.Form):
    """A bonus and its reason. The nonce is made with the form: sent twice, it is one bonus."""

    nonce = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)
    amount = forms.DecimalField(
        label="Bonus in dollars",
        min_value=Decimal("0.01"),
        max_digits=6,
        decimal_places=2,
        help_text="MTurk's fee of 20 %, at least $0.01, comes on top.",
    )
    reason = forms.CharField(
        label="What it is for",
        max_length=FEEDBACK_MAX,
        widget=forms.Textarea(attrs={"rows": 3, "class": "wide"}),
        help_text="The worker reads this.",
    )
