"""The numbers of a batch as a page shows them: a table of systems, drawings, one grid, and how far raters agree."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

from django.core.cache import cache
from django.db.models import Count, Max

from annotators.models import Assignment
from surveys.models import Batch
from surveys.pages.results.charts import Chart, score_chart, share_chart
from surveys.pages.results.result_cells import Block
from surveys.pages.results.result_standings import Standings, standings
from surveys.pages.results.tables import blocks_of
from surveys.results.files.report import Report, make_report
from surveys.results.frames.database import SUBMITTED, read_batch
from surveys.results.statistics.agreement import Agreement
from surveys.results.statistics.numbers import Counts, Minutes, Selection, Summary

VERSION = 3  # of what is cached: raise it when Results changes
CACHED_SECONDS = 3600
T = TypeVar("T")
SELECTIONS = {
    "all": "All submitted",
    "kept": "Kept (not rejected or left out)",
    "filtered": "Filtered (kept, answer right)",
    "true": "Model right",
    "false": "Model wrong",
    "unknown": "Model not graded",
}
STRATA = {"true": "model right", "false": "model wrong", "unknown": "not graded"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One criterion drawn: how its ratings are spread, and its mean."""

    shares: Chart
    scores: Chart


@dataclass(frozen=True, slots=True)
class Results:
    """What a results page shows. `columns` repeats the systems for each of `selections`.

    `standings` is None where the protocol has a reference: there the grid has the differences from it.
    """

    counts: Counts
    minutes: Minutes
    systems: tuple[str, ...]
    standings: Standings | None
    figures: tuple[Figure, ...]
    selections: tuple[str, ...]
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]
    agreement: tuple[Agreement, ...]


def results(batch: Batch) -> Results | None:
    """Return a batch's results, None before anything was submitted. Counted anew only when something changed."""
    state = state_of(batch)
    if not state["n"]:
        return None
    return cached(f"results:{VERSION}:{batch.pk}", state, lambda: arrange(make_report(read_batch(batch))))


def cached(name: str, state: Mapping[str, object], compute: Callable[[], T]) -> T:
    """Return what `compute` gave for this `state`, computing it anew when the state changed or an hour has passed."""
    values = ":".join(str(value).replace(" ", "_") for value in state.values())
    return cast(T, cache.get_or_set(f"{name}:{values}", compute, CACHED_SECONDS))


def arrange(report: Report) -> Results:
    """Lay out a report's numbers as a page shows them."""
    summary = report.summary
    selections = _selections(summary)
    systems = tuple(report.systems)
    criteria = summary.kept.systems[0].criteria if summary.kept.systems else ()
    scales = tuple(criterion for criterion in criteria if criterion.score is not None)
    has_reference = "reference" in report.systems.values()
    return Results(
        counts=summary.counts,
        minutes=summary.minutes,
        systems=systems,
        standings=None if has_reference else standings(report.comparison, criteria=scales),
        figures=tuple(_figure(summary, key=scale.key, title=scale.label) for scale in scales),
        selections=tuple(SELECTIONS[selection.name] for selection in selections),
        columns=systems * len(selections),
        blocks=tuple(blocks_of(selections, criteria, headline=summary.headline)),
        agreement=report.agreement,
    )


def _selections(summary: Summary) -> tuple[Selection, ...]:
    """Return the choices of rows that differ from each other, and the strata there is anything in."""
    strata = tuple(stratum for stratum in summary.strata if stratum.responses)
    is_same = summary.counts.kept == summary.counts.assignments and not summary.is_graded
    return ((summary.kept,) if is_same else summary.shown) + strata


def _figure(summary: Summary, *, key: str, title: str) -> Figure:
    strata = {STRATA[stratum.name]: stratum for stratum in summary.strata}
    means = {s.name: s for s in summary.selections} if summary.is_graded else {"": summary.kept, **strata}
    return Figure(
        share_chart({"": summary.kept, **strata}, key=key, title=title),
        score_chart(means, key=key, title=f"{title} · mean and 95 % interval"),
    )


def state_of(batch: Batch) -> dict[str, object]:
    """Return values that change whenever the results do."""
    submitted = Assignment.objects.filter(hit__questionnaire__batch=batch, status__in=SUBMITTED)
    times = {name: Max(name) for name in ("saved_at", "submitted_at", "approved_at", "rejected_at")}
    decided = {"decided_at": Max("decision__decided_at"), "included_at": Max("inclusion__decided_at")}
    return submitted.aggregate(n=Count("pk"), **decided, **times)
