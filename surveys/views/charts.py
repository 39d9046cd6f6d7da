"""Geometry of the drawings on a results page, in the units of their viewBox. Templates draw; no script does."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from surveys.aggregation import BLANK, Selection, Share
from surveys.intervals import Interval

WIDTH, LABEL_WIDTH, MARGIN, ROW_HEIGHT = 720, 220, 10, 34
LEVELS = 6
ROOM_FOR_TEXT = 44


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
    """A score at `x` on the scale from 0 to 1, and the ends of its interval, where it has one."""

    y: int
    label: str
    x: float
    text: str
    title: str
    ends: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Chart:
    """Rows of bars or marks, `height` high; `legend` is (level, label)."""

    title: str
    height: int
    bars: tuple[Bar, ...] = ()
    marks: tuple[Mark, ...] = ()
    legend: tuple[tuple[int, str], ...] = ()
    width: int = WIDTH
    left: int = LABEL_WIDTH
    right: int = WIDTH - MARGIN


def share_chart(selection: Selection, *, key: str, title: str) -> Chart:
    """Draw how each system's ratings on one scale are spread: a bar of shares of what was answered."""
    criteria = [(system.system, system.criterion(key)) for system in selection.systems]
    bars = tuple(_bar(row, name, criterion.shares) for row, (name, criterion) in enumerate(criteria))
    shares: Sequence[Share] = criteria[0][1].shares if criteria else ()
    legend = tuple((level % LEVELS, share.label) for level, share in enumerate(_answered(shares)))
    return Chart(title, height=ROW_HEIGHT * len(bars), bars=bars, legend=legend)


def score_chart(selections: Iterable[Selection], *, key: str, title: str) -> Chart:
    """Draw each system's mean score, a row for each choice of rows."""
    marks: list[Mark] = []
    for selection in selections:
        for system in selection.systems:
            score = system.criterion(key).score
            if score and score.rating_mean is not None:
                label = f"{system.system}, {selection.name}"
                y = ROW_HEIGHT * len(marks)
                marks.append(_mark(y, label, score.rating_mean, n=score.ratings, interval=system.interval))
    return Chart(title, height=ROW_HEIGHT * len(marks), marks=tuple(marks))


def _mark(y: int, label: str, mean: float, *, n: int, interval: Interval | None) -> Mark:
    text = f"{mean:.4f}"
    between = f", 95 % interval {interval.low:.4f} to {interval.high:.4f}" if interval else ""
    ends = (_x(interval.low), _x(interval.high)) if interval else None
    return Mark(y, label, _x(mean), text, f"{label}: {text}{between}, {n} ratings", ends)


def _bar(row: int, label: str, shares: Iterable[Share]) -> Bar:
    answered = list(_answered(shares))
    total = sum(share.count for share in answered)
    return Bar(ROW_HEIGHT * row, label, f"n = {total}", tuple(_segments(answered, total=total)))


def _segments(shares: Sequence[Share], *, total: int) -> Iterable[Segment]:
    before = 0
    for level, share in enumerate(shares):
        if not share.count:
            continue
        start, end = _x(before / total), _x((before + share.count) / total)
        text = f"{100 * share.count / total:.0f} %"
        title = f"{share.label}: {share.count} of {total}"
        fits = end - start >= ROOM_FOR_TEXT
        yield Segment(start, round(end - start, 2), level % LEVELS, title, text if fits else "")
        before += share.count


def _answered(shares: Iterable[Share]) -> Iterable[Share]:
    return (share for share in shares if share.key != BLANK)


def _x(value: float) -> float:
    return round(LABEL_WIDTH + value * (WIDTH - LABEL_WIDTH - MARGIN), 2)
