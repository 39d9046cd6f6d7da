"""Agreeing before the first answer: to which version, in which language, once.

A consent counts for the worker and for where they were claimed from, until the marketplace has named the worker: nobody
else agrees in their name.
"""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef
from django.utils.translation import get_language

from annotators.models import Worker
from surveys.models import Batch, Consent, ConsentText
from surveys.protocols.languages import TextIn


@dataclass(frozen=True, slots=True)
class ShownConsent:
    """A version as its reader sees it. `language`: the translation it is, "" for the text itself."""

    version: int
    words: str
    language: str

    @classmethod
    def of(cls, text: ConsentText) -> "ShownConsent":
        page = get_language() or ""
        fitting = (code for code in (page, page.partition("-")[0]) if code in text.translations)
        language = next(fitting, "")
        words = TextIn(text.translations[language], language) if language else text.text
        return cls(text.version, words, language)


def due(batch: Batch, *, worker: Worker, claimed_from: str = "") -> ConsentText | None:
    """Return the version this worker has before them, None where they agreed to it or nobody is asked."""
    text = batch.consent_text
    if text is None:
        return None
    theirs = Consent.objects.filter(text=text, worker=worker, claimed_from__in=["", claimed_from])
    return None if theirs.exists() else text


def has_consent(survey: str) -> Exists:
    """Tell, in a query over what has a study at `survey`, whether that has ever had a text to agree to."""
    return Exists(ConsentText.objects.filter(survey=OuterRef(survey)))


def give(text: ConsentText, *, worker: Worker, claimed_from: str = "") -> Consent:
    """Write down that somebody agreed to this version, as they read it. Given again, the first one counts."""
    consent, _ = Consent.objects.get_or_create(
        text=text,
        worker=worker,
        claimed_from=claimed_from,
        defaults={"language": ShownConsent.of(text).language},
    )
    return consent
