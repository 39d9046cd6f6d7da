"""The text a study asks people to agree to: written, changed, taken back, every version kept."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet

from surveys.models import ConsentText, Survey


@transaction.atomic
def write(
    survey: Survey, text: str, *, translations: Mapping[str, str] | None = None, by: User | None
) -> ConsentText | None:
    """Write the next version; None, and no change, if it says what the last one says. Empty: nobody is asked."""
    Survey.objects.select_for_update(no_key=True).get(pk=survey.pk)
    text, last = _tidy(text), latest(survey)
    given = {code: tidied for code, one in (translations or {}).items() if text and (tidied := _tidy(one))}
    if (last.text, last.translations) == (text, given) if last else not text:
        return None
    version = last.version + 1 if last else 1
    return ConsentText.objects.create(
        survey=survey, version=version, text=text, translations=given, created_by=by
    )


def latest(survey: Survey) -> ConsentText | None:
    """Return the version that is in force."""
    return survey.consent_texts.order_by("-version").first()


def versions(survey: Survey) -> QuerySet[ConsentText, Any]:
    """Return all versions, the newest first, with how many people are known to have agreed to each (`n_agreed`)."""
    known = Q(consents__claimed_from="")
    return survey.consent_texts.select_related("created_by").annotate(
        n_agreed=Count("consents", filter=known)
    )


def _tidy(text: str) -> str:
    return text.replace("\r\n", "\n").strip()
