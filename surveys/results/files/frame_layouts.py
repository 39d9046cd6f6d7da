"""Files of results that are made from a frame alone, whoever ran the study."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import IO

import pandas as pd

from surveys.results.files.csv_text import csv_parts
from surveys.results.files.legacy import write_legacy
from surveys.results.files.pairs import LayoutError, is_paired
from surveys.results.files.processed import processed_rows
from surveys.results.files.report import Report, write_report, write_summary
from surveys.results.files.spans import span_rows
from surveys.results.files.table import write_table
from surveys.results.files.writing import CSV, JSON, Writer
from surveys.results.frames.base import Frame, Repeated
from surveys.results.statistics.comparison import CLUSTERED, POOLED, Method


@dataclass(frozen=True, slots=True)
class FrameLayout:
    """A file made from a frame alone. Streams must be opened with newline="".

    `rows` makes that of a frame's rows which comes of them alone, so that a large batch is written part by part.
    """

    label: str
    filename: str
    content_type: str
    write: Callable[[Frame, IO[str]], None]
    rows: Callable[[Frame], pd.DataFrame | Repeated] | None = None


def _by_row(label: str, filename: str, rows: Callable[[Frame], pd.DataFrame | Repeated]) -> FrameLayout:
    def write(frame: Frame, stream: IO[str]) -> None:
        stream.writelines(csv_parts(map(rows, frame.parts())))

    return FrameLayout(label, filename, CSV, write, rows)


def _tidy_rows(frame: Frame) -> Repeated:
    return frame.tidy_rows(repeats=True)


FRAME_LAYOUTS: dict[str, FrameLayout] = {
    "processed": _by_row("Processed", "processed.csv", processed_rows),
    "processed_filtered": _by_row(
        "Processed, right answers only", "processed_filtered.csv", partial(processed_rows, filtered=True)
    ),
    "legacy": FrameLayout("As OFA-X published", "legacy_processed.csv", CSV, write_legacy),
    "legacy_filtered": FrameLayout(
        "As OFA-X published, right answers only",
        "legacy_processed_filtered.csv",
        CSV,
        partial(write_legacy, filtered=True),
    ),
    "tidy": _by_row("Tidy, one line per rating", "tidy.csv", _tidy_rows),
    "spans": _by_row("Marks in texts, one line each", "spans.csv", span_rows),
    "table": FrameLayout("Table of results", "table.csv", CSV, write_table),
    "summary": FrameLayout("Summary", "summary.json", JSON, write_summary),
}
SUMMARY = FRAME_LAYOUTS["summary"].filename
COMPARING = {"table": write_table, "summary": write_summary}


def result_writers(
    frame: Frame, *, legacy: bool = False, against: str = "", report: Report | None = None
) -> dict[str, Writer]:
    """Return {file name: writer} of the result files; with `legacy` as the study's authors made them.

    For e-ViL that is OFA-X's layout of the processed files, for a sequence the VTT authors' test; LayoutError where
    nobody published any. `against` names the system the others are compared with, by default the reference or the best.
    `report`: the frame's with these, where it is made already; its numbers take most of the time.
    """
    if legacy and not (is_paired(frame) or frame.definition.is_sequence):
        raise LayoutError(f"Nobody published results of {frame.definition.name!r} to write them alike.")
    writers = {
        name: _chosen(frame, layout, legacy=legacy, against=against)
        for name, layout in _result_files(frame, legacy=legacy).items()
    }
    return writers | ({SUMMARY: partial(write_report, report)} if report else {})


def method_for(frame: Frame, *, legacy: bool) -> Method:
    """Return how systems are compared; the published way where `legacy` asks for one that has a test."""
    return POOLED if legacy and frame.definition.is_sequence else CLUSTERED


def _result_files(frame: Frame, *, legacy: bool) -> dict[str, str]:
    processed = "legacy" if legacy and is_paired(frame) else "processed"
    filtered = {"processed_filtered.csv": f"{processed}_filtered"} if frame.is_graded else {}
    table = {} if is_paired(frame) else {"table.csv": "table"}
    spans = {"spans.csv": "spans"} if frame.definition.has_spans else {}
    return {
        "processed.csv": processed,
        **filtered,
        "tidy.csv": "tidy",
        **spans,
        **table,
        SUMMARY: "summary",
    }


def _chosen(frame: Frame, layout: str, *, legacy: bool, against: str) -> Writer:
    if layout not in COMPARING:
        return partial(FRAME_LAYOUTS[layout].write, frame)
    method = method_for(frame, legacy=legacy)
    return partial(COMPARING[layout], frame, against=against, method=method)
