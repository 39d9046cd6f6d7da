"""Labels as numbers without gaps: counted where they are small numbers already, which is quicker than sorting."""

from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.intp]
SPREAD = 4  # numbers reach so many times as far as there are labels; beyond, sorting is quicker


def known_people(workers: Codes, *, unknown: int) -> Codes | None:
    """Return whose each rating is, shape (n,); None where that is known of none. Workers are numbers, -1 if unknown.

    Where it is known of some, the others are one more person's, numbered `unknown`: an interval is then wider than if
    nobody were known.
    """
    is_unknown = workers < 0
    if len(workers) and is_unknown.all():
        return None
    return np.where(is_unknown, unknown, workers)


def numbered(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Codes]:
    """Return the different labels in their order, and at which place of these each one is, shape (n,).

    It is what `np.unique(labels, return_inverse=True)` returns.
    """
    if (
        labels.dtype.kind != "i"
        or not len(labels)
        or labels.min() < 0
        or labels.max() >= SPREAD * len(labels)
    ):
        return np.unique(labels, return_inverse=True)
    is_there = np.zeros(int(labels.max()) + 1, "bool")
    is_there[labels] = True
    return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[labels]
