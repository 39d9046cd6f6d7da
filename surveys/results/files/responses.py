"""Raw responses of any survey type as CSV: one line per output in each submitted response.

`evaluate_results` reads it back and gives the same numbers. Cells are not altered against formula injection, so that
what was said stays what it was.
"""

import csv
from collections.abc import Iterator
from typing import IO, Any

import pandas as pd

from surveys.models import Batch
from surveys.results.files.csv_text import neutralised, write_csv
from surveys.results.frames.base import Frame, column, rating_keys
from surveys.results.frames.database import read_batch
from surveys.results.frames.pseudonyms import names_for_raw
from surveys.results.frames.responses import COLUMNS, PLACE, RESPONSE_CELLS

RENAMED = {"worker_id": "worker"}
OUTPUT_NAMES = {"output_answer": "answer"}


def write_responses(batch: Batch, stream: IO[str], *, worker_ids: bool = False) -> None:
    """Write every submitted response of a batch; `stream` must be opened with newline=""."""
    read = read_batch(batch, pseudonyms=names_for_raw(worker_ids=worker_ids))
    frame = read.everything
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n")
    places = [PLACE] if frame.responses[PLACE].notna().any() else []
    last = [*places, *read.last_columns]
    writer.writerow([*COLUMNS, *_keys(frame), *last])
    writer.writerows(_lines(frame, last))


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


def write_tidy(frame: Frame, stream: IO[str]) -> None:
    write_csv(neutralised(frame.tidy(repeats=True)), stream)
