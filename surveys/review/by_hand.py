"""What a person decides about a payment: what they have to say, and the deed."""

from typing import Any

from django import forms

from annotators.models import Assignment
from annotators.outbox.market import FEEDBACK_MAX
from surveys.models import Decision
from surveys.review import decisions
from surveys.review.appeal_codes import REASON_MAX

ACTIONS = {"approve": "Approve", "reject": "Reject", "overturn": "Overturn the rejection"}


class ReasonForm(forms.Form):
    """A decision by a person. Rejecting and overturning need a reason; the worker reads it."""

    action = forms.ChoiceField(choices=list(ACTIONS.items()))
    reason = forms.CharField(
        max_length=FEEDBACK_MAX,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="The worker reads this.",
    )
    use_answers = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("action") in {"reject", "overturn"} and not data.get("reason", "").strip():
            self.add_error("reason", "Give a reason: the worker reads it.")
        if data.get("action") == "reject" and len(data.get("reason", "")) > REASON_MAX:
            self.add_error(
                "reason", f"A rejection has room for {REASON_MAX} characters, as it says how to appeal."
            )
        return data


def record(found: Assignment, action: str, *, by: Any, reason: str, use_answers: bool = False) -> Decision:
    """Record what a person decides about a payment. Raises CannotDecide."""
    if action == "approve":
        return decisions.approve(found, by=by, reason=reason)
    if action == "reject":
        return decisions.reject(found, by=by, reason=reason)
    return decisions.overturn(found, by=by, reason=reason, use_answers=use_answers)
