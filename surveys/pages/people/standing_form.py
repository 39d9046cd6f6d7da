"""Whether a worker may go on, and why."""

from django import forms

from annotators.models import Worker

WHAT_FOLLOWS = {
    Worker.Standing.OK: "May work",
    Worker.Standing.WATCH: "Watched: a person looks at whatever the rules would approve",
    Worker.Standing.EXCLUDED: "Excluded: gets nothing new; what they have begun can be finished and is paid",
}


class StandingForm(forms.Form):
    """A worker's standing, the reason of the change, and what it `was` on the page that is sent."""

    standing = forms.ChoiceField(choices=list(WHAT_FOLLOWS.items()), widget=forms.RadioSelect)
    reason = forms.CharField(
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3, "class": "wide"}),
        error_messages={
            "required": "Give a reason; it goes into the audit trail. The worker does not read it."
        },
    )
    was = forms.ChoiceField(choices=Worker.Standing.choices, widget=forms.HiddenInput)
