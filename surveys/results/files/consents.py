"""Who agreed to which version of the study's text, workers under pseudonyms, days in the place of times."""

from collections.abc import Iterator

import pandas as pd

from surveys.models import Batch, Consent, ConsentText
from surveys.results.files.csv_text import csv_parts
from surveys.results.frames.pseudonyms import Pseudonyms

COLUMNS = ("worker", "version", "language", "agreed_on")


def consent_lines(batch: Batch) -> Iterator[str]:
    """Return the file's lines: the consents of everybody who worked in the batch, the first first."""
    return csv_parts([_rows(batch)])


def has_consents(batch: Batch) -> bool:
    """Tell whether the study ever asked."""
    return ConsentText.objects.filter(survey=batch.survey_id).exclude(text="").exists()


def _rows(batch: Batch) -> pd.DataFrame:
    name = Pseudonyms()
    here = Consent.objects.filter(
        text__survey=batch.survey_id, claimed_from="", worker__responses__batch=batch
    ).distinct()
    given = here.order_by("given_at", "pk").values_list(
        "worker__worker_id", "text__version", "language", "given_at"
    )
    rows = [(name(who), version, language, at.date().isoformat()) for who, version, language, at in given]
    return pd.DataFrame(rows, columns=list(COLUMNS))
