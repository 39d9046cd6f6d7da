"""Who is stronger, as a page shows it: strengths in order, drawn and as a table, and the win rate of each pair."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from surveys.pages.results.cells import Cell, Row, ends
from surveys.pages.results.charts import Chart, interval_chart
from surveys.protocols.preferences import BEST, WORST
from surveys.results.figures import kinds_for
from surveys.results.files.report import Report
from surveys.results.printed import NOTHING, number, p_value
from surveys.results.statistics.strengths import METHOD, Strength, Strengths, WinRate

COUNTS = {"mean_rank": "Mean rank", "best": "Best", "worst": "Worst"}


@dataclass(frozen=True, slots=True)
class StrengthsTable:
    """`rows` are of systems, the strongest first; `matrix` has a line and a column for each, in the same order."""

    criterion: str
    chart: Chart | None
    rows: tuple[Row, ...]
    systems: tuple[str, ...]
    matrix: tuple[Row, ...]
    note: str
    why_not: str
    kinds: tuple[str, ...]
    counted: tuple[str, ...] = ()


def strengths_table(report: Report) -> StrengthsTable:
    """Lay out a report's strengths; where there are none, the win rates and why."""
    found = report.strengths or Strengths("")
    known = [one for one in found.strengths if one.value is not None]
    systems = tuple(one.system for one in found.strengths)
    return StrengthsTable(
        criterion=found.criterion,
        chart=interval_chart(
            [(one.system, one.value or 0.0, one.interval) for one in known],
            title="Strengths, with 95 % intervals",
        )
        if known
        else None,
        rows=tuple(_row(one, found) for one in known),
        systems=systems,
        matrix=tuple(
            Row(system, tuple(_cells(system, systems, found)), _judged(system, found)) for system in systems
        ),
        note=_note(found),
        why_not=found.why_not,
        kinds=tuple(kinds_for(report, found.criterion)),
        counted=tuple(COUNTS[name] for name in _counted(found)),
    )


def _judged(system: str, found: Strengths) -> dict[str, str]:
    return {"criterion": found.criterion, "of": system}


def _note(found: Strengths) -> str:
    warning = f" Mind: {found.support.warning}." if found.support and found.support.warning else ""
    return f"{METHOD} {found.n} comparisons.{warning}"


def _row(one: Strength, found: Strengths) -> Row:
    interval = one.interval
    value = number(one.value, places=max(interval.places, 2) if interval else 2)
    ranks = f"{one.best_rank}" if one.best_rank == one.worst_rank else f"{one.best_rank} to {one.worst_rank}"
    n = sum(pair.n for pair in found.rates if one.system in (pair.system, pair.against))
    more = tuple(_count(name, found.counts.get(one.system, {}).get(name)) for name in _counted(found))
    cells = (Cell(value), Cell(ends(interval) if interval else NOTHING), Cell(ranks), *more, Cell(str(n)))
    return Row(one.system, cells, _judged(one.system, found))


def _count(name: str, count: float | None) -> Cell:
    behind = {"value": name} if name in (BEST, WORST) else {}
    return Cell(NOTHING if count is None else f"{count:.4g}", behind=behind)


def _counted(found: Strengths) -> list[str]:
    """Return what was counted of each system beside how often it was shown."""
    return [name for name in COUNTS if any(name in of for of in found.counts.values())]


def _cells(system: str, others: Sequence[str], found: Strengths) -> Iterator[Cell]:
    for other in others:
        one = found.rate(system, other)
        yield Cell("") if system == other or one is None else _cell(one)


def _cell(one: WinRate) -> Cell:
    if one.rate is None:
        return Cell(NOTHING, "never met")
    tested = "" if one.corrected is None else f"; p\u00a0{_of(one.corrected)}"
    return Cell(
        f"{100 * one.rate:.0f} %",
        f"{one.wins}–{one.ties}–{one.losses}{tested}",
        shade=str(round(8 * (one.rate - 0.5))),
        behind={"against": one.against},
    )


def _of(p: float) -> str:
    text = p_value(p)
    return (text if text.startswith("<") else f"= {text}").replace(" ", "\u00a0")
