"""What tables of results are made of, and how numbers are written in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from surveys.results.printed import NOTHING, known, level_text, number, p_value
from surveys.results.statistics.choices import Preferred
from surveys.results.statistics.comparison import Difference
from surveys.results.statistics.inference import Effect, Interval
from surveys.results.statistics.numbers import CriterionSummary, Share

DAGGER = "†"


@dataclass(frozen=True, slots=True)
class Cell:
    """A number and what it counts, over `span` columns. `shade` from -4 (opposite) over 0 to 4 colours it.

    `behind` says more closely than its row which ratings it counts; None where no list has them. `link` is the query
    under which the answers behind it are listed; "": there are none to list.
    """

    text: str
    note: str = ""
    span: int = 1
    shade: str = ""
    behind: Mapping[str, str] | None = field(default_factory=dict, compare=False)
    link: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table. `behind` says which ratings its numbers count: see `behind.py`; None where that is no list."""

    label: str
    cells: tuple[Cell, ...]
    behind: Mapping[str, str] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that answer one question."""

    title: str
    rows: tuple[Row, ...]


def share_cell(share: Share | None) -> Cell:
    if share is None:
        return Cell(NOTHING)
    return Cell(in_percent(share.share), f"{share.count} of {share.total}{between_percent(share.interval)}")


def interval_cell(interval: Interval | None, *, places: int) -> Cell:
    if interval is None:
        return Cell(NOTHING)
    text = ends(interval, places=places)
    support = interval.support
    if support.effective is None or support.busiest is None:
        return Cell(text, f"{support.items} items")
    if not support.has_few_workers:
        return Cell(text, f"{support.workers} workers")
    return Cell(text, f"{support.warning}; three gave {support.busiest:.0%}")


def tested_cell(found: Difference) -> Cell:
    """Return a tested difference with its interval at the level it was tested at, and a dagger to match."""
    interval = found.interval
    if interval is None or found.mean is None or found.corrected is None:
        mean = number(found.mean) if found.items > 1 else NOTHING
        return Cell(mean, f"{found.untested}{_as_two_samples(found.unpaired)}")
    mean = known(found.mean, interval)
    text = f"{mean}{DAGGER if found.dagger else ''} ({ends(interval)})"
    tested = f"{probability(found.corrected)}, {level_text(interval.level)}, {found.items} items"
    return Cell(text, f"{tested}{few(found)}")


def _as_two_samples(effect: Effect | None) -> str:
    interval = effect.interval() if effect else None
    if effect is None or effect.p is None or interval is None:
        return ""
    difference = f"{known(effect.value, interval)} ({ends(interval)})"
    return f"; as two samples, not corrected: {difference}, {probability(effect.p)}"


def interval_row(label: str, cells: tuple[Cell, ...], behind: Mapping[str, str] | None = None) -> Row:
    """Return a row of intervals; where there is none at all, the reason is given once."""
    if all(cell.text == NOTHING for cell in cells):
        return Row(label, (Cell(NOTHING, "too few items or workers", len(cells)),))
    return Row(label, cells, behind)


def in_percent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.1f} %"


def between_percent(interval: Interval | None) -> str:
    """Return the interval of a share, in percent, as it stands behind its count."""
    if interval is None:
        return ""
    return f"; {level_text(interval.level)}: {100 * interval.low:.0f} to {100 * interval.high:.0f}"


def ends(interval: Interval, *, places: int | None = None) -> str:
    """Return both ends, to as many places as are known unless others are given."""
    places = interval.places if places is None else places
    return f"{number(interval.low, places=places)} to {number(interval.high, places=places)}"


def few(found: Difference | Preferred | None) -> str:
    """Return the warning that belongs beside what was tested on few workers, dagger or none."""
    warning = found.support.warning if found and found.support else ""
    return f", {warning}" if warning else ""


def probability(p: float) -> str:
    """Return a p value, never rounded across the limit."""
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def places_of(criterion: CriterionSummary) -> int:
    """Return how many decimal places a mean deserves: four on a scale from 0 to 1, two on longer ones."""
    return 4 if max(criterion.scale, default=1) - min(criterion.scale, default=0) <= 1 else 2
