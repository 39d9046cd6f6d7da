"""Which answers somebody looks at, as an address says it: the same in a frame, for numbers, and in the database.

`rows`: what was submitted, what is kept of it, or what of that was answered rightly. Days are those of handing in, on
the site's clock. `most` leaves out who gave more than so many percent of all kept answers of the batches, whatever is
chosen besides: a person is busy in a study, not in a part of it. Batches that are looked at together asked the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from urllib.parse import parse_qs, urlencode

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotators.models import SUBMITTED, Assignment
from surveys.models import Batch, Output, Response, is_used
from surveys.results.frames.base import Frame, column, only
from surveys.studies.planted_checks import COLUMN

ALL, KEPT, FILTERED = "all", "kept", "filtered"
STRATA: dict[str, bool | None] = {"true": True, "false": False, "unknown": None}


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice of answers. `systems` empty: all; a protocol's reference stays beside those chosen."""

    rows: str = KEPT
    stratum: str = ""
    systems: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    most: int | None = None

    @property
    def is_everything(self) -> bool:
        """Is nothing left out but what every report leaves out by itself?"""
        return self == Chosen()

    def as_query(self) -> str:
        """Return it as the query of an address; "" where nothing is chosen."""
        given = [(one.name, getattr(self, one.name)) for one in fields(self)]
        changed = [(name, value) for name, value in given if value != getattr(Chosen(), name)]
        return urlencode([(name, value) for name, value in changed], doseq=True)


def read_chosen(query: str) -> Chosen:
    """Return what `as_query` wrote. Raises ValueError for anything else."""
    given = parse_qs(query, strict_parsing=True) if query else {}
    first = {name: values[0] for name, values in given.items()}
    return Chosen(
        rows=first.get("rows", KEPT),
        stratum=first.get("stratum", ""),
        systems=tuple(given.get("systems", ())),
        since=date.fromisoformat(first["since"]) if "since" in first else None,
        until=date.fromisoformat(first["until"]) if "until" in first else None,
        most=int(first["most"]) if "most" in first else None,
    )


def systems_of(batches: Sequence[Batch]) -> list[str]:
    """Return the systems under evaluation that batches show, in alphabetical order."""
    shown = Output.objects.filter(item__slots__questionnaire__batch__in=batches)
    models = shown.exclude(system=batches[0].definition.reference_system)
    return sorted(models.order_by().values_list("system", flat=True).distinct())


def responses(batches: Sequence[Batch], chosen: Chosen) -> QuerySet[Response]:
    """Return the answers a report of this choice counts, skips among them; repeats and planted checks are none."""
    found = Response.objects.filter(
        batch__in=batches, is_repeat=False, assignment__in=_assignments(batches, chosen)
    ).exclude(item__payload__has_key=COLUMN)
    if chosen.rows == FILTERED and _is_graded(batches):
        found = found.filter(is_correct=True).exclude(item__gold="")
    if chosen.stratum or chosen.systems:
        found = found.filter(Exists(_outputs(batches, chosen)))
    return found


def _is_graded(batches: Sequence[Batch]) -> bool:
    handed_in = Response.objects.filter(batch__in=batches, assignment__status__in=SUBMITTED)
    return handed_in.exclude(item__gold="").exclude(item__payload__has_key=COLUMN).exists()


def _assignments(batches: Sequence[Batch], chosen: Chosen) -> QuerySet[Assignment]:
    found = Assignment.objects.filter(hit__questionnaire__batch__in=batches, status__in=SUBMITTED)
    if chosen.rows != ALL:
        found = found.filter(is_used())
    if chosen.since:
        found = found.filter(submitted_at__date__gte=chosen.since)
    if chosen.until:
        found = found.filter(submitted_at__date__lte=chosen.until)
    return found.exclude(worker__in=_busy(batches, most=chosen.most)) if chosen.most else found


def _busy(batches: Sequence[Batch], *, most: int) -> list[int]:
    """Return who gave more than `most` percent of the batches' kept answers."""
    given = Response.objects.filter(is_used("assignment"), batch__in=batches, is_repeat=False)
    counts = (
        given.exclude(item__payload__has_key=COLUMN).order_by().values_list("worker").annotate(Count("pk"))
    )
    of_workers = dict(counts)
    total = sum(of_workers.values())
    return [worker for worker, n in of_workers.items() if 100 * n > most * total]


def was_shown(batch: Batch) -> Q:
    """Tell, in a query over outputs within one over responses, whether a response showed it."""
    if not batch.definition.is_drawn:
        return Q()
    return Q(drawn__slot__questionnaire__hit=OuterRef("assignment__hit"))


def _outputs(batches: Sequence[Batch], chosen: Chosen) -> QuerySet[Output]:
    """Return the outputs of an answer's item that make it one of the chosen."""
    found = Output.objects.filter(was_shown(batches[0]), item=OuterRef("item"))
    found = found.exclude(system=batches[0].definition.reference_system)
    return found.filter(of_outputs(chosen))


def of_outputs(chosen: Chosen, at: str = "") -> Q:
    """Tell which models' outputs are chosen, in a query over outputs or over what has one at `at`."""
    wanted = Q(**{f"{at}system__in": chosen.systems}) if chosen.systems else Q()
    if chosen.stratum:
        wanted &= Q(**{f"{at}model_correct": STRATA[chosen.stratum]})
    return wanted


def of_frame(frame: Frame, chosen: Chosen, *, batches: Sequence[Batch]) -> Frame:
    """Return the frame of the chosen answers alone. All that is in it then counts as kept."""
    ids = set(_assignments(batches, chosen).values_list("assignment_id", flat=True))
    rows = frame.responses[frame.responses["assignment_id"].isin(ids)].reset_index(drop=True)
    repeats = (
        only(frame.repeats, frame.repeats["assignment_id"].isin(ids)) if frame.has_repeats else frame.repeats
    )
    if chosen.rows == FILTERED:
        rows = frame.rightly(rows)
    systems = _with_reference(frame, chosen.systems)
    status = Assignment.Status.SUBMITTED.value
    found = replace(
        frame,
        responses=rows.assign(included=True, status=status),
        repeats=repeats.assign(included=True, status=status),
        systems=systems,
    )
    return _of_stratum(found, chosen.stratum) if chosen.stratum or chosen.systems else found


def _with_reference(frame: Frame, systems: Iterable[str]) -> tuple[str, ...]:
    wanted = {*systems} or {*frame.systems}
    return tuple(s for s in frame.systems if s in wanted or s == frame.definition.reference_system)


def _of_stratum(frame: Frame, stratum: str) -> Frame:
    """Blank what was said of outputs of another stratum; rows in which no model is left are not there."""
    rows = frame.responses.copy()
    is_left = rows["included"] & False
    for system in frame.models:
        shown = rows[column(system, "text")].notna()
        if stratum:
            right = rows[column(system, "model_correct")].map({True: "true", False: "false"})
            is_other = right.astype("str").fillna("unknown") != stratum
            rows.loc[is_other, [name for name in rows if str(name).startswith(column(system, ""))]] = None
            shown &= ~is_other
        is_left |= shown
    return replace(frame, responses=rows[is_left].reset_index(drop=True))
