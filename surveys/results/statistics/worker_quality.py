"""Worker quality as an analysis: what kept rows say once it is allowed for how each person rates.

Scales: the congeneric model (K. G. Jöreskog, "Statistical analysis of sets of congeneric tests", Psychometrika 36(2),
1971): a rating is how mild its person is, plus what its output deserves, times how far they follow that, plus noise.
Mildness is taken out first (Rec. ITU-T P.913 does so too); then a rating counts for as much as its person follows the
mean of everybody else on the same outputs, once: who is followed does not decide who is to be followed, or chance would
choose between two camps. Who says anything, or always the same, follows nothing. People rate few outputs, so both are
drawn to everybody's, as if each had rated some more.

Answers: A. P. Dawid & A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
Applied Statistics 28(1), 1979: each person says each value of a true one with a probability of their own, estimated
together with the truth. Answers that each item brings its own choices for have no such table in common: there a person
is right with one probability and else says any other answer seen on the item.

Nobody is left out, and nothing is drawn: it starts at the plain means, and at the shares of votes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt
import pandas as pd

from surveys.results.frames.base import Frame, column, only, score_maps
from surveys.results.statistics.criteria import values_of
from surveys.results.statistics.numbering import Codes, numbered
from surveys.results.statistics.numbers import Share

STEPS, FEWEST_STEPS = 500, 20
AT_MOST = 2_000_000  # ratings looked at in all steps together: large studies move little after the first ones
CLOSE = 1e-6  # no probability moves by more between two steps
DIGITS = 6  # of a mean: beyond, the order of rows would tell
# Ratings more that everybody counts as; in simulated studies half or twice as many come to the same.
MILDNESS_DRAWN, FOLLOWING_DRAWN = 5.0, 10.0
AGREED = 0.05  # of the variance of what people say; where less is shared, chance would say who follows
LEAST = 0.05  # of what a rating usually counts: an output rated by nobody else still has a score
SETTLED = 1e-9  # of a score: what is rounding
SMALLEST = 1e-10  # what nobody was seen to do is not impossible

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ByQuality:
    """Numbers of the kept rows, weighed by worker quality.

    `correct`: of how many items the likeliest answer is the right one, None where nothing is graded. `means`: {system:
    {criterion: mean over items of ratings without mildness, weighed by how far people follow the others}}; scales only.
    """

    correct: Share | None
    means: Mapping[str, Mapping[str, float]]


def by_quality(frame: Frame) -> ByQuality | None:
    """Return what the kept rows say by worker quality; None where it is not known who rated what."""
    rows = only(frame.kept, ~frame.kept["is_skipped"])
    if rows.empty or rows["worker"].isna().any():
        return None
    means: dict[str, dict[str, float]] = {system: {} for system in frame.systems}
    numbered = rows.assign(item_id=_codes(rows["item_id"]), worker=_codes(rows["worker"]))
    for criterion in frame.definition.output_criteria:
        if criterion.is_scale:
            for system, mean in _means(frame, numbered, key=criterion.key).items():
                means[system][criterion.key] = mean
    return ByQuality(_correct(frame, rows) if frame.is_graded else None, means)


def _means(frame: Frame, rows: pd.DataFrame, *, key: str) -> dict[str, float]:
    """Return each system's mean over items; people are as they are whatever system they rate.

    Items and workers are numbers here.
    """
    scores = score_maps(frame.definition)[key]
    systems, n_items = sorted(frame.systems), int(rows["item_id"].max()) + 1
    parts = [_given(rows, column(system, key), categories=list(scores)) for system in systems]
    pairs = [n * n_items + items for n, (items, *_) in enumerate(parts)]
    workers, labels = (np.concatenate([part[place] for part in parts]) for place in (1, 2))
    if not len(labels):
        return {}
    names, units = numbered(np.concatenate(pairs))
    people = numbered(workers)[1]
    given = np.array(list(scores.values()), "float64")[labels]
    of_units = deserved(units, people, given).clip(min(scores.values()), max(scores.values()))
    of_systems = pd.Series(of_units).groupby(names // n_items).mean()
    return {systems[int(str(n))]: round(float(mean), DIGITS) for n, mean in of_systems.items()}


def _given(rows: pd.DataFrame, name: str, *, categories: list[str]) -> tuple[Codes, Codes, Codes]:
    """Return items, workers and labels of the values given in a column."""
    labels = np.asarray(pd.Categorical(values_of(rows, name), categories=categories).codes, "intp")
    is_given = values_of(rows, name).notna().to_numpy()
    items, workers = (rows[column].to_numpy("intp")[is_given] for column in ("item_id", "worker"))
    return items, workers, labels[is_given]


def _correct(frame: Frame, rows: pd.DataFrame) -> Share | None:
    rows = rows[rows["answer"].notna() & rows["gold"].notna()]
    if rows.empty:
        return None
    items, workers = _codes(rows["item_id"]), _codes(rows["worker"])
    labels, names = pd.factorize(rows["answer"], sort=True)
    has_choices = frame.definition.answer is not None and bool(frame.definition.answer.choices)
    meant = (
        dawid_skene(items, workers, labels, n_labels=len(names)).argmax(axis=1)
        if has_choices
        else one_coin(items, workers, labels)
    )
    gold = rows["gold"].groupby(items).first().to_numpy()
    right = int((names.to_numpy()[meant] == gold).sum())
    return Share("correct", "Answer right", right, len(gold))


def _codes(labels: "pd.Series[str]") -> Codes:
    return np.asarray(pd.factorize(labels, sort=True)[0], "intp")


def deserved(units: Codes, workers: Codes, scores: Floats) -> Floats:
    """Return what each unit deserves by people who are not equally mild, and do not follow it alike, shape (units,).

    Takes one entry per rating, shape (n,): numbers from 0 of the unit and the worker, and the score. People who rated
    the same units and follow each other alike give the plain means.
    """
    alike = np.ones(int(workers.max()) + 1)
    follows = _followed(units, workers, scores - _mildness(units, workers, scores, alike)[workers])
    fair = scores - _mildness(units, workers, scores, follows)[workers]
    return _means_of(units, fair, follows[workers])


def _means_of(codes: Codes, values: Floats, weights: Floats) -> Floats:
    return np.asarray(np.bincount(codes, weights=weights * values) / np.bincount(codes, weights=weights))


def _mildness(units: Codes, workers: Codes, scores: Floats, weights: Floats) -> Floats:
    """Return how much higher each person rates than the others do on the same units; 0 on average of what counts.

    Least squares of scores less units' means less mildness, weighed, with MILDNESS_DRAWN ratings more at no mildness;
    by conjugate gradients (M. R. Hestenes & E. Stiefel, 1952), as people may be thousands.
    """
    counts = np.bincount(workers).astype("float64")
    own = weights[workers]

    def without_units(values: Floats) -> Floats:
        """Return each person's sum of values (one per rating), less their units' means."""
        left = own * (values - _means_of(units, values, own)[units])
        return np.bincount(workers, weights=left).astype("float64")

    found = np.zeros(len(counts))
    residual = without_units(scores)
    direction, square = residual, float(residual @ residual)
    for _ in range(STEPS):
        if square <= SETTLED**2 * max(float(counts @ counts), 1.0):
            break
        changed = without_units(direction[workers]) + MILDNESS_DRAWN * weights * direction
        step = square / float(direction @ changed)
        found, residual = found + step * direction, residual - step * changed
        before, square = square, float(residual @ residual)
        direction = residual + square / before * direction
    weighed = weights * counts
    return found - float((weighed * found).sum() / weighed.sum())


def _followed(units: Codes, workers: Codes, fair: Floats) -> Floats:
    """Return how far each person follows the others: their slope on the others' means, beside that of everybody."""
    n = int(workers.max()) + 1
    others = np.bincount(units)[units] - 1.0
    beside = (np.bincount(units, weights=fair)[units] - fair) / np.maximum(others, 1)
    rated = (others > 0).astype("float64")  # not a unit that nobody else has rated
    counts = np.maximum(np.bincount(workers, weights=rated), 1)
    own, theirs = (
        rated * (values - (np.bincount(workers, weights=rated * values) / counts)[workers])
        for values in (fair, beside)
    )
    varied, spread, freedom = float(own @ own), float(theirs @ theirs), float((counts - 1).sum())
    if min(varied, spread) <= SETTLED or not freedom:
        return np.ones(n)
    usual = max(float(own @ theirs), AGREED * varied) / spread
    common = FOLLOWING_DRAWN * spread / freedom
    together, apart = (np.bincount(workers, weights=values * theirs, minlength=n) for values in (own, theirs))
    slopes = (together + usual * common) / (apart + common)
    return np.maximum(slopes / usual, LEAST)


def dawid_skene(units: Codes, workers: Codes, labels: Codes, *, n_labels: int) -> Floats:
    """Return how probable each label is of each unit, shape (units, labels).

    Takes one entry per rating, shape (n,): numbers from 0 of the unit, the worker and the label that was given.
    """
    from scipy.sparse import csr_array

    n, n_workers = int(units.max()) + 1, int(workers.max()) + 1
    cells = csr_array(
        (np.ones(len(units)), (units, workers * n_labels + labels)), shape=(n, n_workers * n_labels)
    )
    votes = csr_array((np.ones(len(units)), (units, labels)), shape=(n, n_labels)).toarray()
    meant = votes / votes.sum(axis=1, keepdims=True)
    for _ in range(_steps(len(units))):
        said = np.maximum((cells.T @ meant).reshape(n_workers, n_labels, n_labels), SMALLEST)
        habits = np.log(said / said.sum(axis=1, keepdims=True)).reshape(-1, n_labels)
        new = _normalised(cells @ habits + np.log(np.maximum(meant.mean(axis=0), SMALLEST)))
        is_close = bool(np.abs(new - meant).max() < CLOSE)
        meant = new
        if is_close:
            break
    return np.asarray(meant)


def _steps(n: int) -> int:
    return max(min(STEPS, AT_MOST // n), FEWEST_STEPS)


def _normalised(logs: Floats) -> Floats:
    """Return probabilities of logarithms, row by row; there are few columns, and numpy is slow over a short axis."""
    shares = np.exp(logs - reduce(np.maximum, logs.T)[:, None])
    return np.asarray(shares / reduce(np.add, shares.T)[:, None])


def one_coin(items: Codes, workers: Codes, labels: Codes) -> Codes:
    """Return the likeliest label of each item when each worker is right with a probability of their own.

    Candidates are the labels seen on an item; wrong answers are any other of them, two at least being thought of.
    """
    width = int(labels.max()) + 1
    candidates, own = numbered(items * width + labels)
    of_item = candidates // width
    others = np.maximum(np.bincount(of_item), 2) - 1.0
    votes = np.bincount(own).astype("float64")
    meant = votes / np.bincount(items)[of_item]
    for _ in range(_steps(len(items))):
        n_right = np.bincount(workers, weights=meant[own])
        skill = np.clip(n_right / np.bincount(workers), SMALLEST, 1 - SMALLEST)
        gain = np.log(skill[workers]) - np.log((1 - skill[workers]) / others[items])
        new = _of_candidates(np.bincount(own, weights=gain).astype("float64"), of_item)
        is_close = bool(np.abs(new - meant).max() < CLOSE)
        meant = new
        if is_close:
            break
    order = np.lexsort((-meant, of_item))
    likeliest = candidates[order[np.unique(of_item[order], return_index=True)[1]]] % width
    return np.asarray(likeliest, "intp")


def _of_candidates(logs: Floats, of_item: Codes) -> Floats:
    starts = np.unique(of_item, return_index=True)[1]
    shares = np.exp(logs - np.maximum.reduceat(logs, starts)[of_item])
    return np.asarray(shares / np.bincount(of_item, weights=shares)[of_item])
