"""Geometry of the drawings on a results page. Templates draw; no script.

Bars and marks: across in percent of their width, down in pixels. So a drawing is as wide as there is room, on a phone
too, and its letters keep their size. Plots: both in pixels.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from surveys.pages.results.cells import places_of
from surveys.results.printed import number
from surveys.results.statistics.correlation import Correlation
from surveys.results.statistics.inference import Interval
from surveys.results.statistics.numbers import BLANK, CriterionSummary, Selection, Share

LEFT, RIGHT = 2.0, 98.0  # of the scale, so that a mark at its end is whole
ROW_HEIGHT, TICK_HEIGHT = 54, 20
LEVELS = 6
PALETTES = {5: (0, 1, 5, 2, 3)}  # the middle of five is grey; others take the colours as they come
ROOM_FOR_TEXT = 13.0
ROOM_FOR_LABEL = 24


@dataclass(frozen=True, slots=True)
class Segment:
    """One share of a bar. `level` picks its colour; `text` is empty where it would not fit."""

    x: float
    width: float
    level: int
    title: str
    text: str

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class Bar:
    y: int
    label: str
    note: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A score at `x` on its scale, and the ends of its interval, where it has one."""

    y: int
    label: str
    x: float
    text: str
    title: str
    ends: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Chart:
    """Rows of bars or marks, `height` high; `legend` is (level, label), `ticks` are (x, score, anchor of the text)."""

    title: str
    height: int
    bars: tuple[Bar, ...] = ()
    marks: tuple[Mark, ...] = ()
    legend: tuple[tuple[int, str], ...] = ()
    ticks: tuple[tuple[float, str, str], ...] = ()
    left: float = LEFT
    right: float = RIGHT

    @property
    def floor(self) -> int:
        """Where the rows end and the numbers of the scale begin."""
        return self.height - (TICK_HEIGHT if self.ticks else 0)


def share_chart(selections: Mapping[str, Selection], *, key: str, title: str) -> Chart:
    """Draw how ratings on one scale are spread, the best on the left: a bar of shares of what was answered.

    `selections` by their name on the page, "" needing none; a system's bars stand together.
    """
    found = list(_rows(selections, key=key))
    bars = tuple(_bar(row, label, criterion) for row, (label, criterion) in enumerate(found))
    legend = tuple((level, share.label) for level, share in _graded(found[0][1])) if found else ()
    return Chart(title, height=ROW_HEIGHT * len(bars), bars=bars, legend=legend)


def score_chart(selections: Mapping[str, Selection], *, key: str, title: str) -> Chart:
    """Draw each system's mean on the scale of the criterion, a row for each choice of rows."""
    rated = [(label, c) for label, c in _rows(selections, key=key) if c.score and c.score.ratings]
    marks = tuple(_mark(ROW_HEIGHT * row, label, criterion) for row, (label, criterion) in enumerate(rated))
    scale = rated[0][1].scale if rated else ()
    ticks = tuple(_tick(score, scale) for score in sorted(scale))
    return Chart(title, height=ROW_HEIGHT * len(marks) + TICK_HEIGHT, marks=marks, ticks=ticks)


def interval_chart(rows: Sequence[tuple[str, float, Interval | None]], *, title: str) -> Chart:
    """Draw numbers with their intervals on a scale that holds them all and 0."""
    bounds = [bound for _, value, one in rows for bound in ((one.low, one.high) if one else (value,))]
    scale = (min(0.0, *bounds, *(value for _, value, _ in rows)), max(0.0, *bounds))
    marks = tuple(_point(ROW_HEIGHT * n, *row, scale=scale) for n, row in enumerate(rows))
    return Chart(
        title,
        height=ROW_HEIGHT * len(marks) + TICK_HEIGHT,
        marks=marks,
        ticks=((_on_scale(0.0, scale), "0", "middle"),),
    )


def _point(y: int, label: str, value: float, interval: Interval | None, *, scale: Sequence[float]) -> Mark:
    places = max(interval.places, 2) if interval else 2
    text = number(value, places=places)
    between = (
        f", 95 % interval {number(interval.low, places=places)} to {number(interval.high, places=places)}"
        if interval
        else ""
    )
    ends = (_on_scale(interval.low, scale), _on_scale(interval.high, scale)) if interval else None
    return Mark(y, _short(label), _on_scale(value, scale), text, f"{label}: {text}{between}", ends)


def _rows(selections: Mapping[str, Selection], *, key: str) -> Iterator[tuple[str, CriterionSummary]]:
    systems = [system.system for selection in list(selections.values())[:1] for system in selection.systems]
    for system in systems:
        for name, selection in selections.items():
            criterion = selection.system(system).criterion(key)
            if not name or (criterion.score and criterion.score.ratings):
                yield f"{_short(system)}, {name}" if name else _short(system), criterion


def _short(system: str) -> str:
    """Return a name that has room; what tells names of one family apart is often at their end."""
    half = ROOM_FOR_LABEL // 2
    return system if len(system) <= ROOM_FOR_LABEL else f"{system[: half - 1]}…{system[-half:]}"


def _mark(y: int, label: str, criterion: CriterionSummary) -> Mark:
    score, interval, scale = criterion.score, criterion.interval, criterion.scale
    mean = (score.rating_mean if score else None) or 0.0
    places = places_of(criterion)
    ends = (_on_scale(interval.low, scale), _on_scale(interval.high, scale)) if interval else None
    between = (
        f", 95 % interval {number(interval.low, places=places)} to {number(interval.high, places=places)}"
        if interval
        else ""
    )
    text = number(mean, places=places)
    title = f"{label}: {text}{between}, {score.ratings if score else 0} ratings"
    return Mark(y, label, _on_scale(mean, scale), text, title, ends)


def _bar(row: int, label: str, criterion: CriterionSummary) -> Bar:
    shares = list(_graded(criterion))
    total = sum(share.count for _, share in shares)
    return Bar(ROW_HEIGHT * row, label, f"n = {total}", tuple(_segments(shares, total=total)))


def _graded(criterion: CriterionSummary) -> list[tuple[int, Share]]:
    """Return the shares of what was answered with their colours, the best first."""
    answered = [share for share in criterion.shares if share.key != BLANK]
    best_first = sorted(zip(criterion.scale, answered, strict=True), key=lambda pair: -pair[0])
    palette = PALETTES.get(len(answered), tuple(level % LEVELS for level in range(len(answered))))
    return [(level, share) for level, (_, share) in zip(palette, best_first, strict=True)]


def _segments(shares: Sequence[tuple[int, Share]], *, total: int) -> Iterable[Segment]:
    before = 0
    for level, share in shares:
        if not share.count:
            continue
        start, width = 100 * before / total, 100 * share.count / total
        title = f"{share.label}: {share.count} of {total}"
        text = f"{width:.0f} %" if width >= ROOM_FOR_TEXT else ""
        yield Segment(round(start, 3), round(width, 3), level, title, text)
        before += share.count


def _tick(score: float, scale: Sequence[float]) -> tuple[float, str, str]:
    anchor = {min(scale): "start", max(scale): "end"}.get(score, "middle")
    return _on_scale(score, scale), f"{score:.2f}".rstrip("0").rstrip("."), anchor


def _on_scale(value: float, scale: Sequence[float]) -> float:
    low, high = min(scale), max(scale)
    share = (value - low) / (high - low) if high > low else 0.5
    return round(LEFT + share * (RIGHT - LEFT), 3)


PLOT_WIDTH, PLOT_HEIGHT, PLOT_MARGIN = 240, 180, 24
MOST_DOTS = 800
COLOURS = 6


@dataclass(frozen=True, slots=True)
class Plot:
    """One metric against one criterion: `dots` are (x, y, number of the system, title)."""

    title: str
    x_label: str
    y_label: str
    note: str
    dots: tuple[tuple[float, float, int, str], ...]
    x_ends: tuple[str, str]
    y_ends: tuple[str, str]
    width: int = PLOT_WIDTH
    height: int = PLOT_HEIGHT

    @property
    def middle(self) -> int:
        return self.width // 2

    @property
    def half_height(self) -> int:
        return self.height // 2

    @property
    def outer_width(self) -> int:
        """With room on the left for the ends of the scale."""
        return self.width + PLOT_MARGIN


def scatter_plot(correlation: Correlation, *, criterion: str, systems: Sequence[str]) -> Plot:
    """Draw one metric against the ratings on one scale: a dot an output, at most `MOST_DOTS` of them."""
    points = correlation.points
    drawn = points[:: -(-len(points) // MOST_DOTS)]
    x_ends, y_ends = _ends([x for _, x, _ in points]), _ends([y for _, _, y in points])
    colours = {system: n % COLOURS for n, system in enumerate(systems)}
    dots = tuple(
        (
            _placed(x, *x_ends, PLOT_WIDTH),
            PLOT_HEIGHT - _placed(y, *y_ends, PLOT_HEIGHT),
            colours.get(system, 0),
            f"{system}: {number(x, places=3)}, {number(y, places=2)}",
        )
        for system, x, y in drawn
    )
    note = f"{len(drawn)} of {len(points)} outputs drawn" if len(drawn) < len(points) else ""
    title = f"{criterion} by {correlation.metric}"
    return Plot(
        title, correlation.metric, _begun(criterion), note, dots, _in_words(x_ends), _in_words(y_ends)
    )


def _begun(label: str) -> str:
    """Return as much of a question as has room along an axis; the title has all of it."""
    return label if len(label) <= ROOM_FOR_LABEL else f"{label[: ROOM_FOR_LABEL - 1].rstrip()}…"


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _in_words(ends: tuple[float, float]) -> tuple[str, str]:
    return number(ends[0], places=2), number(ends[1], places=2)


def _placed(value: float, low: float, high: float, length: int) -> float:
    share = (value - low) / (high - low) if high > low else 0.5
    return round(PLOT_MARGIN + share * (length - 2 * PLOT_MARGIN), 1)
