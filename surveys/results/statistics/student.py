"""Student's t tests, two-sided. The distribution is scipy's; scipy.stats would take a second to import."""

import math

import pandas as pd

SAME = 1e-9  # means of thirds differ by rounding


def pooled_p(ours: "pd.Series[float]", theirs: "pd.Series[float]") -> float | None:
    """Return the p value of equal means of independent values of equal variance; None where it is undefined.

    As scipy.stats.ttest_ind: two sides that are constant and differ have p = 0.
    """
    freedom = len(ours) + len(theirs) - 2
    if ours.empty or theirs.empty or not freedom:
        return None
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in (ours, theirs))
    error = math.sqrt(squares / freedom * (1 / len(ours) + 1 / len(theirs)))
    return _two_sided(float(ours.mean() - theirs.mean()), error, freedom)


def paired_p(differences: "pd.Series[float]") -> float | None:
    """Return the p value of a mean of 0; None where all are the same, so that nothing tells their spread."""
    n = len(differences)
    if n < 2 or differences.max() - differences.min() < SAME:
        return None
    return _two_sided(float(differences.mean()), float(differences.std()) / math.sqrt(n), n - 1)


def _two_sided(difference: float, error: float, freedom: int) -> float | None:
    from scipy.special import stdtr

    if error == 0:
        return None if difference == 0 else 0.0
    return float(2 * stdtr(freedom, -abs(difference / error)))
