"""One frame of several batches that asked the same: rows below each other, every rating once."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from surveys.models import Batch
from surveys.results.frames.base import OUTPUT_COLUMNS, Frame, column
from surveys.results.frames.database import read_batch
from surveys.results.frames.pseudonyms import Pseudonyms


def read_batches(batches: Sequence[Batch]) -> list[Frame]:
    """Return a frame for each batch; somebody is the same worker in all of them."""
    pseudonyms = Pseudonyms()
    return [read_batch(batch, pseudonyms=pseudonyms) for batch in batches]


def together(frames: Sequence[Frame]) -> Frame:
    """Return the frame of all rows. What a batch has not shown is missing in its rows."""
    first = frames[0]
    if len(frames) == 1:
        return first
    systems = _systems(frames)
    designs = dict.fromkeys(frame.design for frame in frames if frame.design)
    return replace(
        first,
        systems=systems,
        responses=_below(systems, [frame.responses for frame in frames]),
        repeats=_below(systems, [frame.repeats for frame in frames if not frame.repeats.empty]),
        design=" ".join(designs),
    )


def _systems(frames: Sequence[Frame]) -> tuple[str, ...]:
    """Return the systems of all, the reference last."""
    found = sorted({system for frame in frames for system in frame.systems})
    reference = frames[0].definition.reference_system
    return tuple(sorted(found, key=lambda system: system == reference))


def _below(systems: Sequence[str], tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    if not tables:
        return pd.DataFrame()
    both = pd.concat(tables, ignore_index=True)
    given = {str(name): dtype for table in tables for name, dtype in table.dtypes.items()}
    own = {column(system, name): dtype for system in systems for name, dtype in OUTPUT_COLUMNS.items()}
    return both.astype({name: own.get(name, given[name]) for name in map(str, both.columns)})
