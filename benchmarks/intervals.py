"""Do intervals near the end of a scale hold the true value, and F1's, and what do other numbers of results come to?

Run `python benchmarks/intervals.py [--runs 400] [--seed 1]`. Simulated studies, five items a HIT, in which a few people
do most of the work (as in `inference.py`), and numbers whose true value is known:

* `share`, `mean`: the interval of a rare answer's share, and of a mean near the end of its scale; beside it how often
  the plain interval, cut off at the scale's ends, would have held it;
* `f1`: the interval of F1 of marked spans, by people who find different parts of what is there;
* `quality`: two systems .3 apart on a latent scale, rated by people some of whom say anything, or always the same: how
  far the plain difference of means is from the true one, that by worker quality, and that by Dawid and Skene's expected
  scores;
* `systems`: how often the interval of a correlation over systems leaves out 0 where a metric knows nothing of them.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django

django.setup()

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from scipy.special import ndtr, ndtri  # noqa: E402

from benchmarks.inference import ITEM, ITEM_SYSTEM, NOISE, PER_HIT, RATERS, WORKER, Cell, raters  # noqa: E402
from surveys.protocols.criteria import Choice, Spans  # noqa: E402
from surveys.protocols.spans import Mark  # noqa: E402
from surveys.results.statistics.correlation import correlations  # noqa: E402
from surveys.results.statistics.criteria import coded  # noqa: E402
from surveys.results.statistics.inference import Ratings, interval_on_scale, mean_effect  # noqa: E402
from surveys.results.statistics.spans import SpanAgreement, _agreement  # noqa: E402
from surveys.results.statistics.worker_quality import dawid_skene, deserved  # noqa: E402

SPREAD = float(np.sqrt(ITEM**2 + WORKER**2 + ITEM_SYSTEM**2 + NOISE**2))
# Upper ends of latent values in standard deviations, and the scores they are cut into.
ENDS = {
    "share .02": ([ndtri(0.98)], [0.0, 1.0]),
    "share .05": ([ndtri(0.95)], [0.0, 1.0]),
    "share .30": ([ndtri(0.7)], [0.0, 1.0]),
    "mean .95 of 0-1": ([ndtri(p) for p in (0.02, 0.04, 0.1)], [0.0, 1 / 3, 2 / 3, 1.0]),
    "mean 4.70 of 1-5": ([ndtri(p) for p in (0.01, 0.03, 0.06, 0.2)], [1.0, 2.0, 3.0, 4.0, 5.0]),
}
TEXT, FOUND = 60, 0.15  # characters, and how likely a place of a text is to have an error
FEW = (Choice("minor", "Minor", 1.0), Choice("major", "Major", 5.0))


def placed(rng: np.random.Generator, *, items: int, workers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return items and workers of each rating, RATERS to an item."""
    hit = np.arange(items) // PER_HIT
    who = raters(rng, Cell("single", items, workers, 0.0), hits=int(hit[-1]) + 1)
    return np.repeat(np.arange(items), RATERS), who[hit].ravel()


def latent(rng: np.random.Generator, items: np.ndarray, workers: np.ndarray) -> np.ndarray:
    of_item = rng.normal(0, np.hypot(ITEM, ITEM_SYSTEM), items.max() + 1)
    of_worker = rng.normal(0, WORKER, workers.max() + 1)
    return of_item[items] + of_worker[workers] + rng.normal(0, NOISE, len(items))


def ends(rng: np.random.Generator, name: str, *, items: int, workers: int) -> tuple[bool, bool]:
    """Return of one study whether the interval holds the true mean, and whether a cut one would."""
    cuts, scores = ENDS[name]
    chances = np.diff([0.0, *(float(ndtr(cut)) for cut in cuts), 1.0])
    true, low, high = float(chances @ scores), min(scores), max(scores)
    places, who = placed(rng, items=items, workers=workers)
    values = np.array(scores)[np.searchsorted(np.array(cuts) * SPREAD, latent(rng, places, who))]
    ratings = Ratings(values, places, who)
    found, effect = interval_on_scale(ratings, low=low, high=high), mean_effect(ratings)
    plain = (effect and effect.interval()) or found
    cut = plain.within(low, high)
    return found.low <= true <= found.high, cut.low <= true <= cut.high


def marked(rng: np.random.Generator, *, items: int, workers: int, raters_each: int = 3) -> SpanAgreement:
    """Return the agreement of people who find each error with a chance of their own, and grade it as they see it."""
    finds = rng.beta(4, 3, workers)
    rows = []
    for item in range(items):
        starts = np.flatnonzero(rng.random(TEXT // 10) < FOUND) * 10
        grades = rng.integers(2, size=len(starts))
        for who in rng.permutation(workers)[:raters_each]:
            seen = rng.random(len(starts)) < finds[who]
            same = rng.random(len(starts)) < 0.8
            marks = tuple(
                Mark(FEW[grade if keeps else 1 - grade].value, start=int(start), end=int(start) + 8)
                for start, grade, keeps in zip(starts[seen], grades[seen], same[seen], strict=True)
            )
            rows.append((item, who, marks))
    table = pd.DataFrame(rows, columns=["item_id", "worker", "marks"])
    texts = pd.Series(["x" * TEXT] * len(table))
    return _agreement(table["marks"], texts, coded(table), Spans(FEW))


def quality(
    rng: np.random.Generator, *, items: int, workers: int, idle: float, says: str
) -> tuple[float, ...]:
    """Return how far differences of two systems are from the true one: plain, by worker quality, Dawid and Skene's."""
    cuts, scores = np.array([-1.6, -0.7, 0.1, 0.9]), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    is_idle = rng.random(workers) < idle
    places, who = placed(rng, items=items, workers=workers)
    shared = rng.normal(0, ITEM, items)[places] + rng.normal(0, WORKER, workers)[who]
    given, true = [], []
    for apart in (0.0, 0.3):
        values = (
            shared + apart + rng.normal(0, ITEM_SYSTEM, items)[places] + rng.normal(0, NOISE, len(places))
        )
        same = (
            rng.integers(5, size=len(values)) if says == "anything" else np.full(len(values), int(says) - 1)
        )
        given.append(np.where(is_idle[who], same, np.searchsorted(cuts, values)))
        chances = np.diff([0.0, *(ndtr((cut - apart) / SPREAD) for cut in cuts), 1.0])
        true.append(float(chances @ scores))
    units, people = (
        np.concatenate([places, places + items]),
        np.unique(np.tile(who, 2), return_inverse=True)[1],
    )
    labels = np.concatenate(given)
    means = (
        np.bincount(units, weights=scores[labels]) / np.bincount(units),
        deserved(units, people, scores[labels]),
        dawid_skene(units, people, labels, n_labels=len(scores)) @ scores,
    )
    return tuple(float(of[items:].mean() - of[:items].mean() - (true[1] - true[0])) for of in means)


def over_systems(rng: np.random.Generator, *, systems: int, items: int = 50) -> float:
    """Return whether a metric that knows nothing of systems has an interval of Pearson's r without 0."""
    names = np.repeat([f"s{n}" for n in range(systems)], items)
    index = np.tile([f"i{n}" for n in range(items)], systems)
    worth = np.repeat(rng.normal(0, 0.5, systems), items) + rng.normal(0, 1, systems * items)
    metric = np.repeat(rng.normal(0, 0.5, systems), items) + rng.normal(0, 1, systems * items)
    ratings = pd.DataFrame({"system": names, "item_id": index, "criterion": "worth", "score": worth})
    scores = pd.DataFrame({"system": names, "item_id": index, "metric": "m", "value": metric})
    found = next(one for one in correlations(ratings, scores) if one.level == "system").pearson
    return float(found is not None and found.low is not None and not found.low <= 0 <= found.high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, runs = np.random.default_rng(options.seed), range(options.runs)
    print("what               items workers   held  cut off")
    for name in ENDS:
        for items, workers in ((100, 12), (300, 12), (100, 40), (300, 40)):
            held, cut = np.mean([ends(rng, name, items=items, workers=workers) for _ in runs], axis=0)
            print(f"{name:<18} {items:5d} {workers:7d}  {held:5.3f}    {cut:5.3f}", flush=True)
    print("\nF1                 items workers   held")
    for items, workers in ((50, 3), (50, 6), (100, 20)):
        # The expected F1 of two people is a constant of the model: many people on many items tell it.
        true = np.mean([marked(rng, items=400, workers=400).f1 for _ in range(max(options.runs // 20, 1))])
        found = [marked(rng, items=items, workers=workers).f1_interval for _ in runs]
        held = np.mean([one is not None and one.low <= true <= one.high for one in found])
        print(f"{'':<18} {items:5d} {workers:7d}  {held:5.3f}", flush=True)
    print("\nroot mean square of the error of a difference: plain, by worker quality, Dawid and Skene")
    for items, workers in ((100, 12), (300, 40)):
        for idle, says in ((0.0, "anything"), (0.2, "anything"), (0.33, "anything"), (0.2, "3"), (0.2, "5")):
            errors = [quality(rng, items=items, workers=workers, idle=idle, says=says) for _ in runs]
            shown = "  ".join(f"{value:.3f}" for value in np.sqrt((np.array(errors) ** 2).mean(axis=0)))
            print(f"{items:5d} items, {workers} people, {idle:.0%} of whom say {says}: {shown}", flush=True)
    print("\nPearson's interval over systems without 0, of a metric that knows nothing")
    for systems in (3, 5, 8):
        print(
            f"{systems} systems: {np.mean([over_systems(rng, systems=systems) for _ in runs]):.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
