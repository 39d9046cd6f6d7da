"""What a study asks people to agree to before they answer: its text, translations, and the versions on record."""

from typing import Any

from django import forms
from django.conf import settings

from surveys.models import ConsentText, Survey
from surveys.studies import consent

LONGEST = 20_000


class ConsentForm(forms.Form):
    """The text, and one field for each language of the pages."""

    text = forms.CharField(
        label="What people agree to",
        required=False,
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 8, "class": "wide", "dir": "auto"}),
        help_text="Shown before the first answer. Markdown: paragraphs, lists, emphasis. Empty: nobody is asked.",
    )

    def __init__(self, data: Any = None, *, current: ConsentText | None) -> None:
        super().__init__(data)
        self.initial = {"text": current.text if current else ""}
        for code, name in settings.LANGUAGES:
            self.fields[f"text_{code}"] = forms.CharField(
                label=f"For readers of {name}",
                required=False,
                max_length=LONGEST,
                widget=forms.Textarea(attrs={"rows": 4, "class": "wide", "lang": code}),
            )
            self.initial[f"text_{code}"] = current.translations.get(code, "") if current else ""

    @property
    def translations(self) -> dict[str, str]:
        return {code: self.cleaned_data[f"text_{code}"] for code, _ in settings.LANGUAGES}

    @property
    def translated_fields(self) -> list[forms.BoundField]:
        return [self[f"text_{code}"] for code, _ in settings.LANGUAGES]

    def clean(self) -> None:
        if not self.cleaned_data.get("text") and any(self.cleaned_data.get(name) for name in self.fields):
            self.add_error(
                "text", "Write the text itself too: it is for whoever reads none of the translations."
            )


def told(written: ConsentText | None) -> str:
    """Say what became of a text that was sent."""
    if written is None:
        return "Nothing has changed: everybody who agreed is not asked again."
    if not written.text:
        return "Nobody is asked to agree any more. What was agreed to stays on record."
    return f"Version {written.version} is in force: people are asked to agree to it before their next answer."


def consent_of(survey: Survey) -> dict[str, Any]:
    """Return what the consent's part of the settings shows."""
    current = consent.latest(survey)
    return {
        "consent_form": ConsentForm(current=current),
        "consent_now": current,
        "consent_versions": consent.versions(survey),
    }
