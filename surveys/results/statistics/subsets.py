"""Less than a whole frame: what would be left if some assignments were not used."""

from collections.abc import Collection
from dataclasses import replace

import pandas as pd

from surveys.results.frames.base import Frame


def used_without(frame: Frame, assignments: Collection[tuple[str, str]]) -> Frame:
    """Return the kept rows alone, as a frame, without those of some assignments: (AssignmentId, worker).

    Whether answers are right is left out too: what is asked of such a frame are the means of all its rows.
    """
    kept = frame.kept
    names = pd.MultiIndex.from_frame(kept[["assignment_id", "worker"]])
    rows = kept[~names.isin(list(assignments))] if assignments else kept
    ungraded = pd.array([pd.NA] * len(rows), dtype="boolean")
    return replace(frame, responses=rows.assign(answer_correct=ungraded))
