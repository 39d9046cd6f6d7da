"""Asking for files that name workers."""

from django import forms


class WorkerIdsForm(forms.Form):
    """Why somebody takes worker ids out of here. It is written into the audit trail."""

    reason = forms.CharField(
        label="What are the ids for?",
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3, "class": "wide"}),
        help_text="For example: bonuses paid outside, a worker’s own request. Name nobody here.",
    )
