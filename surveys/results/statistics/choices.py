"""What was ticked and what was preferred, tested by the inference that everything is tested by.

Each is a family of its own for Holm's correction: all options of all checklists over all systems, and all preferences
over all systems; kept and filtered rows apart, and apart from the scales. A preference is tested by its net: 1 where
the system was preferred, -1 where the one compared with was, 0 for a tie, so that a tie says what it is, no difference.
How often the system won among those who preferred one of the two stands beside it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from surveys.results.frames.base import OTHER, PREFERRED, Frame, column, only
from surveys.results.statistics.comparison import Difference
from surveys.results.statistics.criteria import coded, flags_of, ratings_of, values_of, where_asked
from surveys.results.statistics.inference import (
    ALPHA,
    Effect,
    Interval,
    Ratings,
    Support,
    difference_effect,
    holm,
    level_of,
    mean_effect,
    why_no_effect,
)

FAMILIES = (
    "Holm's correction: over all options of checklists and all systems, and over the preferences for all systems; kept "
    "and filtered rows apart, and apart from the scales."
)


@dataclass(frozen=True, slots=True)
class Preferred:
    """How often a system was preferred to the one compared with, over responses that showed both and were answered.

    Where a third was preferred, nothing is said of these two: that is no tie, and not counted.

    `net` is (wins - losses) / all; its `interval` is at the level at which Holm's procedure tested it and leaves out 0
    exactly where there is a dagger. `decided` is wins / (wins + losses), ties told apart, with an interval at the same
    level; it is not tested by itself. `why_not` says why answers on two items or more were not tested.
    """

    system: str
    criterion: str
    against: str
    wins: int
    ties: int
    losses: int
    net: float | None
    p: float | None
    corrected: float | None
    interval: Interval | None
    decided: float | None
    decided_interval: Interval | None
    why_not: str = ""

    @property
    def untested(self) -> str:
        """What stands in place of a test, and why; "" where there is one."""
        if self.corrected is not None and self.interval is not None:
            return ""
        return f"not tested{self.why_not and f': {self.why_not}'}"

    @property
    def dagger(self) -> bool:
        return self.corrected is not None and self.corrected < ALPHA

    @property
    def support(self) -> Support | None:
        return self.interval.support if self.interval else None

    @property
    def n(self) -> int:
        return self.wins + self.ties + self.losses

    @property
    def rate(self) -> float | None:
        """The win rate, a tie counting half for each."""
        return None if self.net is None else (1 + self.net) / 2

    @property
    def rate_interval(self) -> Interval | None:
        found = self.interval
        return found and replace(found, low=(1 + found.low) / 2, high=(1 + found.high) / 2)


@dataclass(frozen=True, slots=True)
class Choices:
    """Tests of the kept rows, and of the filtered ones, empty where nothing is graded.

    A `Difference` is one of shares, its criterion the stored key of an option (`shortcomings.none`), or the
    checklist's and "nothing" where nothing was ticked.
    """

    ticked: tuple[Difference, ...] = ()
    preferred: tuple[Preferred, ...] = ()
    ticked_filtered: tuple[Difference, ...] = ()
    preferred_filtered: tuple[Preferred, ...] = ()

    def difference(self, system: str, criterion: str, *, filtered: bool = False) -> Difference | None:
        """Return the difference of a system on an option; None of the one compared with."""
        found = self.ticked_filtered if filtered else self.ticked
        return next((d for d in found if (d.system, d.criterion) == (system, criterion)), None)


def choices(frame: Frame, *, against: str) -> Choices:
    """Compare what was ticked about each system, and preferred, with `against`."""
    if against not in frame.systems:
        return Choices()
    kept = (_ticked(frame, frame.kept, against=against), _preferred(frame, frame.kept, against=against))
    if not frame.is_graded:
        return Choices(*kept)
    filtered = frame.filtered
    return Choices(
        *kept, _ticked(frame, filtered, against=against), _preferred(frame, filtered, against=against)
    )


def _ticked(frame: Frame, rows: pd.DataFrame, *, against: str) -> tuple[Difference, ...]:
    rows = only(rows, ~rows["is_skipped"])
    names = coded(rows)
    theirs = dict(_flags(frame, rows, names, system=against))
    sides = {
        (system, key): (ours, theirs[key])
        for system in frame.systems
        if system != against
        for key, ours in _flags(frame, rows, names, system=system)
    }
    effects = {name: difference_effect(*both) for name, both in sides.items()}
    adjusted = holm({name: effect.p if effect else None for name, effect in effects.items()})
    return tuple(
        _difference(name, effect, *sides[name], adjusted=adjusted[name]) for name, effect in effects.items()
    )


def _flags(
    frame: Frame, rows: pd.DataFrame, names: pd.DataFrame, *, system: str
) -> Iterator[tuple[str, Ratings]]:
    shown = frame.about(rows, system=system)
    for criterion in frame.definition.output_criteria:
        if criterion.is_checklist:
            asked = where_asked(shown, system, criterion)
            for value, flags in flags_of(asked, system, criterion).items():
                yield f"{criterion.key}.{value}", ratings_of(flags.astype("float64"), names)


def _difference(
    name: tuple[str, str], effect: Effect | None, ours: Ratings, theirs: Ratings, *, adjusted: float | None
) -> Difference:
    if effect is None:
        n_shared = len(np.intersect1d(ours.items, theirs.items))
        return Difference(*name, None, n_shared, None, None, why_not=why_no_effect(n_shared))
    return Difference(
        *name,
        mean=effect.value,
        items=effect.support.items,
        p=effect.p,
        interval=_interval(effect, adjusted),
        corrected=adjusted,
        why_not=effect.why_not,
    )


def _interval(effect: Effect | None, adjusted: float | None) -> Interval | None:
    if effect is None or effect.p is None or adjusted is None:
        return None
    return effect.interval(alpha=level_of(effect.p, adjusted))


def _preferred(frame: Frame, rows: pd.DataFrame, *, against: str) -> tuple[Preferred, ...]:
    preference = frame.definition.preference
    if preference is None or preference.by != "choice":
        return ()
    names = coded(rows)
    others = [system for system in frame.systems if system != against]
    nets = {s: _nets(rows, preference.key, system=s, against=against) for s in others}
    effects = {(s, preference.key): mean_effect(ratings_of(net, names)) for s, net in nets.items()}
    adjusted = holm({name: effect.p if effect else None for name, effect in effects.items()})
    return tuple(
        _of_pair((s, key, against), nets[s], names, effects[s, key], adjusted[s, key]) for s, key in effects
    )


def _nets(rows: pd.DataFrame, key: str, *, system: str, against: str) -> "pd.Series[float]":
    """Return 1, 0 or -1 for each response that showed both systems and says something of the two."""
    ours, theirs = (values_of(rows, column(name, key)) for name in (system, against))
    tells = ours.notna() & theirs.notna() & ~((ours == OTHER) & (theirs == OTHER))
    return ((ours == PREFERRED).astype("float64") - (theirs == PREFERRED).astype("float64"))[tells]


def _of_pair(
    pair: tuple[str, str, str],
    net: "pd.Series[float]",
    names: pd.DataFrame,
    effect: Effect | None,
    adjusted: float | None,
) -> Preferred:
    decided = mean_effect(ratings_of((net[net != 0] + 1) / 2, names))
    interval = _interval(effect, adjusted)
    wins, ties, losses = (int((net == value).sum()) for value in (1.0, 0.0, -1.0))
    between = decided.interval_on(0.0, 1.0, alpha=1 - interval.level) if decided and interval else None
    return Preferred(
        *pair,
        wins=wins,
        ties=ties,
        losses=losses,
        net=(wins - losses) / len(net) if len(net) else None,
        p=effect.p if effect else None,
        corrected=adjusted,
        interval=interval and interval.within(-1.0, 1.0),
        decided=wins / (wins + losses) if wins + losses else None,
        decided_interval=between,
        why_not=effect.why_not if effect else why_no_effect(names.loc[net.index, "item_id"].nunique()),
    )
