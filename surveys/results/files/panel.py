"""The people that a panel sent, one line each: where they came from, how they ended, and what was decided.

With ids the file has the panel's own ids of the person, its study and its session (Prolific's submission), by which its
page and its API find them; without, pseudonyms, and neither study nor session.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import pandas as pd

from annotators.models import Assignment
from surveys.models import Batch, Panel, PanelVisit
from surveys.results.files.csv_text import csv_parts
from surveys.results.frames.pseudonyms import Pseudonyms, names_for_raw
from surveys.review.panels import FOR_PANEL, decision_about

COLUMNS = (
    "panel",
    "person",
    "study",
    "session",
    "came_at",
    "outcome",
    "code",
    "ended_at",
    "begun",
    "submitted",
    "approved",
    "rejected",
    "for_panel",
)
Status = Assignment.Status


def panel_lines(batch: Batch, *, worker_ids: bool = False) -> Iterator[str]:
    """Return the file's lines, in the order in which people came."""
    rows = list(_rows(batch, worker_ids=worker_ids))
    return csv_parts([pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)])


def count_visits(batch: Batch) -> int:
    return PanelVisit.objects.filter(panel__batch=batch).count()


def _rows(batch: Batch, *, worker_ids: bool) -> Iterator[tuple[object, ...]]:
    panel = Panel.objects.filter(batch=batch).prefetch_related("codes").first()
    if panel is None:
        return
    given, name = _statuses(panel), names_for_raw(worker_ids=worker_ids)
    for visit in panel.visits.select_related("worker").order_by("pk"):
        statuses = given.get(visit.worker_id, Counter())
        yield (
            panel.provider,
            *_who(visit, panel, name=name, worker_ids=worker_ids),
            _time(visit.created_at),
            visit.outcome,
            panel.code_of(visit.outcome) if visit.outcome else "",
            _time(visit.ended_at),
            *(statuses[status] for status in (Status.ACCEPTED, Status.SUBMITTED, Status.APPROVED)),
            statuses[Status.REJECTED],
            FOR_PANEL.get(decision_about(visit, set(statuses)), ""),
        )


def _who(visit: PanelVisit, panel: Panel, *, name: Pseudonyms, worker_ids: bool) -> tuple[str, str, str]:
    called = name(visit.worker.worker_id)
    if not worker_ids:
        return called, "", ""
    return (
        called.removeprefix(f"{panel.provider}:"),
        visit.study,
        visit.session,
    )


def _statuses(panel: Panel) -> dict[int, Counter[str]]:
    """Count by worker what a panel's people were given; what is not handed in is accepted."""
    given = Assignment.objects.filter(annotation_slot__batch=panel.batch, worker__panel_visits__panel=panel)
    rows = given.values_list("worker_id", "status", "saved_at")
    counted: dict[int, Counter[str]] = {}
    for worker, status, saved_at in rows:
        counted.setdefault(worker, Counter())[status if saved_at else Status.ACCEPTED] += 1
    return counted


def _time(at: datetime | None) -> str:
    return at.isoformat(timespec="seconds") if at else ""
