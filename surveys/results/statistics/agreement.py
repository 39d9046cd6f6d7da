"""7: how far raters agree, per system and criterion.

Krippendorff's alpha after K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): 1 is perfect, 0 is
chance. It is low wherever nearly everybody says the same, so percent agreement stands beside it.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from surveys.protocols.definition import Criterion
from surveys.results.frames.base import Frame, column

Level = Literal["nominal", "ordinal", "interval"]
Table = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement on one criterion about one system's outputs, over items with two ratings or more.

    `percent` is the share of pairs of raters of one item who said the same, in [0, 1], averaged over items.
    """

    system: str
    criterion: str
    alpha: float | None
    percent: float | None
    items: int
    ratings: int


def agreements(frame: Frame) -> tuple[Agreement, ...]:
    """Return the agreement of the kept answers, one entry per system and scale about its outputs."""
    scales = [criterion for criterion in frame.definition.output_criteria if criterion.is_scale]
    return tuple(
        agreement(frame.kept, system=system, criterion=criterion)
        for criterion in scales
        for system in frame.systems
    )


def agreement(rows: pd.DataFrame, *, system: str, criterion: Criterion) -> Agreement:
    """Return the ordinal agreement of `rows`; the scale's order is that of its scores."""
    name = column(system, criterion.key)
    table = count_table(rows, name=name, values=_ordered(criterion)) if name in rows else _nothing(criterion)
    table = table[table.sum(axis=1) >= 2]
    return Agreement(
        system=system,
        criterion=criterion.key,
        alpha=krippendorff_alpha(table, level="ordinal"),
        percent=percent_agreement(table),
        items=len(table),
        ratings=int(table.sum()),
    )


def count_table(rows: pd.DataFrame, *, name: str, values: list[str]) -> Table:
    """Return counts of shape (items, values): how many raters gave an item each value."""
    given = rows[rows[name].notna()]
    if given.empty:
        return np.zeros((0, len(values)))
    counts = pd.crosstab(given["item_id"], given[name]).reindex(columns=values, fill_value=0)
    return counts.to_numpy(dtype="float64")


def krippendorff_alpha(counts: Table, *, level: Level = "ordinal") -> float | None:
    """Return alpha of counts of shape (units, values), values in the order of the scale.

    None where it is undefined: no unit has two ratings, or all ratings are the same.
    """
    counts = counts[counts.sum(axis=1) >= 2]
    sizes = counts.sum(axis=1)
    pairs = counts.T @ (counts / (sizes - 1)[:, None]) - np.diag((counts / (sizes - 1)[:, None]).sum(axis=0))
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
