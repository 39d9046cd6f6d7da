"""The reports that a worker makes and pages show, by their kind: made, kept, and read as they were kept."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import cattrs
from django.contrib.auth.models import User
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotators.failpoints import reach
from surveys import notes
from surveys.models import AwaitedReport, Batch, KeptReport
from surveys.results.chosen import of_frame, read_chosen
from surveys.results.files.layouts import LAYOUTS
from surveys.results.files.prepared import prepare
from surveys.results.files.report import Report, make_report
from surveys.results.frames.database import read_batch, read_scores
from surveys.results.frames.together import read_batches, together
from surveys.results.kept import (
    ACROSS,
    BROUGHT,
    CHOICE,
    FILE,
    METRICS,
    REPORT,
    SAMPLE,
    UPLOAD,
    across_version,
    ask,
    free,
    metrics_version,
    report_version,
    sample_key,
)
from surveys.results.statistics.across import Across, Study, compare_studies
from surveys.results.statistics.metrics import MetricSummary, summarise_metrics
from surveys.studies.importing.attaching import Brought, bring
from surveys.studies.importing.looking import Look, fetch_and_look, look_of, version_of
from surveys.studies.importing.plan import Plan
from surveys.studies.importing.staging import StagedGone, load
from surveys.studies.kept_a_day import KEPT_SECONDS
from surveys.studies.predictions import SamplingError
from surveys.studies.sample_files import SampleGone, draw_asked
from surveys.teams import Person

CHOICES_KEPT = timedelta(days=1)
HEARD = timedelta(seconds=10)  # so often a worker that goes on with the same percent says so
LONGEST = timedelta(hours=1)  # who is still at it then hangs: its turn ends LEASE later
LONG = 5  # seconds: who has waited so long has begun something else
# Their pages promise a note to whoever leaves.
PROMISED = (
    Q(report__key__startswith=f"{UPLOAD}:")
    | Q(report__key__startswith=f"{BROUGHT}:")
    | Q(report__key__startswith=f"{FILE}:")
)
T = TypeVar("T")
Tell = Callable[[int], object]


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


def kept(key: str, *, version: str) -> Kept[Any]:
    """Return what there is of a report, and whether it tells what the data say now."""
    row = KeptReport.objects.get_or_create(key=key)[0]
    value = _read(row)
    is_current = row.version == version and value is not None
    return Kept(row.pk, value, row.made_at if value else None, is_current, row.percent, row.error)


def ask_for_sample(name: str) -> int:
    """Ask for the sample that a folder of this name says; return the report it will be. Forgets those long gone."""
    _forget(SAMPLE)
    found = kept(sample_key(name), version=name)
    ask(sample_key(name), version=name)
    return found.pk


def make(pk: int) -> bool:
    """Make a report that was asked for, and keep it. False if nobody asks, or another worker is at it."""
    now = timezone.now()
    row = KeptReport.objects.get(pk=pk)
    if not free(now).filter(pk=pk).exclude(asked_version="").update(begun_at=now, percent=0):
        return False
    turn = _Turn(pk, now)
    reach("report.begun")
    try:
        with turn.kept_alive():
            found = _made(row.key, tell=turn.tell)
    except Exception as error:
        turn.row.update(percent=0, error=str(error)[:500])  # free again after LEASE, as after a crash
        raise
    reach("report.made")
    return _keep(turn.row, found, pk=pk)


@dataclass(slots=True)
class _Turn:
    """One worker's turn at a report, which is over when LEASE has passed since it was last heard of."""

    pk: int
    begun_at: datetime
    percent: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def row(self) -> QuerySet[KeptReport]:
        return KeptReport.objects.filter(pk=self.pk, begun_at=self.begun_at)

    def tell(self, percent: int | None = None) -> None:
        """Say how far it is (None: no farther), and so that it goes on; whose turn is over changes nothing."""
        with self.lock:
            self.percent = self.percent if percent is None else percent
            now = timezone.now()
            silent = self.row.exclude(percent=self.percent, begun_at__gt=now - HEARD)
            if silent.update(percent=self.percent, begun_at=now):
                self.begun_at = now

    @contextmanager
    def kept_alive(self) -> Iterator[None]:
        """Go on telling beside what takes long and says nothing: a large table is one computation for minutes."""
        over = threading.Event()
        beside = threading.Thread(target=self._go_on, args=[over], daemon=True)
        beside.start()
        try:
            yield
        finally:
            over.set()
            beside.join()

    def _go_on(self, over: threading.Event) -> None:
        until = time.monotonic() + LONGEST.total_seconds()
        while not over.wait(HEARD.total_seconds()) and time.monotonic() < until:
            with suppress(DatabaseError, InterfaceError):  # it may be away for a moment
                self.tell()
            connection.close()


@transaction.atomic
def _keep(mine: QuerySet[KeptReport], found: dict[str, Any], *, pk: int) -> bool:
    """Keep what was made, and tell those who did not stay for what took long. False if it is not mine any more."""
    if not mine.update(**found, begun_at=None, asked_at=None, asked_version="", percent=0, error=""):
        return False
    waiting = AwaitedReport.objects.filter(report=pk)
    is_told = found["seconds"] >= LONG or waiting.filter(PROMISED).exists()
    for one in waiting if is_told else ():
        about = f"report:{pk}:{found['version'][:16]}"
        notes.tell(one.person_id, about=about, text=one.text, url=one.url)
    waiting.delete()
    return True


def wait_for(key: str, *, person: Person, text: str, url: str) -> None:
    """Remember who looked for a report that was asked for, to say `text` with its address once it is there."""
    for report in KeptReport.objects.filter(key=key).exclude(asked_version=""):
        values = {"url": url[:500], "text": text[:500]}
        AwaitedReport.objects.update_or_create(report=report, person_id=person.pk, defaults=values)


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
    batches = _batches(pk)
    version = report_version(batches)
    tell(5)
    frame = together(read_batches(batches))
    tell(60)
    if not query:
        return version, make_report(frame)
    _forget_choices()
    return version, make_report(of_frame(frame, read_chosen(query), batches=batches))


def _forget_choices() -> None:
    """Keep no report of a choice that was made long ago: there are as many as addresses, and each is soon made."""
    old = KeptReport.objects.filter(key__startswith=f"{REPORT}:", key__contains=CHOICE, asked_version="")
    old.filter(made_at__lt=timezone.now() - CHOICES_KEPT).delete()


def _metrics(about: str, tell: Tell) -> tuple[str, MetricSummary]:
    batches = _batches(about)
    version = metrics_version(batches)
    tell(5)
    frame = together(read_batches(batches))
    tell(50)
    return version, summarise_metrics(frame, read_scores(batches))


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


def _upload(about: str, tell: Tell) -> tuple[str, Look]:
    """Look at an upload. One that has gone meanwhile is seen by nobody: its page says that it is gone."""
    folder, _, person_pk = about.partition(":")
    _forget(UPLOAD)
    try:
        staged = load(folder)
    except StagedGone:
        return folder, look_of(Plan())
    return version_of(staged), fetch_and_look(staged, person=User.objects.get(pk=person_pk), tell=tell)


def _brought(about: str, tell: Tell) -> tuple[str, Brought]:
    _forget(BROUGHT)
    return about, bring(about, tell=tell)


@dataclass(frozen=True, slots=True)
class Prepared:
    """That a file was written, of how many bytes."""

    size: int


def _file(about: str, tell: Tell) -> tuple[str, Prepared]:
    pk, _, name = about.partition(":")
    (batch,) = _batches(pk)
    version = metrics_version(batch)
    path = prepare(batch, name, LAYOUTS[name], version=version, tell=tell)
    return version, Prepared(path.stat().st_size)


def forget_uploads() -> None:
    """Do so for every kind."""
    for kind in (SAMPLE, UPLOAD, BROUGHT):
        _forget(kind)


def _forget(kind: str) -> None:
    """Keep nothing of what was uploaded for longer than the upload itself."""
    old = timezone.now() - 2 * timedelta(seconds=KEPT_SECONDS)
    KeptReport.objects.filter(key__startswith=f"{kind}:", asked_version="", made_at__lt=old).delete()


MAKERS: dict[str, Callable[[str, Tell], tuple[str, Any]]] = {
    REPORT: _report,
    METRICS: _metrics,
    ACROSS: _across,
    SAMPLE: _sample,
    UPLOAD: _upload,
    BROUGHT: _brought,
    FILE: _file,
}
TYPES: dict[str, type] = {
    REPORT: Report,
    METRICS: MetricSummary,
    ACROSS: Across,
    SAMPLE: Drawing,
    UPLOAD: Look,
    BROUGHT: Brought,
    FILE: Prepared,
}


def _read(row: KeptReport) -> Any:
    """Return what is kept; None for what another release has kept in another form."""
    if not row.content:
        return None
    try:
        return cattrs.structure(json.loads(row.content), TYPES[row.key.partition(":")[0]])
    except (cattrs.BaseValidationError, KeyError, TypeError, ValueError):
        return None
