"""Do daggers keep their promise? Studies in which no system is better, through the path of `evaluate_results`.

Run `python benchmarks/inference.py [--runs 400] [--seed 1] [--workers 12 20] [--fast]`. Each study has items and
workers that differ (crossed random effects), workers who like one system more than the rest do (worker x system), items
that suit one system (item x system), a few workers who do most of the work, five raters an item and five items a HIT.
Two shapes: `pair`, both systems side by side in one response, four answers, as e-ViL; `single`, each output an item of
its own, five answers, as XAI and VTT.

Printed for each cell: how often the difference has a dagger (promised: .05), how often its interval holds the true
difference of 0 (promised: .95), how often dagger and interval contradict each other, how often the interval of one
system's mean holds the true mean, the mean of the effective number of workers (of the side that has fewer), and how
often the same studies have a dagger by the paired t test on item means that stood here before; of pairs also how often
the preference has one, and any option of the checklist. At 400 runs a rate of
.05 has a standard error of .011. The spreads of the worker x system effect, .25 and .35 of the latent noise, are those
of six published e-ViL batches (OFA-X, https://github.com/ofa-x/OFA-X).

With `--fast` the same studies are drawn, and only the test of the difference is made, without a frame around it: ten
times as many studies in the time, for rates that are to be told apart from .05. Daggers, intervals without 0 and the
standard error of both are printed.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django

django.setup()

import numpy as np  # noqa: E402
from scipy import stats  # noqa: E402

from surveys.protocols.registry import get_definition  # noqa: E402
from surveys.results.frames.base import (  # noqa: E402
    NO_PREFERENCE,
    NOT_SELECTED,
    OTHER,
    PREFERRED,
    SELECTED,
    Frame,
    build_frame,
    column,
)
from surveys.results.statistics.choices import choices  # noqa: E402
from surveys.results.statistics.comparison import compare  # noqa: E402
from surveys.results.statistics.criteria import criterion_summaries, scores_of  # noqa: E402
from surveys.results.statistics.inference import ALPHA, Ratings, difference_effect  # noqa: E402

RATERS, PER_HIT = 5, 5
ITEM, WORKER, ITEM_SYSTEM, NOISE = 0.5, 0.5, 0.3, 1.0
TAIL = 1.0  # of the Pareto distribution of how much a worker does
SHAPES = {"pair": ("evil-vqax", "justifies", "ground_truth"), "single": ("xai", "overall_quality", "other")}
TIE, LOW = (
    0.5,
    -1.2,
)  # of the latent difference, and of the latent value: what is a tie, and what has a shortcoming
CUTS = {4: (-1.5, -0.7, 0.0), 5: (-1.6, -0.7, 0.1, 0.9)}


@dataclass(frozen=True)
class Cell:
    """One kind of study. `spread` is the standard deviation of the worker x system effect."""

    shape: str
    items: int
    workers: int
    spread: float


def cells(workers: list[int]) -> Iterator[Cell]:
    for n in workers:
        for items in (100, 300):
            for spread in (0.0, 0.25, 0.35):
                for shape in SHAPES:
                    yield Cell(shape, items, n, spread)


def raters(rng: np.random.Generator, cell: Cell, *, hits: int) -> np.ndarray:
    """Return who rates each HIT, shape (hits, RATERS): different people, the busy ones often."""
    weights = rng.pareto(TAIL, size=cell.workers) + 0.2
    keys = rng.exponential(size=(hits, cell.workers)) / weights
    return np.argsort(keys, axis=1)[:, :RATERS]


def study(rng: np.random.Generator, cell: Cell) -> Frame:
    """Return a study of two systems of which neither is better."""
    key, criterion, other = SHAPES[cell.shape]
    definition = get_definition(key)
    choices = sorted((c for c in definition.criterion(criterion).choices), key=lambda c: c.score or 0)
    values = np.array([choice.value for choice in choices])
    drawn = drawn_sides(rng, cell)
    sides = [(who, items, values[np.searchsorted(CUTS[len(values)], latent)]) for who, items, latent in drawn]
    is_pair = cell.shape == "pair"
    chosen = choice_columns(*(latent for *_, latent in drawn), systems=("model", other)) if is_pair else {}
    return framed(definition, criterion, ("model", other), sides, is_pair=is_pair, more=chosen)


def drawn_sides(rng: np.random.Generator, cell: Cell) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return workers, items and latent values of the ratings of each of two systems."""
    is_pair = cell.shape == "pair"
    item, hit = np.arange(cell.items), np.arange(cell.items) // PER_HIT
    sides = []
    shared = raters(rng, cell, hits=hit[-1] + 1)
    of_item = rng.normal(0, ITEM, cell.items)
    of_worker = rng.normal(0, WORKER, cell.workers)
    for _ in range(2):
        who = shared if is_pair else raters(rng, cell, hits=hit[-1] + 1)
        worker, place = who[hit].ravel(), np.repeat(item, RATERS)
        latent = (
            of_item[place]
            + of_worker[worker]
            + rng.normal(0, cell.spread, cell.workers)[worker]
            + rng.normal(0, ITEM_SYSTEM, cell.items)[place]
            + rng.normal(0, NOISE, len(place))
        )
        sides.append((worker, place, latent))
    return sides


def choice_columns(
    ours: np.ndarray, theirs: np.ndarray, *, systems: tuple[str, str]
) -> dict[str, np.ndarray]:
    """Return what is preferred, by the latent values, a tie where they are close, and ticked where they are low."""
    columns = {}
    for system, own, beside in zip(systems, (ours, theirs), (theirs, ours), strict=True):
        apart = own - beside
        better = np.where(apart > TIE, PREFERRED, np.where(apart < -TIE, OTHER, NO_PREFERENCE))
        columns[column(system, "preference")] = better
        columns[column(system, "shortcomings.confusing_sentence")] = np.where(
            own < LOW, SELECTED, NOT_SELECTED
        )
    return columns


def framed(definition, criterion, systems, sides, *, is_pair, more) -> Frame:
    """Put two sides into a frame: as columns of one row, or as rows that hold one side each."""
    (worker, item, ours), (worker2, item2, theirs) = sides
    blank = np.full(len(ours), None, dtype=object)
    outputs, rest = {}, [] if is_pair else [blank]
    if not is_pair:
        worker, item = np.concatenate([worker, worker2]), np.concatenate([item, item2])
    for place, (system, said) in enumerate(zip(systems, (ours, theirs), strict=True)):
        parts = [said.astype(object), *rest][:: -1 if place else 1]
        full = np.concatenate(parts)
        outputs[column(system, criterion)] = full
        outputs[column(system, "text")] = np.where(full == None, None, "text")  # noqa: E711
    n = len(item)
    responses = {
        "study": ["s"] * n,
        "assignment_id": [f"a{k}" for k in range(n)],
        "worker": [f"w{k}" for k in worker],
        "item_id": [f"i{k}" for k in item],
        "position": [1] * n,
        "is_skipped": [False] * n,
        "status": ["Submitted"] * n,
        "included": [True] * n,
    }
    return build_frame(definition=definition, systems=systems, responses=responses, outputs=outputs | more)


def true_mean(cell: Cell, *, draws: int = 1_000_000) -> float:
    """Return the expected score of a rating by a random worker of a random item."""
    key, criterion, _ = SHAPES[cell.shape]
    scores = np.array(sorted(c.score for c in get_definition(key).criterion(criterion).choices))
    spread = np.sqrt(ITEM**2 + WORKER**2 + cell.spread**2 + ITEM_SYSTEM**2 + NOISE**2)
    latent = np.random.default_rng(0).normal(0, spread, draws)
    return float(scores[np.searchsorted(CUTS[len(scores)], latent)].mean())


def by_item(frame: Frame, *, criterion: str, systems: tuple[str, str]) -> float:
    """Return the p value of the paired t test on item means, which takes items alone as drawn."""
    means = [
        scores_of(frame, frame.kept, system=s, key=criterion).groupby(frame.kept["item_id"]).mean()
        for s in systems
    ]
    return float(stats.ttest_rel(*means).pvalue)


def look(cell: Cell, frame: Frame, mean: float) -> tuple[float, ...]:
    """Return what one study says: dagger, covered, contradiction, mean covered, effective workers, dagger by item.

    Then, of a pair, whether the preference has a dagger, and whether any option that was ticked has one.
    """
    _, criterion, other = SHAPES[cell.shape]
    comparison = compare(frame, against=other)
    dagger = comparison.estimates["model"][criterion].dagger
    found = next(d for d in comparison.differences if d.criterion == criterion)
    low, high = (found.interval.low, found.interval.high) if found.interval else (-9.0, 9.0)
    about = [frame.definition.criterion(criterion)]
    rows = frame.about(frame.kept, system="model")
    own = criterion_summaries(frame, rows, system="model", criteria=about)[0].interval
    is_in = low <= 0 <= high
    number = found.interval.support.effective if found.interval else np.nan
    before = by_item(frame, criterion=criterion, systems=frame.systems) < ALPHA
    chosen = choices(frame, against=other)
    preferred, ticked = (
        any(one.dagger for one in family) if family else np.nan
        for family in (chosen.preferred, chosen.ticked)
    )
    is_own = own.low <= mean <= own.high
    return (
        float(dagger),
        float(is_in),
        float(dagger == is_in),
        float(is_own),
        number,
        float(before),
        preferred,
        ticked,
    )


def glance(rng: np.random.Generator, cell: Cell) -> tuple[bool, bool]:
    """Return of one study whether the difference has a dagger, and whether its interval lacks 0."""
    key, criterion, _ = SHAPES[cell.shape]
    scores = np.array(sorted(c.score for c in get_definition(key).criterion(criterion).choices))
    sides = [
        Ratings(scores[np.searchsorted(CUTS[len(scores)], latent)], items, workers)
        for workers, items, latent in drawn_sides(rng, cell)
    ]
    effect = difference_effect(*sides)
    interval = effect.interval()
    return effect.p < ALPHA, not interval.low <= 0 <= interval.high


def fast(options: argparse.Namespace) -> None:
    print("shape   items workers spread  dagger  lack 0  standard error")
    for number, cell in enumerate(cells(options.workers)):
        rng = np.random.default_rng([options.seed, number])
        dagger, lacking = np.mean([glance(rng, cell) for _ in range(options.runs)], axis=0)
        error = np.sqrt(dagger * (1 - dagger) / options.runs)
        print(
            f"{cell.shape:<7} {cell.items:5d} {cell.workers:7d} {cell.spread:6.2f}  {dagger:6.4f}  {lacking:6.4f}"
            f" {error:15.4f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, nargs="+", default=[8, 12, 20, 40])
    parser.add_argument("--fast", action="store_true", help="the test of the difference alone")
    options = parser.parse_args()
    if options.fast:
        fast(options)
        return
    print(
        "shape   items workers spread  dagger covered contradict  mean covered  effective workers"
        "  by item  preferred  ticked"
    )
    for number, cell in enumerate(cells(options.workers)):
        rng = np.random.default_rng([options.seed, number])
        mean = true_mean(cell)
        rows = [look(cell, study(rng, cell), mean) for _ in range(options.runs)]
        found = np.array(rows, dtype=float)
        means = [
            column[~np.isnan(column)].mean() if not np.isnan(column).all() else np.nan for column in found.T
        ]
        dagger, covered, against, own, people, before, preferred, ticked = means
        print(
            f"{cell.shape:<7} {cell.items:5d} {cell.workers:7d} {cell.spread:6.2f}  {dagger:6.3f} {covered:7.3f}"
            f" {against:10.3f} {own:13.3f} {people:18.1f} {before:8.3f} {preferred:10.3f} {ticked:7.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
