"""How a panel's person comes to their end, and the code they take back: one for each outcome.

The first end that is told stays: who changes answers afterwards learns nothing of what they were judged by. Where
nothing was left, or nobody consented, somebody may come again and complete.
"""

from dataclasses import dataclass
from urllib.parse import quote

from django.utils import timezone

from surveys.answering.admissions import Admission, works
from surveys.answering.allocation import suggest
from surveys.models import Outcome, Panel, PanelVisit

FOR_GOOD = (Outcome.COMPLETED, Outcome.CHECKS_FAILED)


@dataclass(frozen=True, slots=True)
class Completion:
    """What a panel's person takes back. `url` holds the code, and is empty where the panel has none.

    Both are empty where the panel has no code for this outcome: then they are asked to return the study.
    """

    code: str
    url: str
    outcome: str = Outcome.COMPLETED


def end(visit: PanelVisit, outcome: Outcome) -> Completion:
    """Write down how a visit ended, and return what they take back. Told the end once, they are told the same again."""
    not_yet = PanelVisit.objects.filter(pk=visit.pk).exclude(outcome__in=FOR_GOOD)
    not_yet.exclude(outcome=outcome).update(outcome=outcome, ended_at=timezone.now())
    visit.refresh_from_db(fields=["outcome", "ended_at"])
    return completion_of(visit.panel, visit.outcome)


def completion_of(panel: Panel, outcome: str) -> Completion:
    """Return what a panel's people with this outcome take back."""
    code = panel.code_of(outcome)
    url = panel.completion_url.replace("{code}", quote(code, safe="")) if code else ""
    return Completion(code, url if url.startswith("https://") else "", outcome)


def has_done_all(admission: Admission) -> bool:
    """Tell whether somebody has done something, and all there is for them to do.

    That is less where others have taken the rest, the study was stopped, or its budget covers no more.
    """
    mine = works(admission.batch, admission.worker)
    n_done = mine.filter(saved_at__isnull=False).count()
    if n_done == 0 or mine.filter(saved_at=None).exists():
        return False
    is_enough = admission.limit is not None and n_done >= admission.limit
    return is_enough or _is_nothing_left(admission)


def has_nothing(admission: Admission) -> bool:
    """Tell whether somebody has done and begun nothing, and nothing is left for them."""
    return not works(admission.batch, admission.worker).exists() and _is_nothing_left(admission)


def _is_nothing_left(admission: Admission) -> bool:
    return suggest(admission.batch, worker=admission.worker, limit=admission.limit) is None
