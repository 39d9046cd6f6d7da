"""What a reader of results chooses, in the address of the page: which answers, and which of their ratings."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from surveys.models import Batch
from surveys.pages.results.tables import ROWS
from surveys.results.chosen import KEPT, STRATA, Chosen, systems_of

MODEL_WAS = {"true": "right", "false": "wrong", "unknown": "not graded"}
LONGEST = 600  # letters of all names; a report is kept under its choice, in at most 1000
DAY = forms.DateInput(attrs={"type": "date"})


class ChosenForm(forms.Form):
    """Which answers the numbers are made of. Everything is optional."""

    rows = forms.ChoiceField(choices=list(ROWS.items()), required=False)
    systems = forms.MultipleChoiceField(
        label="Systems", required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked: all."
    )
    stratum = forms.ChoiceField(
        label="The model was",
        choices=[("", "right or wrong"), *((name, MODEL_WAS[name]) for name in STRATA)],
        required=False,
    )
    since = forms.DateField(label="Handed in from", widget=DAY, required=False)
    until = forms.DateField(label="Handed in until", widget=DAY, required=False)
    most = forms.IntegerField(
        label="Leave out who gave more than",
        min_value=1,
        max_value=100,
        required=False,
        widget=forms.NumberInput(attrs={"placeholder": "% of the answers"}),
    )

    def __init__(self, data: QueryDict, *, batches: Sequence[Batch]) -> None:
        shown = data.copy()
        shown.setdefault("rows", KEPT)  # what is counted where nothing is chosen
        super().__init__(shown)
        systems = systems_of(batches)
        self.only_system = systems[0] if len(systems) == 1 else ""
        self.fields["systems"].choices = [(name, name) for name in systems]  # type: ignore[attr-defined]
        if len(systems) < 2:
            del self.fields["systems"]

    @property
    def chosen(self) -> Chosen:
        """Return the choice; what makes no sense in it is left out, and stands in the form's errors."""
        self.full_clean()
        given: dict[str, Any] = {name: value for name, value in self.cleaned_data.items() if value}
        systems = tuple(sorted(given.pop("systems", ())))
        return Chosen(systems=systems, **{"rows": KEPT, **given})

    def clean_systems(self) -> list[str]:
        systems: list[str] = self.cleaned_data["systems"]
        if len("".join(systems)) > LONGEST:
            raise ValidationError("These are too many to choose one by one.")
        return systems
