"""What a reviewer asks for and decides."""

from typing import Any

from django import forms
from django.db.models import Q, QuerySet

from annotators.models import Assignment
from annotators.outbox.market import FEEDBACK_MAX
from surveys.models import Decision, is_held_by_hand, is_used
from surveys.review.appeal_codes import REASON_MAX
from surveys.review.by_hand import ACTIONS

# MTurk's words; but its "Accepted" stands beside "Approved" here, and is of who has only begun.
STATUS_WORDS = {**dict(Assignment.Status.choices), Assignment.Status.ACCEPTED.value: "Not handed in"}
UNDECIDED = "undecided"
USED, LEFT_OUT = "used", "left_out"
EXCLUDE = "exclude"
HOLD, RELEASE = "hold", "release"
OF_MANY = {**{name: ACTIONS[name] for name in ("approve", "reject", HOLD, RELEASE)}, EXCLUDE: "Leave out"}
MANY = 500  # so that the page that asks once more can be read
_SUBMITTED = Q(status=Assignment.Status.SUBMITTED)
_CAN_BE = {
    "approve": _SUBMITTED,
    "reject": _SUBMITTED,
    HOLD: _SUBMITTED,
    RELEASE: is_held_by_hand(),
    EXCLUDE: is_used(),
}
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

    status = forms.ChoiceField(choices=[("", "Any status"), *STATUS_WORDS.items()], required=False)
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

    action = forms.ChoiceField(choices=[(EXCLUDE, OF_MANY[EXCLUDE]), ("include", "Use again")])
    reason = forms.CharField(
        max_length=FEEDBACK_MAX,
        error_messages={"required": "Give a reason: it stays in the record of the study."},
    )
    replace = forms.BooleanField(required=False)


class BulkForm(forms.Form):
    """One decision about many assignments. A rejection without a reason tells each worker their own.

    `everything` stands for all that the list has found and the action can decide, on whatever page of it.
    """

    action = forms.ChoiceField(choices=list(OF_MANY.items()))
    reason = forms.CharField(max_length=REASON_MAX, required=False)
    replace = forms.BooleanField(required=False)
    everything = forms.BooleanField(required=False)
    confirm = forms.BooleanField(required=False)

    def __init__(
        self, *args: Any, assignments: QuerySet[Assignment], found: QuerySet[Assignment], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.found = found
        self.fields["selected"] = forms.ModelMultipleChoiceField(assignments, required=False)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("everything") and "action" in data:
            data["selected"] = self._everything(data["action"])
        if "selected" in data and not data["selected"]:
            self.add_error(None, "Select assignments first.")
        if data.get("confirm") and data.get("action") in (EXCLUDE, HOLD) and not data.get("reason"):
            self.add_error("reason", "Give a reason: it stays in the record of the study.")
        return data

    def _everything(self, action: str) -> QuerySet[Assignment]:
        keys = list(self.found.filter(_CAN_BE[action]).order_by().values_list("pk", flat=True)[: MANY + 1])
        if len(keys) > MANY:
            self.add_error(None, f"At most {MANY} are decided together: filter the list first.")
        return Assignment.objects.filter(pk__in=keys[:MANY])
