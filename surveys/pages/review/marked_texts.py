"""A text with what somebody marked in it, in pieces; and the marks in words."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from surveys.protocols.criteria import Spans
from surveys.protocols.spans import Mark, shortened

HEAVIEST = 4


class Piece(NamedTuple):
    """A part of a text that is marked alike all over: by the gravest `level` (0: not at all), `said` in words."""

    text: str
    level: int = 0
    said: str = ""


def pieces_of(text: str, marks: Sequence[Mark], *, spans: Spans, column: str = "") -> tuple[Piece, ...]:
    """Return a text in pieces, given the marks in it."""
    placed = [(mark, mark.start, mark.end) for mark in marks if mark.column == column]
    own = [(mark, start, end) for mark, start, end in placed if start is not None and end is not None]
    cuts = sorted({0, len(text), *(cut for _, start, end in own for cut in (start, end))})
    return tuple(
        _piece(text[a:b], [mark for mark, start, end in own if start < b and end > a], spans)
        for a, b in pairwise(cuts)
    )


def _piece(text: str, over: Sequence[Mark], spans: Spans) -> Piece:
    level = max((level_of(mark, spans) for mark in over), default=0)
    return Piece(text, level, "; ".join(kind_of(mark, spans) for mark in over))


def level_of(mark: Mark, spans: Spans) -> int:
    """Return how heavy a mark's line is, from 1 on, by what its severity costs."""
    costs = sorted({severity.score or 0.0 for severity in spans.severities})
    cost = next((one.score or 0.0 for one in spans.severities if one.value == mark.severity), costs[-1])
    return min(costs.index(cost) + (1 if len(costs) >= HEAVIEST - 1 else 2), HEAVIEST)


def kind_of(mark: Mark, spans: Spans) -> str:
    """Return what was said of a mark, by labels: "Major, Fluency/Grammar"."""
    labels = {one.value: one.label for one in (*spans.severities, *spans.categories)}
    words = [labels.get(mark.severity, mark.severity), labels.get(mark.category, mark.category), mark.note]
    return ", ".join(filter(None, words))


def in_words(marks: Sequence[Mark], *, spans: Spans) -> Iterator[str]:
    """Yield each mark as a sentence's part; one that says there are none."""
    if not marks:
        yield "Nothing marked"
    for mark in marks:
        where = "the whole text" if mark.is_whole else f"“{shortened(mark.text)}”"
        where = f"left out: {where}" if mark.column and mark.column == spans.missing_in else where
        yield f"{where} ({kind_of(mark, spans)})"
