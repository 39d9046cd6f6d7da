"""Which errors were marked, as a page shows it: what they cost each system, drawn and as tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from surveys.pages.results.cells import Cell, Row, ends
from surveys.pages.results.charts import Chart, interval_chart
from surveys.results.printed import NOTHING, number
from surveys.results.statistics.inference import Interval
from surveys.results.statistics.spans import ErrorKind, ErrorProfile, SpanAgreement


@dataclass(frozen=True, slots=True)
class MarkedErrors:
    """What one question marked: `rows` by system, `kinds` by system, category and severity."""

    label: str
    chart: Chart | None
    rows: tuple[Row, ...]
    kinds: tuple[Row, ...]


def marked_errors(profiles: Sequence[ErrorProfile]) -> tuple[MarkedErrors, ...]:
    """Lay out a report's error profiles by question."""
    questions = dict.fromkeys(one.criterion for one in profiles)
    return tuple(_question([one for one in profiles if one.criterion == key]) for key in questions)


def _question(profiles: Sequence[ErrorProfile]) -> MarkedErrors:
    drawn = [(one.system, one.cost, one.interval) for one in profiles if one.cost is not None]
    title = "Cost of the marks of an answer, with 95 % intervals"
    return MarkedErrors(
        profiles[0].label,
        interval_chart(drawn, title=title) if drawn else None,
        tuple(_row(one) for one in profiles),
        tuple(row for one in profiles for row in _kinds(one)),
    )


def _row(one: ErrorProfile) -> Row:
    costs = (_with_interval(one.cost, one.interval), _with_interval(one.cost_per_100, one.interval_per_100))
    alpha = Cell(number(one.agreement.alpha, places=2))
    cells = (Cell(str(one.answers)), Cell(str(one.marks)), *costs, _alike(one.agreement), alpha)
    return Row(one.system, cells, _judged(one))


def _judged(one: ErrorProfile) -> dict[str, str]:
    return {"criterion": one.criterion, "of": one.system}


def _alike(found: SpanAgreement) -> Cell:
    pairs = f"{found.pairs} pair{'s'[: found.pairs != 1]}"
    cell = _with_interval(found.f1, found.f1_interval)
    return Cell(cell.text, ", ".join(filter(None, [cell.note, pairs])))


def _kinds(profile: ErrorProfile) -> Iterator[Row]:
    for one in profile.kinds:
        cells = (*_names(one), Cell(str(one.marks)), _with_interval(one.per_answer, one.interval))
        kind = {"severity": one.severity, **({"category": one.category} if one.category else {})}
        yield Row(profile.system, cells, {**_judged(profile), **kind})


def _names(one: ErrorKind) -> tuple[Cell, Cell]:
    category = one.category_label or one.category or NOTHING
    return Cell(category), Cell(one.severity_label or one.severity)


def _with_interval(value: float | None, interval: Interval | None) -> Cell:
    places = max(interval.places, 2) if interval else 2
    return Cell(number(value, places=places), ends(interval) if interval else "")
