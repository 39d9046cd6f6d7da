"""The table a paper prints: systems down, criteria across, a mean with its spread, and daggers."""

from dataclasses import dataclass

from surveys.pages.results.result_cells import NOTHING, Cell, number
from surveys.results.statistics.comparison import ALPHA, Comparison, Estimate
from surveys.results.statistics.numbers import CriterionSummary

DAGGER = "†"


@dataclass(frozen=True, slots=True)
class Standing:
    """One system's row. `is_against`: the others are compared with it."""

    system: str
    is_against: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Standings:
    criteria: tuple[str, ...]
    rows: tuple[Standing, ...]
    note: str


def standings(comparison: Comparison, *, criteria: tuple[CriterionSummary, ...]) -> Standings:
    """Lay out a comparison; `criteria` are its scales, in order. The note says what the daggers mean."""
    rows = tuple(
        Standing(system, system == comparison.against, tuple(_cell(of[c.key]) for c in criteria))
        for system, of in comparison.estimates.items()
    )
    is_alone = len(rows) < 2
    meaning = f"{DAGGER} differs from {comparison.against}, p < {ALPHA:g}. {comparison.method.name}"
    return Standings(tuple(c.label for c in criteria), rows, "" if is_alone else meaning)


def _cell(found: Estimate) -> Cell:
    if found.mean is None:
        return Cell(NOTHING, _counts(found))
    spread = "" if found.sd is None else f" ± {number(found.sd, places=2)}"
    mark = DAGGER if found.dagger else ""
    p = "" if found.p is None else f", {_probability(found.p)}"
    return Cell(f"{number(found.mean, places=2)}{mark}{spread}", f"{_counts(found)}{p}")


def _counts(found: Estimate) -> str:
    skipped = f", {found.skipped} skipped" if found.skipped else ""
    return f"n = {found.n}{skipped}"


def _probability(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
