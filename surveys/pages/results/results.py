"""What a results page shows of a batch: tables and drawings of the ratings, and of the metrics beside them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar

from surveys.enqueue import wanted
from surveys.models import Batch
from surveys.pages.results.behind import (
    among,
    linked,
    linked_differences,
    linked_numbers,
    linked_row,
    of,
    query,
)
from surveys.pages.results.cells import Block, Cell, Row
from surveys.pages.results.charts import Chart, Plot, scatter_plot, score_chart, share_chart
from surveys.pages.results.metric_tables import LEVELS, heat_maps, means_of_metrics, means_of_ratings
from surveys.pages.results.raters import agreement_row, position_row, within_row
from surveys.pages.results.spans import MarkedErrors, marked_errors
from surveys.pages.results.strengths import StrengthsTable, strengths_table
from surveys.pages.results.tables import (
    ROWS,
    SystemsTable,
    blocks_of,
    by_rows,
    difference_rows,
    item_blocks_of,
    systems_table,
)
from surveys.pages.results.verdict import preferred, strongest, verdict
from surveys.protocols.definition import Definition
from surveys.results.chosen import Chosen
from surveys.results.figures import kinds_for
from surveys.results.files.report import Report
from surveys.results.files.report_text import EFFECT_NOTE
from surveys.results.kept import (
    in_order,
    metrics_key,
    metrics_version,
    report_key,
    scored_of,
    states_of,
    version_of,
)
from surveys.results.paper_tables import tables_for
from surveys.results.reports import Kept
from surveys.results.statistics.choices import FAMILIES
from surveys.results.statistics.correlation import Correlation
from surveys.results.statistics.metrics import MetricSummary
from surveys.results.statistics.numbers import Counts, CriterionSummary, Minutes, Selection, Summary

T = TypeVar("T")
EVERYTHING = Chosen()
MOST_BARS = 12  # of more systems than fit, strata are in the table alone
SELECTIONS = {
    **ROWS,
    "true": "Model right",
    "false": "Model wrong",
    "unknown": "Model not graded",
}
STRATA = {"true": "model right", "false": "model wrong", "unknown": "not graded"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One criterion drawn: how its ratings are spread, and its mean. `kinds` are the figures to download of it."""

    criterion: str
    shares: Chart
    scores: Chart
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """What a results page shows. `columns` repeats the systems for each of `selections`.

    `item_blocks` are about items as a whole, a column for each of the `item_columns`. What is said of the `headline`
    stands first.
    `side_by_side` is None where the protocol has a reference: there the grid has the differences from it.
    """

    verdict: tuple[str, ...]
    counts: Counts
    minutes: Minutes
    systems: tuple[str, ...]
    side_by_side: SystemsTable | None
    figures: tuple[Figure, ...]
    selections: tuple[str, ...]
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]
    item_columns: tuple[str, ...]
    against: str
    item_blocks: tuple[Block, ...]
    agreement: tuple[Row, ...]
    families: str
    positions: tuple[Row, ...]
    within: tuple[Row, ...]
    differences: tuple[Row, ...]
    method: str
    effect_note: str
    choices_of_rows: tuple[Block, ...]
    headline: str
    tables: tuple[str, ...]
    strengths: StrengthsTable | None = None
    is_compared: bool = False
    profiles: tuple[MarkedErrors, ...] = ()

    @property
    def headline_differences(self) -> tuple[Row, ...]:
        return tuple(row for row in self.differences if (row.behind or {})["criterion"] == self.headline)

    @property
    def other_differences(self) -> tuple[Row, ...]:
        return tuple(row for row in self.differences if (row.behind or {})["criterion"] != self.headline)

    @property
    def headline_figures(self) -> tuple[Figure, ...]:
        return tuple(figure for figure in self.figures if figure.criterion == self.headline)

    @property
    def other_figures(self) -> tuple[Figure, ...]:
        return tuple(figure for figure in self.figures if figure.criterion != self.headline)


@dataclass(frozen=True, slots=True)
class MetricResults:
    """`means`: a row a metric, a cell a system; `ratings`: the same of each scale. `maps`: a table each coefficient."""

    systems: tuple[str, ...]
    means: tuple[Row, ...]
    ratings: tuple[Row, ...]
    metrics: tuple[str, ...]
    maps: tuple[tuple[str, tuple[Row, ...]], ...]
    notes: tuple[str, ...]
    plots: tuple[Plot, ...]
    versions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown(Generic[T]):
    """What a page shows of a report: `value` as of `made_at`, None before the first, and how far the next is."""

    value: T | None
    made_at: datetime | None
    is_current: bool
    percent: int
    error: str


def results(batches: Batch | Sequence[Batch], chosen: Chosen = EVERYTHING) -> Shown[Results] | None:
    """Return results as they are kept, None before anything was submitted. Asks for new ones if need be.

    Several batches of a study have one report together.
    """
    states = list(states_of(in_order(batches)).values())
    if not any(state["n"] for state in states):
        return None
    found = wanted(report_key(batches, chosen), version=version_of(*states))
    return _shown(found, partial(arranged, chosen=chosen))


def metric_results(batches: Batch | Sequence[Batch]) -> Shown[MetricResults] | None:
    """Return what metrics say as it is kept, None where nothing was scored. Asks for it anew if need be."""
    found = in_order(batches)
    if not scored_of(found[0])["scored"]:
        return None
    report = wanted(metrics_key(found), version=metrics_version(found))
    return _shown(report, partial(_arranged_metrics, definition=found[0].definition))


def _shown(found: Kept[Any], arrange: Callable[[Any], T]) -> Shown[T]:
    value = None if found.value is None else arrange(found.value)
    return Shown(value, found.made_at, found.is_current, found.percent, found.error)


def is_awaited(*shown: Shown[Any] | None) -> bool:
    """Tell whether a page is to look again: something on it is being made."""
    return any(one is not None and not one.is_current for one in shown)


def arranged(report: Report, *, chosen: Chosen = EVERYTHING) -> Results:
    """Lay out a report's numbers as a page shows them; each leads to the answers of the choice that it counts."""
    summary, reference = report.summary, _reference(report)
    of_items = _selections(summary) if chosen.is_everything else (summary.kept,)
    strata = summary.strata if chosen.is_everything else ()
    selections = of_items + tuple(stratum for stratum in strata if stratum.responses)
    systems = tuple(report.systems)
    criteria = summary.kept.systems[0].criteria if summary.kept.systems else ()
    scales = tuple(criterion for criterion in criteria if criterion.score is not None)
    labels = {criterion.key: criterion.label for criterion in criteria}
    rows = SELECTIONS if chosen.is_everything else {**SELECTIONS, "kept": SELECTIONS[chosen.rows]}
    blocks = blocks_of(
        selections, criteria, comparison=report.comparison, choices=report.choices, headline=summary.headline
    )
    return Results(
        verdict=(
            *verdict(summary, report.comparison),
            *preferred(report.choices),
            *strongest(report.strengths),
        ),
        counts=summary.counts,
        minutes=summary.minutes,
        systems=systems,
        side_by_side=None if reference or not scales else _side_by_side(report, scales, chosen),
        figures=tuple(_figure(report, one, chosen) for one in scales if one.scale),
        selections=tuple(rows[selection.name] for selection in selections),
        columns=systems * len(selections),
        blocks=tuple(linked(blocks, among(selections, chosen, reference=reference))),
        item_columns=tuple(rows[selection.name] for selection in of_items),
        against=report.comparison.against,
        item_blocks=tuple(
            linked(
                item_blocks_of(of_items, report.choices, report.by_quality),
                [(of(selection.name, chosen), "") for selection in of_items],
            )
        ),
        agreement=tuple(
            linked_numbers(agreement_row(entry, labels=labels), chosen, n_names=1)
            for entry in report.agreement
        ),
        choices_of_rows=tuple(_by_rows(report, of_items, scales)) if chosen.is_everything else (),
        differences=tuple(_differences(report, labels, chosen)),
        headline=summary.headline,
        tables=tuple(tables_for(report)),
        method=report.comparison.method.name,
        effect_note=EFFECT_NOTE,
        positions=tuple(
            linked_numbers(position_row(found, labels=labels), chosen, n_names=2)
            for found in report.positions
        ),
        within=tuple(
            linked_numbers(within_row(entry, entry.within, labels=labels), chosen, n_names=1)
            for entry in report.agreement
            if entry.within
        ),
        strengths=_strengths(report, chosen) if report.strengths else None,
        profiles=tuple(_profile(errors, chosen) for errors in marked_errors(report.profiles)),
        is_compared=bool(report.choices.preferred),
        families=FAMILIES if report.choices.ticked or report.choices.preferred else "",
    )


def _strengths(report: Report, chosen: Chosen) -> StrengthsTable:
    table = strengths_table(report)
    rows = tuple(linked_numbers(row, chosen, n_names=0) for row in table.rows)
    return replace(
        table, rows=rows, matrix=tuple(linked_numbers(row, chosen, n_names=0) for row in table.matrix)
    )


def _profile(errors: MarkedErrors, chosen: Chosen) -> MarkedErrors:
    rows = tuple(linked_numbers(row, chosen, n_names=0) for row in errors.rows)
    return replace(
        errors, rows=rows, kinds=tuple(linked_numbers(row, chosen, n_names=2) for row in errors.kinds)
    )


def _reference(report: Report) -> str:
    return next((system for system, role in report.systems.items() if role == "reference"), "")


def _differences(report: Report, labels: Mapping[str, str], chosen: Chosen) -> list[Row]:
    """Return what was tested; of a choice of rows there is no further choice."""
    rows = list(linked_differences(difference_rows(report.comparison, labels=labels), chosen))
    if chosen.is_everything:
        return rows
    kept_rows = (row for row in rows if row.cells[1].text == "kept")
    return [replace(row, cells=(row.cells[0], Cell("chosen"), *row.cells[2:])) for row in kept_rows]


def _by_rows(
    report: Report, selections: tuple[Selection, ...], scales: tuple[CriterionSummary, ...]
) -> Iterator[Block]:
    """Yield means by choice of rows; each of a choice leads to its answers."""
    names = [*(selection.name for selection in selections), "kept"]  # by worker quality, of what is kept
    for block in by_rows(selections, scales, report.by_quality):
        lines = zip(block.rows, names, strict=True)
        linked_rows = [
            linked_row(row, [(of(name, EVERYTHING), system) for system in report.systems])
            for row, name in lines
        ]
        yield replace(block, rows=tuple(linked_rows))


def _side_by_side(report: Report, scales: tuple[CriterionSummary, ...], chosen: Chosen) -> SystemsTable:
    table = systems_table(report.comparison, criteria=scales)
    rows = tuple(
        replace(
            row,
            cells=tuple(
                replace(cell, link=query(chosen, {"criterion": scale.key, "of": row.system}))
                for cell, scale in zip(row.cells, scales, strict=True)
            ),
        )
        for row in table.rows
    )
    return replace(table, rows=rows)


def _selections(summary: Summary) -> tuple[Selection, ...]:
    """Return the choices of rows that differ from each other."""
    is_same = summary.counts.kept == summary.counts.assignments and not summary.is_graded
    return (summary.kept,) if is_same else summary.shown


def _figure(report: Report, scale: CriterionSummary, chosen: Chosen) -> Figure:
    summary, key, title = report.summary, scale.key, scale.label
    strata = {STRATA[stratum.name]: stratum for stratum in summary.strata} if chosen.is_everything else {}
    if len(summary.kept.systems) * (1 + len(strata)) > MOST_BARS:
        strata = {}
    has_choices = summary.is_graded and chosen.is_everything
    means = {s.name: s for s in summary.selections} if has_choices else {"": summary.kept, **strata}
    return Figure(
        key,
        share_chart({"": summary.kept, **strata}, key=key, title=title),
        score_chart(means, key=key, title=f"{title} · mean and 95 % interval"),
        tuple(kinds_for(report, key)),
    )


def _arranged_metrics(summary: MetricSummary, *, definition: Definition) -> MetricResults:
    """Lay out what metrics say as a page shows it."""
    correlations = summary.correlations
    labels = {criterion.key: criterion.label for criterion in definition.criteria}
    compared = {one.criterion for one in correlations}
    scales = {key: label for key, label in labels.items() if key in compared}
    systems = tuple(dict.fromkeys(mean.system for mean in summary.means))
    metrics = tuple(dict.fromkeys(mean.metric for mean in summary.means))
    of_systems = [(EVERYTHING, system) for system in systems]
    return MetricResults(
        systems=systems,
        means=tuple(linked_row(row, of_systems) for row in means_of_metrics(summary, systems=systems)),
        ratings=tuple(
            linked_row(row, of_systems) for row in means_of_ratings(summary, systems=systems, criteria=labels)
        ),
        metrics=metrics,
        maps=tuple(
            (title, tuple(linked_numbers(row, EVERYTHING, n_names=0) for row in rows))
            for title, rows in heat_maps(correlations, metrics=metrics, criteria=scales)
        ),
        notes=tuple(dict.fromkeys(_why_not(correlations))),
        plots=tuple(_plots(correlations, systems=systems, criteria=scales)),
        versions=tuple(dict.fromkeys(f"{mean.metric} {_parts(mean.version)}" for mean in summary.means)),
    )


def _parts(version: str) -> str:
    """Return what a score rests on (`scoring.version_of`) as a page says it."""
    return ", ".join(version.split(" ", 2))


def _plots(
    correlations: Sequence[Correlation], *, systems: Sequence[str], criteria: Mapping[str, str]
) -> Iterator[Plot]:
    """Yield a plot for each pair of a scale and a metric, scale by scale."""
    of_outputs = [one for one in correlations if one.level == "item"]
    for key, label in criteria.items():
        for one in of_outputs:
            if one.criterion == key:
                yield scatter_plot(one, criterion=label, systems=systems)


def _why_not(correlations: Iterable[Correlation]) -> Iterator[str]:
    for one in correlations:
        if one.why_not:
            yield f"Over {LEVELS[one.level]}: {one.why_not}"
