"""What a table of results is made of, and how its numbers are written."""

from collections.abc import Callable
from dataclasses import dataclass

from surveys.results.statistics.intervals import Interval
from surveys.results.statistics.numbers import CriterionSummary, Selection, Share, SystemSummary

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Cell:
    """A number and what it counts, over `span` columns."""

    text: str
    note: str = ""
    span: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that answer one question."""

    title: str
    rows: tuple[Row, ...]


def row_of(label: str, selections: tuple[Selection, ...], cell: Callable[[SystemSummary], Cell]) -> Row:
    """Return a row with a cell for each system of each selection."""
    return Row(label, tuple(cell(system) for selection in selections for system in selection.systems))


def share_cell(share: Share | None, *, span: int = 1) -> Cell:
    if share is None:
        return Cell(NOTHING, span=span)
    text = NOTHING if share.share is None else f"{100 * share.share:.1f} %"
    return Cell(text, f"{share.count} of {share.total}", span)


def interval_cell(interval: Interval | None, *, places: int) -> Cell:
    if interval is None:
        return Cell(NOTHING)
    text = f"{number(interval.low, places=places)} to {number(interval.high, places=places)}"
    if not interval.workers:
        return Cell(text, f"{interval.items} items")
    few = "few workers: " if interval.has_few_workers else ""
    return Cell(text, f"{few}{interval.workers}" if few else f"{interval.workers} workers")


def interval_row(label: str, cells: tuple[Cell, ...]) -> Row:
    """Return a row of intervals; where there is none at all, the reason is given once."""
    if all(cell.text == NOTHING for cell in cells):
        return Row(label, (Cell(NOTHING, "too few items or workers", len(cells)),))
    return Row(label, cells)


def places_of(criterion: CriterionSummary) -> int:
    """Return how many decimal places a mean deserves: four on a scale from 0 to 1, two on longer ones."""
    return 4 if max(criterion.scale, default=1) - min(criterion.scale, default=0) <= 1 else 2


def number(value: float | None, *, places: int = 4) -> str:
    return NOTHING if value is None else f"{value:.{places}f}".replace("-", "−")
