"""Raw responses of any survey type as CSV: one line per output in each submitted response.

`evaluate_results` reads it back and gives the same numbers. Cells are not altered against formula injection, so that
what was said stays what it was.
"""

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pandas as pd

from surveys.models import Batch
from surveys.results.frames.base import Frame, column, rating_keys
from surveys.results.frames.database import read_parts
from surveys.results.frames.pseudonyms import names_for_raw
from surveys.results.frames.responses import COLUMNS, PLACE, RESPONSE_CELLS

RENAMED = {"worker_id": "worker"}
OUTPUT_NAMES = {"output_answer": "answer"}


def response_lines(batch: Batch, *, worker_ids: bool = False) -> Iterator[str]:
    """Return the file's lines, every submitted response of a batch; some assignments are held at a time."""
    for n, part in enumerate(read_parts(batch, pseudonyms=names_for_raw(worker_ids=worker_ids))):
        frame = part.everything
        last = [*([PLACE] if part.has_places else []), *part.last_columns]
        text = StringIO(newline="")
        writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
        if n == 0:
            writer.writerow([*COLUMNS, *_keys(frame), *last])
        writer.writerows(_lines(frame, last))
        yield text.getvalue()


def _keys(frame: Frame) -> list[str]:
    definition = frame.definition
    keys = [key for criterion in definition.criteria for key in rating_keys(criterion)]
    return keys + ([definition.preference.key] if definition.preference else [])


def _lines(frame: Frame, last: list[str]) -> Iterator[list[str]]:
    """Yield the lines response by response, in the frame's order; `last` are columns that come last."""
    about_item = {key for criterion in frame.definition.item_criteria for key in rating_keys(criterion)}
    keys = _keys(frame)
    for row in frame.responses.to_dict("records"):
        shared = [frame.definition.key, *(_cell(row[RENAMED.get(name, name)]) for name in RESPONSE_CELLS)]
        ends = [_cell(row[name]) for name in last]
        for system in frame.systems:
            if not pd.isna(row[column(system, "text")]):
                yield [
                    *shared,
                    system,
                    *_output(row, system),
                    *_ratings(row, system, keys, about_item),
                    *ends,
                ]


def _output(row: dict[Any, Any], system: str) -> list[str]:
    names = COLUMNS[len(RESPONSE_CELLS) + 2 :]
    return [_cell(row[column(system, OUTPUT_NAMES.get(name, name))]) for name in names]


def _ratings(row: dict[Any, Any], system: str, keys: list[str], about_item: set[str]) -> list[str]:
    return [_cell(row.get(column("" if key in about_item else system, key))) for key in keys]


def _cell(value: Any) -> str:
    return "" if value is None or pd.isna(value) else str(value)
