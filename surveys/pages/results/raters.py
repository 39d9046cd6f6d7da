"""The rows of a results page about those who rated: how far they agree, also with themselves, and what order did."""

from collections.abc import Mapping

from surveys.pages.results.cells import Cell, Row, between_percent, ends, in_percent
from surveys.pages.results.tables import PREFERENCE
from surveys.results.printed import NOTHING, known, number
from surveys.results.statistics.agreement import Agreement, Within
from surveys.results.statistics.inference import Interval
from surveys.results.statistics.positions import FIRST, PositionEffect


def agreement_row(entry: Agreement, *, labels: Mapping[str, str]) -> Row:
    """Return how far people agree with each other on one criterion (`labels`: {key: label}) of one system."""
    cells = (
        Cell(number(entry.alpha, places=3)),
        Cell(_two_places(entry.alpha_interval)),
        Cell(number(entry.ac2, places=3)),
        Cell(_two_places(entry.ac2_interval)),
        Cell(in_percent(entry.percent)),
        _counted(entry.items),
        _counted(entry.ratings),
    )
    rated = {"criterion": entry.criterion, "of": entry.system}
    return Row(entry.system, (Cell(labels[entry.criterion]), *cells), rated)


def _two_places(interval: Interval | None) -> str:
    return ends(interval, places=2) if interval else NOTHING


def _counted(n: int) -> Cell:
    """Return a count; behind none there is nothing to list."""
    return Cell(str(n), behind={} if n else None)


def position_row(found: PositionEffect, *, labels: Mapping[str, str]) -> Row:
    """Return what stood first less what stood later, and how many ratings tell so.

    What has no label in `labels` ({key: label}) is no criterion, but which of several was preferred.
    """
    criterion, kind = Cell(labels.get(found.criterion, PREFERENCE)), Cell(FIRST[found.kind])
    if found.difference is None:
        return Row(found.system, (criterion, kind, Cell(NOTHING, f"not known: {found.reason}")))
    interval = found.interval
    between = f" ({ends(interval)})" if interval else ""
    warning = f", {interval.support.warning}" if interval and interval.support.warning else ""
    counts = f"{found.first} ratings first, {found.later} later, {found.items} items{warning}"
    difference = known(found.difference, interval) if interval else number(found.difference)
    rated = {"criterion": found.criterion, "of": found.system}
    return Row(found.system, (criterion, kind, Cell(f"{difference}{between}", counts)), rated)


def within_row(entry: Agreement, found: Within, *, labels: Mapping[str, str]) -> Row:
    """Return how far people agree with themselves on what they rated again; `labels`: {key: label}."""
    same = Cell(in_percent(found.percent), between_percent(found.percent_interval).removeprefix("; "))
    repeats = Cell(str(found.repeats), f"by {found.workers} workers")
    rated = {"criterion": entry.criterion, "of": entry.system}
    cells = (Cell(labels[entry.criterion]), same, Cell(number(found.ac2, places=3)), repeats)
    return Row(entry.system, cells, rated)
