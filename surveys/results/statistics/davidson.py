"""Davidson's likelihood of comparisons with ties, and its maximum (see `strengths`)."""

import math
from dataclasses import dataclass

import numpy as np

from surveys.results.statistics.inference import Floats
from surveys.results.statistics.numbering import Codes

STEPS, NEAR, CLOSE = 200, 1e-10, 1e-13
WIN, TIE = 1.0, 0.5  # what a comparison gives the first of its two systems


@dataclass(frozen=True, slots=True)
class Compared:
    """Comparisons one by one, shape (n,): numbers of the two systems, what the first got, items and workers.

    `workers` is None where they are unknown.
    """

    first: Codes
    second: Codes
    won: Floats
    items: Codes
    workers: Codes | None


class Likelihood:
    """Davidson's log likelihood: slopes and curvature of each comparison, in the free parameters."""

    def __init__(self, found: Compared, n_systems: int) -> None:
        self.n_free = n_systems - 1
        self.has_ties = bool((found.won == TIE).any())
        n = len(found.won)
        design = np.zeros((n, n_systems))
        design[np.arange(n), found.first] += 1
        design[np.arange(n), found.second] -= 1
        self.design = design[:, : self.n_free]
        self.won, self.is_tie = found.won, (found.won == TIE).astype("float64")

    def start(self) -> Floats:
        return np.zeros(self.n_free + self.has_ties)

    def log(self, beta: Floats) -> float:
        """Return the logarithm of the likelihood."""
        half = self.design @ beta[: self.n_free] / 2
        v = float(beta[-1]) if self.has_ties else -math.inf
        whole = np.logaddexp(np.logaddexp(half, -half), v)
        chosen = np.where(self.is_tie == 1, v, (2 * self.won - 1) * half)
        return float((chosen - whole).sum())

    def slopes(self, beta: Floats) -> Floats:
        """Return the gradient of each comparison, shape (n, parameters)."""
        expected, tied = self._expected(beta)
        slopes = self.design * (self.won - expected)[:, None]
        return np.column_stack([slopes, self.is_tie - tied]) if self.has_ties else slopes

    def _curvatures(self, beta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return, of each comparison, the variance of what was won, of a tie, and their covariance."""
        expected, tied = self._expected(beta)
        wins = expected - tied / 2
        return wins + tied / 4 - expected**2, tied - tied**2, tied / 2 - expected * tied

    def information(self, beta: Floats, codes: Codes, n: int) -> Floats:
        """Return the information of each group of comparisons, shape (n, parameters, parameters)."""
        of_won, of_tie, of_both = self._curvatures(beta)
        free = np.zeros((len(self.design), 1 if self.has_ties else 0))
        rows = np.column_stack([self.design, free])
        outer = (rows * of_won[:, None])[:, :, None] * rows[:, None, :]
        if self.has_ties:
            outer[:, -1, -1] = of_tie
            outer[:, :-1, -1] = outer[:, -1, :-1] = self.design * of_both[:, None]
        flat = outer.reshape(len(rows), -1)
        return summed(flat, codes, n).reshape(n, rows.shape[1], rows.shape[1])

    def _expected(self, beta: Floats) -> tuple[Floats, Floats]:
        """Return what the first of two systems is expected to get, and the chance of a tie."""
        half = self.design @ beta[: self.n_free] / 2
        v = math.exp(beta[-1]) if self.has_ties else 0.0
        top = np.abs(half)  # so that no exponential is too large
        ours, theirs, tie = np.exp(half - top), np.exp(-half - top), v * np.exp(-top)
        whole = ours + theirs + tie
        return (ours + tie / 2) / whole, tie / whole


def summed(values: Floats, codes: Codes, n: int) -> Floats:
    """Return the sum of the rows of each group, shape (n, columns)."""
    sums = np.zeros((n, values.shape[1]))
    np.add.at(sums, codes, values)
    return sums


def estimate(likelihood: Likelihood) -> Floats | None:
    """Return the maximum, by Newton's method with halved steps where one goes too far; the function is concave.

    None where what was compared is so one-sided that numbers of this length don't tell it.
    """
    beta = likelihood.start()
    alone = np.zeros(len(likelihood.won), "intp")
    for _ in range(STEPS):
        information = likelihood.information(beta, alone, 1)[0]
        if np.linalg.cond(information) > 1 / CLOSE:
            return None
        step = np.linalg.solve(information, likelihood.slopes(beta).sum(axis=0))
        if float(np.abs(step).max()) < NEAR:
            return beta + step
        beta = beta + _halved(step, beta, likelihood)
    return None


def _halved(step: Floats, beta: Floats, likelihood: Likelihood) -> Floats:
    """Return the step, halved as long as it leads further down than rounding does."""
    before = likelihood.log(beta)
    while float(np.abs(step).max()) > NEAR and likelihood.log(beta + step) < before - CLOSE * abs(before):
        step = step / 2
    return step
