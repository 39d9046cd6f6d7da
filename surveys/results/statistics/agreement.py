"""How far raters agree, per system and criterion.

Krippendorff's alpha after K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): 1 is perfect, 0 is
chance. It is low wherever nearly everybody says the same, so percent agreement stands beside it, and Gwet's AC2 (K. L.
Gwet, "Handbook of Inter-Rater Reliability", 4th edition, 2014), whose chance is that of raters who don't know, not that
of how often each value was given. Intervals leave out one item, and one worker, at a time and add both variances, as
Gwet's unconditional variance does; Student's t with as many degrees of freedom as `inference` says.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from surveys.protocols.criteria import Criterion
from surveys.results.frames.base import Frame, column, only, scored
from surveys.results.statistics.inference import (
    NOTHING,
    Effect,
    Interval,
    Ratings,
    Support,
    freedom_of,
    interval_on_scale,
    support_of,
)
from surveys.results.statistics.numbering import Codes, known_people, numbered

Level = Literal["nominal", "ordinal", "interval"]
Table = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Within:
    """How far people agree with themselves, where they rated the same output more than once.

    `percent` is the share of equal pairs, over `repeats`, a worker on an item each; `workers` gave them.
    """

    percent: float
    percent_interval: Interval | None
    ac2: float | None
    repeats: int
    workers: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement on one criterion about one system's outputs, over items with two ratings or more.

    `ac2` has quadratic weights; how often each value was given, of which it takes its chance, counts items with one
    rating too. `percent` is the share of pairs of raters of one item who said the same, in [0, 1], averaged over items.
    Raters are different people: of somebody's ratings of one item the first counts, the others in `within` alone.
    """

    system: str
    criterion: str
    alpha: float | None
    percent: float | None
    items: int
    ratings: int
    ac2: float | None = None
    alpha_interval: Interval | None = None
    ac2_interval: Interval | None = None
    within: Within | None = None


def agreements(frame: Frame) -> tuple[Agreement, ...]:
    """Return the agreement of the kept answers, one entry per system and scale about its outputs."""
    scales = [criterion for criterion in frame.definition.output_criteria if criterion.is_scale]
    if not scales:
        return ()
    names = [column(system, criterion.key) for criterion in scales for system in frame.systems]
    kept, repeats = _narrow(frame.kept, frame.kept_repeats, names)
    return tuple(
        agreement(kept, system=system, criterion=criterion, repeats=repeats)
        for criterion in scales
        for system in frame.systems
    )


def _narrow(kept: pd.DataFrame, repeats: pd.DataFrame, names: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the columns that agreement looks at, items and workers as numbers: quicker to group than names."""
    chosen = ["item_id", "worker", *(name for name in names if name in kept)]
    rows = kept[chosen] if repeats.empty else pd.concat([kept[chosen], repeats[chosen]], ignore_index=True)
    numbered = {name: _numbered(rows[name]) for name in ("item_id", "worker")}
    rows = rows.assign(**numbered)
    return rows.iloc[: len(kept)], rows.iloc[len(kept) :]


def _numbered(labels: "pd.Series[str]") -> Table:
    codes = pd.factorize(labels, sort=True)[0]
    return np.where(codes >= 0, codes.astype("float64"), np.nan)


def agreement(
    rows: pd.DataFrame, *, system: str, criterion: Criterion, repeats: pd.DataFrame | None = None
) -> Agreement:
    """Return the ordinal agreement of `rows`; the scale's order is that of its scores.

    `repeats` are rows that count within raters alone.
    """
    name = column(system, criterion.key)
    again = rows if repeats is None or repeats.empty else pd.concat([rows, repeats], ignore_index=True)
    within = within_raters(again, name=name, values=_ordered(criterion)) if name in rows else None
    rows = firsts(rows, name=name) if within else rows
    table = count_table(rows, name=name, values=_ordered(criterion)) if name in rows else _nothing(criterion)
    paired = table[table.sum(axis=1) >= 2]
    alpha, ac2 = _effects(rows, name=name, values=_ordered(criterion)) if len(paired) else (None, None)
    return Agreement(
        system=system,
        criterion=criterion.key,
        alpha=krippendorff_alpha(paired, level="ordinal"),
        percent=percent_agreement(paired),
        items=len(paired),
        ratings=int(paired.sum()),
        ac2=gwet_ac2(table),
        alpha_interval=_bounded(alpha),
        ac2_interval=_bounded(ac2),
        within=within,
    )


def firsts(rows: pd.DataFrame, *, name: str) -> pd.DataFrame:
    """Return `rows` with the first rating of each worker on each item; all of those whose worker is unknown."""
    given = only(rows, rows[name].notna())
    return only(given, ~given.duplicated(["item_id", "worker"]) | given["worker"].isna())


def within_raters(rows: pd.DataFrame, *, name: str, values: list[str]) -> Within | None:
    """Return how far people agree with themselves; None where nobody rated anything twice."""
    given = only(rows, rows[name].notna() & rows["worker"].notna())
    given = given[given.duplicated(["item_id", "worker"], keep=False)]
    if given.empty:
        return None
    units = given.groupby(["item_id", "worker"], sort=False).ngroup().rename("item_id")
    table = count_table(pd.DataFrame({"item_id": units, name: given[name]}), name=name, values=values)
    sizes = table.sum(axis=1)
    same = (table * (table - 1)).sum(axis=1) / (sizes * (sizes - 1))
    first = given.assign(unit=units).drop_duplicates("unit").sort_values("unit")
    labels = {name: pd.factorize(first[name])[0] for name in ("item_id", "worker")}
    ratings = Ratings(same, labels["item_id"], labels["worker"])
    return Within(
        percent=float(np.sort(same).mean()),
        percent_interval=interval_on_scale(ratings, low=0.0, high=1.0),
        ac2=gwet_ac2(table),
        repeats=len(table),
        workers=int(given["worker"].nunique()),
    )


def count_table(rows: pd.DataFrame, *, name: str, values: list[str]) -> Table:
    """Return counts of shape (items, values): how many raters gave an item each value."""
    given = only(rows, rows[name].notna())
    if given.empty:
        return np.zeros((0, len(values)))
    items, names = pd.factorize(given["item_id"], sort=True)
    said = _codes(given[name], values)
    is_known = said >= 0
    counts = np.zeros((len(names), len(values)))
    np.add.at(counts, (items[is_known], said[is_known]), 1)
    return counts


def _codes(said: "pd.Series[str]", values: list[str]) -> Codes:
    """Return the place of each value among `values`, -1 where it is none of them."""
    places = {value: float(place) for place, value in enumerate(values)}
    return np.asarray(scored(said, by=places).fillna(-1), dtype="intp")


def krippendorff_alpha(counts: Table, *, level: Level = "ordinal") -> float | None:
    """Return alpha of counts of shape (units, values), values in the order of the scale.

    None where it is undefined: no unit has two ratings, or all ratings are the same.
    """
    counts = counts[counts.sum(axis=1) >= 2]
    sizes = counts.sum(axis=1)
    pairs = counts.T @ (counts / (sizes - 1)[:, None])  # of two equal values too many: they are 0 apart
    totals = counts.sum(axis=0)
    distance = _squared_distance(totals, level=level)
    expected = float((np.outer(totals, totals) * distance).sum())
    if expected == 0:
        return None
    return 1 - (float(totals.sum()) - 1) * float((pairs * distance).sum()) / expected


def percent_agreement(counts: Table) -> float | None:
    """Return the mean over units of the share of pairs of ratings that are the same; None without pairs."""
    sizes = counts.sum(axis=1)
    counts, sizes = counts[sizes >= 2], sizes[sizes >= 2]
    if not len(counts):
        return None
    same = (counts * (counts - 1)).sum(axis=1) / (sizes * (sizes - 1))
    return float(same.mean())


def gwet_ac2(counts: Table) -> float | None:
    """Return AC2 with quadratic weights of counts of shape (units, values); None where no unit has two ratings.

    Agreement is that of units with two ratings or more, the prevalence of values that of all units rated at all: Gwet's
    handbook, 4th edition, chapter 2, on missing ratings; so does irrCAC.
    """
    value = float(_ac2(_sums_of(counts)))
    return None if math.isnan(value) else value


@dataclass(frozen=True, slots=True)
class _Sums:
    """What both coefficients are made of, added up over units: any number of leading axes.

    `pairs` (.., values, values) are Krippendorff's coincidences, `shares` (.., values) each unit's shares of values,
    `rated` (..) how many have a rating, `units` (..) how many have two or more; `weighted` (..) are the weighted shares
    of equal pairs of those.
    """

    pairs: Table
    shares: Table
    weighted: Table
    rated: Table
    units: Table

    def of(self, units: Codes) -> "_Sums":
        return _Sums(*(getattr(self, field.name)[units] for field in fields(self)))

    def times(self, counts: Table) -> "_Sums":
        """Return the sums over units, the first axis, each taken as often as `counts`, shape (.., units), says."""
        return _Sums(*(np.tensordot(counts, getattr(self, field.name), axes=1) for field in fields(self)))

    def plus(self, other: "_Sums") -> "_Sums":
        return _Sums(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    def minus(self, other: "_Sums") -> "_Sums":
        return _Sums(*(getattr(self, field.name) - getattr(other, field.name) for field in fields(self)))


def _parts_of(counts: Table) -> _Sums:
    sizes = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    pairs = pairs / np.maximum(sizes - 1, 1)[:, None, None]
    shares = counts / np.maximum(sizes, 1)[:, None]
    weighted = (pairs * _weights(counts.shape[1])).sum(axis=(1, 2)) / np.maximum(sizes, 1)
    return _Sums(pairs, shares, weighted, *((sizes >= least).astype("float64") for least in (1, 2)))


def _sums_of(counts: Table) -> _Sums:
    kinds, _, times = _kinds(counts)
    return _parts_of(kinds).times(times)


def _kinds(rows: Table) -> tuple[Table, Codes, Table]:
    """Return the different rows of counts, which of them each row is, and how often each comes up.

    Of thousands of items that a few people rate on a few values, a hundred or two are rated differently.
    """
    codes = np.zeros(len(rows), "intp")
    for cells in rows.T if len(rows) else ():
        codes = numbered(codes * (int(cells.max()) + 1) + cells.astype("intp"))[1]
    times = np.bincount(codes).astype("float64")
    one = np.zeros(len(times), "intp")
    one[codes] = np.arange(len(rows))
    return rows[one], codes, times


def _weights(n: int) -> Table:
    """Return Gwet's quadratic weights: 1 less the square of how far two values lie apart, of the whole scale."""
    apart = np.subtract.outer(np.arange(n), np.arange(n)) / max(n - 1, 1)
    return np.asarray(1 - apart**2, dtype=np.float64)


def _ac2(sums: _Sums) -> Table:
    n = sums.shares.shape[-1]
    with np.errstate(all="ignore"):
        shares = sums.shares / sums.rated[..., None]
        chance = _weights(n).sum() / (n * (n - 1)) * (shares * (1 - shares)).sum(axis=-1)
        return np.asarray((sums.weighted / sums.units - chance) / (1 - chance))


def _alpha(sums: _Sums) -> Table:
    totals = sums.pairs.sum(axis=-1)
    middles = np.cumsum(totals, axis=-1) - totals / 2
    distance = (middles[..., :, None] - middles[..., None, :]) ** 2
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-1, -2))
    with np.errstate(all="ignore"):
        observed = (sums.pairs * distance).sum(axis=(-1, -2))
        return np.asarray(1 - (totals.sum(axis=-1) - 1) * observed / expected)


def _effects(rows: pd.DataFrame, *, name: str, values: list[str]) -> tuple[Effect | None, Effect | None]:
    """Return alpha and AC2 with their errors; None where leaving somebody out leaves nothing to compute, or changes
    nothing: that no spread was seen does not say that there is none.
    """
    given = only(rows, rows[name].notna())
    items, workers = pd.factorize(given["item_id"])[0], pd.factorize(given["worker"])[0]
    said = _codes(given[name], values)
    table = _counted(items, said, shape=(int(items.max()) + 1, len(values)))
    return _jackknifed(table, items, workers, said)


def _jackknifed(
    table: Table, items: Codes, workers: Codes, said: Codes
) -> tuple[Effect | None, Effect | None]:
    """Leave out each item, and each worker from the items of theirs; what is alike is computed once."""
    kinds, kind_of, times = _kinds(table)
    parts = _parts_of(kinds)
    whole = parts.times(times)
    left = [(whole.minus(parts), times)]
    width = int(workers.max()) + 2  # one more for whoever is unknown
    known = known_people(workers, unknown=width - 1)
    if known is not None:
        keys, cells = numbered(items * width + known)
        own = _counted(cells, said, shape=(len(keys), table.shape[1]))
        of_items, of_workers = keys // width, keys % width
        ways, way_of, _ = _kinds(np.column_stack([kind_of[of_items], own]))
        before = ways[:, 0].astype("intp")
        changes = _parts_of(kinds[before] - ways[:, 1:]).minus(parts.of(before))
        people, place_of = numbered(of_workers)
        n_ways = _counted(place_of, way_of, shape=(len(people), len(ways)))
        left.append((whole.plus(changes.times(n_ways)), np.ones(len(people))))
    sizes = table.sum(axis=1)
    support = support_of(int((sizes >= 2).sum()), None if known is None else known[sizes[items] >= 2])
    return _effect(_alpha, whole, left, support), _effect(_ac2, whole, left, support)


def _counted(rows: Codes, columns: Codes, *, shape: tuple[int, int]) -> Table:
    """Return how often each (row, column) comes up."""
    counts = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype("float64")


def _effect(
    coefficient: Callable[[_Sums], Table], whole: _Sums, left: list[tuple[_Sums, Table]], support: Support
) -> Effect | None:
    value = float(coefficient(whole))
    shifts = [(coefficient(sums) - value, times, float(times.sum())) for sums, times in left]
    if not math.isfinite(value) or not all(np.isfinite(part).all() and n > 1 for part, _, n in shifts):
        return None
    variance = sum((n - 1) / n * float(np.sort(times * part**2).sum()) for part, times, n in shifts)
    return Effect(value, math.sqrt(variance), freedom_of(support), support) if variance > NOTHING else None


def _bounded(effect: Effect | None) -> Interval | None:
    interval = effect.interval() if effect else None
    return interval and interval.within(-1.0, 1.0)


def _squared_distance(totals: npt.NDArray[np.float64], *, level: Level) -> Table:
    n = len(totals)
    if level == "nominal":
        return 1 - np.eye(n)
    if level == "interval":
        return np.subtract.outer(np.arange(n), np.arange(n)) ** 2.0
    middles = np.cumsum(totals) - totals / 2
    return np.subtract.outer(middles, middles) ** 2.0


def _ordered(criterion: Criterion) -> list[str]:
    return [choice.value for choice in sorted(criterion.choices, key=lambda choice: choice.score or 0.0)]


def _nothing(criterion: Criterion) -> Table:
    return np.zeros((0, len(criterion.values)))
