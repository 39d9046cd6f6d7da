"""Which reports pages ask for and a worker is to make: each is kept until its data change (`reports`).

A page never makes one: it shows the one that is kept, with the time it was made, and asks for another if the data have
changed since. Two who ask at once ask for one job (compare-and-set). A worker that dies in the middle leaves what was
kept as it is; what it had begun is free again after LEASE, and `due` finds it. Nothing here loads what makes a report:
the sweep asks every minute, and seldom is there one to make.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Aggregate, Count, Max, Q, QuerySet
from django.utils import timezone

from annotators.models import SUBMITTED, Assignment
from surveys.models import Batch, KeptReport, MetricScore, TaskAccuracy

if TYPE_CHECKING:
    from surveys.results.chosen import Chosen

VERSION = 3  # of what is kept: raise it when a number in it changes its meaning
LEASE = timedelta(minutes=2)  # the largest studies take seconds, and each step renews it
FIRST_LOOK = timedelta(seconds=20)  # by then a task that was sent has been taken
REST = 20  # an open batch is not counted anew before so many times what counting took
LEAST_REST = timedelta(minutes=1)
CHOICE = "?"  # in the key of a report, before which answers it is made of
REPORT, METRICS, ACROSS, SAMPLE = "report", "metrics", "across", "sample"
UPLOAD, BROUGHT, FILE = "upload", "pictures", "file"
State = Mapping[str, object]
CHANGING: Mapping[str, Aggregate] = {
    "n": Count("pk"),
    "decided_at": Max("decision__decided_at"),
    "included_at": Max("inclusion__decided_at"),
    **{name: Max(name) for name in ("saved_at", "submitted_at", "approved_at", "rejected_at")},
}


def state_of(batch: Batch) -> dict[str, object]:
    """Return values that change whenever the results do; `n` is 0 before anything was submitted."""
    return states_of([batch])[batch.pk]


def states_of(batches: Sequence[Batch]) -> dict[int, dict[str, object]]:
    """Return the state of each batch, by its key, in their order."""
    submitted = Assignment.objects.filter(hit__questionnaire__batch__in=batches, status__in=SUBMITTED)
    by_batch = submitted.order_by().values_list("hit__questionnaire__batch").annotate(**CHANGING)
    found: dict[int, Sequence[object]] = {pk: values for pk, *values in by_batch}
    read = TaskAccuracy.objects.filter(survey__in={batch.survey_id for batch in batches})
    accuracies = dict(read.order_by().values_list("survey").annotate(Max("pk")))
    nothing = [0] + [None] * (len(CHANGING) - 1)
    return {
        batch.pk: dict(zip(CHANGING, found.get(batch.pk, nothing), strict=True))
        | {"accuracy": accuracies.get(batch.survey_id)}
        for batch in batches
    }


def scored_of(batch: Batch) -> dict[str, object]:
    """Return values that change whenever the scores of a batch's metrics do; `scored` is 0 without any."""
    scores = MetricScore.objects.filter(output__item__survey=batch.survey_id)
    return scores.aggregate(scored=Count("pk"), scored_at=Max("scored_at"))


def version_of(*states: State) -> str:
    """Return a short name of what data say: equal where nothing has changed."""
    values = [[str(value) for value in state.values()] for state in states]
    return hashlib.sha256(json.dumps([VERSION, values]).encode()).hexdigest()


def report_key(batches: Batch | Sequence[Batch], chosen: "Chosen | None" = None) -> str:
    """Return what the report of a batch, or of several, is kept as; one of a choice of answers stands apart."""
    query = chosen.as_query() if chosen else ""
    return f"{REPORT}:{_names(batches)}{CHOICE}{query}" if query else f"{REPORT}:{_names(batches)}"


def metrics_key(batches: Batch | Sequence[Batch]) -> str:
    return f"{METRICS}:{_names(batches)}"


def across_key(batches: Sequence[Batch]) -> str:
    return f"{ACROSS}:{_names(batches)}"


def _names(batches: Batch | Sequence[Batch]) -> str:
    return ",".join(str(batch.pk) for batch in in_order(batches))


def in_order(batches: Batch | Sequence[Batch]) -> list[Batch]:
    """Return batches as their report has them: oldest first, whatever order they are named in."""
    return [batches] if isinstance(batches, Batch) else sorted(batches, key=lambda batch: batch.pk)


def progress(*keys: str) -> list[dict[str, Any]]:
    """Return how far each report is that somebody waits for."""
    awaited = KeptReport.objects.filter(key__in=keys).exclude(asked_version="")
    return [dict(row) for row in awaited.order_by("key").values("key", "percent", "error")]


def ask(key: str, *, version: str) -> bool:
    """Ask for a report of this version of the data; False if somebody has asked for it before."""
    now = timezone.now()
    rows = KeptReport.objects.filter(key=key).exclude(asked_version=version)
    return bool(rows.update(asked_version=version, asked_at=now))


def due() -> list[int]:
    """Return the reports that were asked for and that nobody seems to be making, and ask for those of open batches."""
    now = timezone.now()
    batches = {report_key(batch): batch for batch in Batch.objects.filter(status=Batch.Status.OPEN)}
    rows = {row.key: row for row in KeptReport.objects.filter(key__in=batches)}
    rested = {key: batch for key, batch in batches.items() if key not in rows or _has_rested(rows[key], now)}
    states = states_of(list(rested.values())) if rested else {}
    for key, batch in rested.items():
        row = rows.get(key) or KeptReport.objects.get_or_create(key=key)[0]
        if states[batch.pk]["n"] and (version := version_of(states[batch.pk])) != row.version:
            ask(key, version=version)
    waiting = free(now).filter(asked_at__lt=now - FIRST_LOOK).exclude(asked_version="")
    return list(waiting.values_list("pk", flat=True))


def _has_rested(row: KeptReport, now: datetime) -> bool:
    """Tell whether an open batch's last report is some time ago."""
    rest = max(LEAST_REST, timedelta(seconds=REST * row.seconds))
    return not row.made_at or row.made_at <= now - rest


def free(now: datetime) -> QuerySet[KeptReport]:
    return KeptReport.objects.filter(Q(begun_at=None) | Q(begun_at__lt=now - LEASE))


def sample_key(name: str) -> str:
    return f"{SAMPLE}:{name}"


def upload_key(folder: str, person_pk: int | None) -> str:
    """Return what the look at an upload is kept as."""
    return f"{UPLOAD}:{folder}:{person_pk}"


def brought_key(folder: str) -> str:
    """Return what is kept of pictures that were to be fetched for a study."""
    return f"{BROUGHT}:{folder}"


def file_key(batch: Batch, layout: str) -> str:
    """Return what is kept of a file that takes long to write."""
    return f"{FILE}:{batch.pk}:{layout}"


def make_old(key: str) -> None:
    """Have a report made anew though its data are the same: what it tells of is not there any more."""
    KeptReport.objects.filter(key=key).update(version="")


def brings_pictures(pk: int) -> bool:
    return KeptReport.objects.filter(pk=pk, key__startswith=f"{BROUGHT}:").exists()


def report_version(batches: Batch | Sequence[Batch]) -> str:
    return version_of(*states_of(in_order(batches)).values())


def metrics_version(batches: Batch | Sequence[Batch]) -> str:
    """Return the version of what metrics say; scores are of a study, and all these batches are of one."""
    found = in_order(batches)
    return version_of(scored_of(found[0]), *states_of(found).values())


across_version = report_version
