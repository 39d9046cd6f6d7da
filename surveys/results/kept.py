"""Reports that a worker makes and pages show: kept until their data change, and repeated until they are there.

A page never makes one: it shows the one that is kept, with the time it was made, and asks for another if the data have
changed since. Two who ask at once ask for one job (compare-and-set). A worker that dies in the middle leaves what was
kept as it is; what it had begun is free again after LEASE, and `due` finds it.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import cattrs
from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from annotators.failpoints import reach
from annotators.models import Assignment
from surveys.models import Batch, KeptReport, MetricScore
from surveys.results.chosen import Chosen, of_frame, read_chosen
from surveys.results.files.report import Report, make_report
from surveys.results.frames.database import SUBMITTED, read_batch, read_scores
from surveys.results.statistics.across import Across, Study, compare_studies
from surveys.results.statistics.metrics import MetricSummary, summarise_metrics
from surveys.studies.predictions import SamplingError
from surveys.studies.sample_files import KEPT_SECONDS, SampleGone, draw_asked

VERSION = 2  # of what is kept: raise it when a number in it changes its meaning
LEASE = timedelta(minutes=2)  # the largest studies take seconds, and each step renews it
FIRST_LOOK = timedelta(seconds=20)  # by then a task that was sent has been taken
REST = 20  # an open batch is not counted anew before so many times what counting took
LEAST_REST = timedelta(minutes=1)
CHOICE = "?"  # in the key of a report, before which answers it is made of
CHOICES_KEPT = timedelta(days=1)
REPORT, METRICS, ACROSS, SAMPLE = "report", "metrics", "across", "sample"
T = TypeVar("T")
Tell = Callable[[int], object]
State = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """What is known of a report: `value` as of `made_at`, None before the first. Not `is_current`: data have changed.

    `percent` is how far a worker is with the next one.
    """

    pk: int
    value: T | None
    made_at: datetime | None
    is_current: bool
    percent: int
    error: str


def state_of(batch: Batch) -> dict[str, object]:
    """Return values that change whenever the results do; `n` is 0 before anything was submitted."""
    submitted = Assignment.objects.filter(hit__questionnaire__batch=batch, status__in=SUBMITTED)
    times = {name: Max(name) for name in ("saved_at", "submitted_at", "approved_at", "rejected_at")}
    decided = {"decided_at": Max("decision__decided_at"), "included_at": Max("inclusion__decided_at")}
    state = submitted.aggregate(n=Count("pk"), **decided, **times)
    return state | batch.survey.accuracies.aggregate(accuracy=Max("pk"))


def scored_of(batch: Batch) -> dict[str, object]:
    """Return values that change whenever the scores of a batch's metrics do; `scored` is 0 without any."""
    scores = MetricScore.objects.filter(output__item__survey=batch.survey_id)
    return scores.aggregate(scored=Count("pk"), scored_at=Max("scored_at"))


def version_of(*states: State) -> str:
    """Return a short name of what data say: equal where nothing has changed."""
    values = [[str(value) for value in state.values()] for state in states]
    return hashlib.sha256(json.dumps([VERSION, values]).encode()).hexdigest()


def report_key(batch: Batch, chosen: Chosen | None = None) -> str:
    """Return what a batch's report is kept as; one of a choice of its answers stands apart."""
    query = chosen.as_query() if chosen else ""
    return f"{REPORT}:{batch.pk}{CHOICE}{query}" if query else f"{REPORT}:{batch.pk}"


def metrics_key(batch: Batch) -> str:
    return f"{METRICS}:{batch.pk}"


def across_key(batches: Sequence[Batch]) -> str:
    return f"{ACROSS}:{','.join(str(pk) for pk in sorted(batch.pk for batch in batches))}"


def kept(key: str, *, version: str) -> Kept[Any]:
    """Return what there is of a report, and whether it tells what the data say now."""
    row = KeptReport.objects.get_or_create(key=key)[0]
    value = _read(row)
    is_current = row.version == version and value is not None
    return Kept(row.pk, value, row.made_at if value else None, is_current, row.percent, row.error)


def progress(*keys: str) -> list[dict[str, Any]]:
    """Return how far each report is that somebody waits for."""
    awaited = KeptReport.objects.filter(key__in=keys).exclude(asked_version="")
    return [dict(row) for row in awaited.order_by("key").values("key", "percent", "error")]


def ask(key: str, *, version: str) -> bool:
    """Ask for a report of this version of the data; False if somebody has asked for it before."""
    now = timezone.now()
    rows = KeptReport.objects.filter(key=key).exclude(asked_version=version)
    return bool(rows.update(asked_version=version, asked_at=now))


def make(pk: int) -> bool:
    """Make a report that was asked for, and keep it. False if nobody asks, or another worker is at it."""
    now = timezone.now()
    row = KeptReport.objects.get(pk=pk)
    if not _free(now).filter(pk=pk).exclude(asked_version="").update(begun_at=now, percent=0):
        return False
    mine = KeptReport.objects.filter(pk=pk, begun_at=now)
    reach("report.begun")
    try:
        found = _made(row.key, tell=lambda percent: mine.update(percent=percent))
    except Exception as error:
        mine.update(percent=0, error=str(error)[:500])  # free again after LEASE, as after a crash
        raise
    reach("report.made")
    return bool(mine.update(**found, begun_at=None, asked_at=None, asked_version="", percent=0, error=""))


def due() -> list[int]:
    """Return the reports that were asked for and that nobody seems to be making, and ask for those of open batches."""
    now = timezone.now()
    for batch in Batch.objects.filter(status=Batch.Status.OPEN):
        _refresh(batch, now=now)
    waiting = _free(now).filter(asked_at__lt=now - FIRST_LOOK).exclude(asked_version="")
    return list(waiting.values_list("pk", flat=True))


def _refresh(batch: Batch, *, now: datetime) -> None:
    """Ask for an open batch's report where its data have changed, and where the last one is some time ago."""
    row = KeptReport.objects.get_or_create(key=report_key(batch))[0]
    rest = max(LEAST_REST, timedelta(seconds=REST * row.seconds))
    if row.made_at and row.made_at > now - rest:
        return
    state = state_of(batch)
    if state["n"] and (version := version_of(state)) != row.version:
        ask(row.key, version=version)


def _free(now: datetime) -> QuerySet[KeptReport]:
    return KeptReport.objects.filter(Q(begun_at=None) | Q(begun_at__lt=now - LEASE))


def _made(key: str, *, tell: Tell) -> dict[str, Any]:
    """Return the columns of a report as it is now. The version is read first: what comes later makes it old."""
    began = time.monotonic()
    kind, _, about = key.partition(":")
    version, value = MAKERS[kind](about, tell)
    return {
        "version": version,
        "content": json.dumps(cattrs.unstructure(value)),
        "made_at": timezone.now(),
        "seconds": time.monotonic() - began,
    }


def _batches(about: str) -> list[Batch]:
    return [Batch.objects.select_related("survey").get(pk=int(pk)) for pk in about.split(",")]


def _report(about: str, tell: Tell) -> tuple[str, Report]:
    pk, _, query = about.partition(CHOICE)
    [batch] = _batches(pk)
    version = report_version(batch)
    tell(5)
    frame = read_batch(batch)
    tell(60)
    if not query:
        return version, make_report(frame)
    _forget_choices()
    return version, make_report(of_frame(frame, read_chosen(query), batch=batch))


def _forget_choices() -> None:
    """Keep no report of a choice that was made long ago: there are as many as addresses, and each is soon made."""
    old = KeptReport.objects.filter(key__startswith=f"{REPORT}:", key__contains=CHOICE, asked_version="")
    old.filter(made_at__lt=timezone.now() - CHOICES_KEPT).delete()


def _metrics(about: str, tell: Tell) -> tuple[str, MetricSummary]:
    [batch] = _batches(about)
    version = metrics_version(batch)
    tell(5)
    frame = read_batch(batch)
    tell(50)
    return version, summarise_metrics(frame, read_scores(batch))


def _across(about: str, tell: Tell) -> tuple[str, Across]:
    batches = _batches(about)
    version, studies = across_version(batches), list[Study]()
    for n, batch in enumerate(batches, 1):
        studies.append(Study(batch.name, read_batch(batch)))
        tell(80 * n // len(batches))
    return version, compare_studies(studies)


@dataclass(frozen=True, slots=True)
class Drawing:
    """What became of a sample that was asked for: its files are in its folder, unless there is an `error`."""

    error: str = ""


def _sample(about: str, tell: Tell) -> tuple[str, Drawing]:
    """Draw a sample. What its author has to change is an answer, to be shown, and not tried again."""
    try:
        draw_asked(about, tell=tell)
    except SamplingError as error:
        return about, Drawing(str(error))
    except SampleGone:
        return about, Drawing("What was uploaded is no longer here.")
    return about, Drawing()


def sample_key(name: str) -> str:
    return f"{SAMPLE}:{name}"


def ask_for_sample(name: str) -> int:
    """Ask for the sample that a folder of this name says; return the report it will be. Forgets those long gone."""
    old = timezone.now() - 2 * timedelta(seconds=KEPT_SECONDS)
    KeptReport.objects.filter(key__startswith=f"{SAMPLE}:", asked_version="", made_at__lt=old).delete()
    found = kept(sample_key(name), version=name)
    ask(sample_key(name), version=name)
    return found.pk


def report_version(batch: Batch) -> str:
    return version_of(state_of(batch))


def metrics_version(batch: Batch) -> str:
    return version_of(scored_of(batch), state_of(batch))


def across_version(batches: Sequence[Batch]) -> str:
    return version_of(*(state_of(batch) for batch in sorted(batches, key=lambda batch: batch.pk)))


MAKERS: dict[str, Callable[[str, Tell], tuple[str, Any]]] = {
    REPORT: _report,
    METRICS: _metrics,
    ACROSS: _across,
    SAMPLE: _sample,
}
TYPES: dict[str, type] = {REPORT: Report, METRICS: MetricSummary, ACROSS: Across, SAMPLE: Drawing}


def _read(row: KeptReport) -> Any:
    """Return what is kept; None for what another release has kept in another form."""
    if not row.content:
        return None
    try:
        return cattrs.structure(json.loads(row.content), TYPES[row.key.partition(":")[0]])
    except (cattrs.BaseValidationError, KeyError, TypeError, ValueError):
        return None
