"""Does it matter where something stood? What was shown first, or early on a page, beside the same shown later.

A system's output that stood on one side for some people and on the other for the rest is compared with itself, item by
item, clustered by items and workers like every difference; the same for items in the first and the second half of a
page (the one in the middle is in neither). A position that was the same for everybody tells nothing: then the reason
stands there, since an effect of the side is then part of the difference between systems.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from surveys.results.frames.base import Frame, column, only
from surveys.results.statistics.criteria import coded, ratings_of, scores_of
from surveys.results.statistics.inference import Interval, difference_effect

Kind = Literal["side", "page"]
FIRST = {"side": "shown first", "page": "early on the page"}
ALWAYS = {
    "side": "each item had it on one side for everybody",
    "page": "each item stood in one half of the page for everybody",
}
FEW = "too few items, or workers, saw it both ways"


@dataclass(frozen=True, slots=True)
class PositionEffect:
    """A score (of a preference: the share that preferred it) first less later, over `items` seen both ways.

    `first` and `later` count ratings. `interval` is at 95 %; nothing is tested. `reason` says why there is no number.
    """

    system: str
    criterion: str
    kind: Kind
    first: int
    later: int
    difference: float | None
    interval: Interval | None
    items: int
    reason: str = ""


def position_effects(frame: Frame) -> tuple[PositionEffect, ...]:
    """Return the effects of the kept rows: of the side where outputs are shown together, of the half of a page.

    One entry per system, criterion and kind; none where nobody knows what stood where.
    """
    kept = frame.kept
    is_answered = ~kept["is_skipped"]
    rows, half = only(kept, is_answered), halves(kept)[is_answered]
    effects: list[PositionEffect] = []
    names = coded(rows)
    for system in frame.systems:
        effects += _of_system(frame, rows, _sides(rows, system), names, system=system, kind="side")
        effects += _of_system(frame, rows, half, names, system=system, kind="page")
    return tuple(effects)


def halves(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return of each row whether its item stood in the first half of its worker's page; missing in the middle."""
    place = rows["place"].fillna(rows["position"]).astype("Float64")
    pages = place.groupby([rows["assignment_id"], rows["worker"].fillna("")], sort=False)
    middle = (pages.transform("min") + pages.transform("max")) / 2
    return (place < middle).astype("boolean").where(place != middle)


def _sides(rows: pd.DataFrame, system: str) -> "pd.Series[bool]":
    """Return whether the system's output was shown first; missing where it stood alone or nobody knows."""
    shown = rows[column(system, "shown_position")]
    others = [name for name in rows if str(name).endswith(".shown_position") and name != shown.name]
    is_beside = rows[others].notna().any(axis=1)
    return (shown == 1).astype("boolean").where(shown.notna() & is_beside)


def _of_system(
    frame: Frame,
    rows: pd.DataFrame,
    is_first: "pd.Series[bool]",
    names: pd.DataFrame,
    *,
    system: str,
    kind: Kind,
) -> Iterator[PositionEffect]:
    if not is_first.notna().any():
        return
    for key, scores in _scores(frame, rows, system):
        given = scores[is_first.notna() & scores.notna()]
        first = is_first[given.index].astype(bool)
        if len(given):
            yield _effect(given[first], given[~first], names, name=(system, key, kind))


def _scores(frame: Frame, rows: pd.DataFrame, system: str) -> Iterator[tuple[str, "pd.Series[float]"]]:
    for criterion in frame.definition.output_criteria:
        if criterion.has_score:
            yield criterion.key, scores_of(frame, rows, system=system, key=criterion.key)
    if frame.definition.preference:
        key = frame.definition.preference.key
        yield key, scores_of(frame, rows, system=system, key=key)


def _effect(
    first: "pd.Series[float]",
    later: "pd.Series[float]",
    names: pd.DataFrame,
    *,
    name: tuple[str, str, Kind],
) -> PositionEffect:
    counts = (len(first), len(later))
    ours, theirs = ratings_of(first, names), ratings_of(later, names)
    effect = difference_effect(ours, theirs)
    if effect is None:
        items = len(np.intersect1d(ours.items, theirs.items))
        return PositionEffect(*name, *counts, None, None, items, FEW if items else ALWAYS[name[2]])
    return PositionEffect(*name, *counts, effect.value, effect.interval(), effect.support.items)
