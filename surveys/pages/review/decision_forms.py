"""What a reviewer asks for and decides."""

from typing import Any

from django import forms
from django.db.models import QuerySet

from annotators.models import Assignment
from annotators.outbox.market import FEEDBACK_MAX
from surveys.models import Decision
from surveys.review.appeal_codes import REASON_MAX
from surveys.review.by_hand import ACTIONS

UNDECIDED = "undecided"
USED, LEFT_OUT = "used", "left_out"
FIRST = {
    "": "Most urgent",
    "newest": "Newest",
    "oldest": "Oldest",
    "fewest_right": "Fewest right",
    "quickest": "Quickest",
    "hit": "HIT by HIT",
}


class FilterForm(forms.Form):
    """Which assignments to list. Everything is optional; what makes no sense is left out."""

    status = forms.ChoiceField(choices=[("", "Any status"), *Assignment.Status.choices], required=False)
    verdict = forms.ChoiceField(
        label="Decision",
        choices=[("", "Any decision"), (UNDECIDED, "None yet"), *Decision.Verdict.choices],
        required=False,
    )
    use = forms.ChoiceField(
        label="Use in the analysis",
        choices=[("", "Used or not"), (USED, "Used"), (LEFT_OUT, "Left out")],
        required=False,
    )
    worker = forms.CharField(label="Worker: id, pseudonym or name", max_length=64, required=False)
    hit = forms.CharField(label="HIT", max_length=64, required=False)
    sort = forms.ChoiceField(label="First", choices=list(FIRST.items()), required=False)


class UseForm(forms.Form):
    """Whether answers are used in the analysis, decided by a person with a reason nobody but researchers reads."""

    action = forms.ChoiceField(choices=[("exclude", "Leave out"), ("include", "Use again")])
    reason = forms.CharField(
        max_length=FEEDBACK_MAX,
        error_messages={"required": "Give a reason: it stays in the record of the study."},
    )
    replace = forms.BooleanField(required=False)


class BulkForm(forms.Form):
    """One decision about many assignments. A rejection without a reason tells each worker their own."""

    action = forms.ChoiceField(choices=[(key, ACTIONS[key]) for key in ("approve", "reject")])
    reason = forms.CharField(max_length=REASON_MAX, required=False)
    confirm = forms.BooleanField(required=False)

    def __init__(self, *args: Any, assignments: QuerySet[Assignment], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["selected"] = forms.ModelMultipleChoiceField(
            assignments, error_messages={"required": "Select assignments first."}
        )
