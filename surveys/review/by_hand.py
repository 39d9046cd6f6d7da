"""What a person decides about a payment: what they have to say, the deed, and taking it back."""

from typing import Any

from django import forms
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from annotators.models import Assignment
from annotators.outbox.market import FEEDBACK_MAX
from surveys.models import Decision, is_held_by_hand
from surveys.review import decisions
from surveys.review.appeal_codes import REASON_MAX
from surveys.review.errors import CannotDecide

Status = Assignment.Status
OVERTURN_REASON = "This rejection was a mistake of ours, and is taken back."
UNRELEASED = "Held again: its release was taken back."
ACTIONS = {
    "approve": "Approve",
    "reject": "Reject",
    "hold": "Hold",
    "release": "Release",
    "overturn": "Overturn the rejection",
}


class ReasonForm(forms.Form):
    """A decision by a person. Rejecting and overturning need a reason, which the worker reads; so does holding, which
    they never hear of.
    """

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
        if data.get("action") == "hold" and not data.get("reason", "").strip():
            self.add_error("reason", "Give a reason: it stays in the record of the study.")
        if data.get("action") == "reject" and len(data.get("reason", "")) > REASON_MAX:
            self.add_error(
                "reason", f"A rejection has room for {REASON_MAX} characters, as it says how to appeal."
            )
        return data


def record(
    assignment: Assignment, action: str, *, by: Any, reason: str, use_answers: bool = False
) -> Decision:
    """Record what a person decides about a payment. Raises CannotDecide."""
    if action == "approve":
        return decisions.approve(assignment, by=by, reason=reason)
    if action == "reject":
        return decisions.reject(assignment, by=by, reason=reason)
    if action == "hold":
        return decisions.hold(assignment, by=by, reason=reason)
    if action == "release":
        return release(assignment, by=by, reason=reason)
    return decisions.overturn(assignment, by=by, reason=reason, use_answers=use_answers)


def release(assignment: Assignment, *, by: AbstractBaseUser, reason: str = "") -> Decision:
    """Let the rule decide again about work that somebody holds. CannotDecide about any other."""
    if not Assignment.objects.filter(is_held_by_hand(), pk=assignment.pk).exists():
        raise CannotDecide("Nobody holds this assignment.")
    _judge_again(assignment, by=by, outcome=decisions.RELEASE, reason=reason)
    return Decision.objects.get(assignment=assignment)


def undo(assignment: Assignment, *, by: AbstractBaseUser) -> None:
    """Take a person's decision back, where the crowd allows it. Safe to repeat.

    What nobody was told yet is judged by the rule again, as if nobody had decided. A rejection that was carried out is
    overturned. What is paid stays paid: CannotDecide.
    """
    status = Assignment.objects.values_list("status", flat=True).get(pk=assignment.pk)
    if status == Status.APPROVED:
        raise CannotDecide("It is paid already, and that can’t be taken back.")
    if status == Status.REJECTED:
        assignment.refresh_from_db()
        decisions.overturn(assignment, by=by, reason=OVERTURN_REASON, use_answers=True)
    else:
        _judge_again(assignment, by=by)


@transaction.atomic
def _judge_again(
    assignment: Assignment, *, by: AbstractBaseUser, outcome: str = decisions.UNDO, reason: str = ""
) -> None:
    locked = decisions.lock_undecided(assignment)
    decided = Decision.objects.filter(assignment=assignment, decided_by__isnull=False).first()
    if decided is None:
        return
    batch = assignment.hit.questionnaire.batch
    by_rule = decisions.decide(locked, batch=batch)
    values = {**decisions.from_rule(by_rule, batch=batch), "verdict": decisions.carried(by_rule, batch=batch)}
    before = decided.verdict
    Decision.objects.filter(pk=decided.pk).update(**values, reason=by_rule.reason, decided_by=None)
    decisions.audit_undone(decided, outcome, by=by, before=before, reason=reason)
