"""The layouts by name, for download views and for commands."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import IO, Any

import pandas as pd

from surveys.models import Batch, MetricScore, Output, Panel
from surveys.results.files.annotations import annotation_lines
from surveys.results.files.consents import consent_lines, has_consents
from surveys.results.files.csv_text import csv_parts
from surveys.results.files.legacy import write_legacy
from surveys.results.files.pairs import LayoutError, has_pairs, is_paired
from surveys.results.files.panel import count_visits, panel_lines
from surveys.results.files.processed import processed_rows
from surveys.results.files.raw import count_raw, paired_systems, raw_lines
from surveys.results.files.report import Report, make_report, write_report, write_summary
from surveys.results.files.responses import response_lines, tidy_rows
from surveys.results.files.spans import span_rows
from surveys.results.files.table import write_correlations, write_metrics, write_table
from surveys.results.frames.base import Frame
from surveys.results.frames.database import read_batch, read_parts
from surveys.results.statistics.comparison import CLUSTERED, POOLED, Method

CSV = "text/csv"
Writer = Callable[[IO[str]], None]


def write_files(
    folder: Path,
    *,
    writers: Mapping[str, Writer],
    before_moving: Callable[[Mapping[str, Path]], None] = lambda files: None,
) -> list[Path]:
    """Write every file beside its destination first and move all of them into place at the end.

    `folder` is made if need be. If a writer fails, or what is to be done with the written files `before_moving` them,
    what was in the folder before is untouched.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".writing-", dir=folder) as name:
        scratch = Path(name)
        for filename, write in writers.items():
            with (scratch / filename).open("w", encoding="utf-8", newline="") as stream:
                write(stream)
        before_moving({filename: scratch / filename for filename in writers})
        for filename in writers:
            (scratch / filename).replace(folder / filename)
    return [folder / filename for filename in writers]


def count_rows(file: IO[bytes], *, content_type: str) -> int:
    """Return how many rows a CSV has under its header, or how many lines another file has."""
    if content_type != CSV:
        return sum(1 for _ in file)
    n, is_within = -1, False
    for line in file:
        is_within ^= line.count(b'"') % 2 == 1  # a line end within quotes ends no row
        n += not is_within
    return max(n, 0)


JSON, JSONL = "application/json", "application/jsonl"


@dataclass(frozen=True, slots=True)
class FrameLayout:
    """A file made from a frame alone. Streams must be opened with newline="".

    `rows` makes that of a frame's rows which comes of them alone, so that a large batch is written part by part.
    """

    label: str
    filename: str
    content_type: str
    write: Callable[[Frame, IO[str]], None]
    rows: Callable[[Frame], pd.DataFrame] | None = None


def _by_row(label: str, filename: str, rows: Callable[[Frame], pd.DataFrame]) -> FrameLayout:
    def write(frame: Frame, stream: IO[str]) -> None:
        stream.writelines(csv_parts(map(rows, frame.parts())))

    return FrameLayout(label, filename, CSV, write, rows)


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
    "tidy": _by_row("Tidy, one line per rating", "tidy.csv", tidy_rows),
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


@dataclass(frozen=True, slots=True)
class Layout:
    """A file made from a batch. `write(batch, stream)` needs a stream opened with newline="".

    `write_with_ids` writes a raw file with the marketplace's worker ids, where pseudonyms stand otherwise. Raw files
    are for those who may export them, with ids or without: comments, exact times and approval rates tell a lot.
    `check` raises LayoutError where a batch can't be written so. `lines` are for what can be sent while it is read, in
    parts of some assignments; what needs all of a batch has none. `count` tells the number of rows beforehand.
    """

    label: str
    filename: str
    content_type: str
    write: Callable[[Batch, IO[str]], None]
    write_with_ids: Callable[[Batch, IO[str]], None] | None = None
    check: Callable[[Batch], object] = bool  # takes any batch
    lines: Callable[..., Iterator[str]] | None = None
    count: Callable[[Batch], int] | None = None

    @property
    def is_raw(self) -> bool:
        return self.write_with_ids is not None


def _from_frame(layout: FrameLayout, *, check: Callable[[Batch], object]) -> Layout:
    def write(batch: Batch, stream: IO[str]) -> None:
        layout.write(read_batch(batch), stream)

    rows = layout.rows
    lines = (lambda batch: csv_parts(map(rows, read_parts(batch)))) if rows else None
    return Layout(
        layout.label,
        layout.filename,
        layout.content_type,
        partial(_write_lines, lines) if lines else write,
        check=check,
        lines=lines,
    )


def _raw(
    label: str,
    filename: str,
    content_type: str,
    lines: Callable[..., Iterator[str]],
    **rest: Callable[..., Any],
) -> Layout:
    write = partial(_write_lines, lines)
    with_ids = partial(_write_lines, partial(lines, worker_ids=True))
    return Layout(label, filename, content_type, write, with_ids, lines=lines, **rest)


def _write_lines(lines: Callable[[Batch], Iterator[str]], batch: Batch, stream: IO[str]) -> None:
    stream.writelines(lines(batch))


PUBLISHED = ("raw", "legacy", "legacy_filtered")
LAYOUTS: dict[str, Layout] = {
    "raw": _raw(
        "Raw, MTurk batch format",
        "raw.csv",
        CSV,
        raw_lines,
        check=paired_systems,
        count=count_raw,
    ),
    "responses": _raw("Raw, one line per response", "responses.csv", CSV, response_lines),
    "annotations": _raw("Raw, as VTT's files", "annotations.jsonl", JSONL, annotation_lines),
    "panel": _raw(
        "People of the panel, and how they ended", "panel.csv", CSV, panel_lines, count=count_visits
    ),
    **{
        name: _from_frame(layout, check=paired_systems if name in PUBLISHED else bool)
        for name, layout in FRAME_LAYOUTS.items()
    },
    "metrics": Layout("Automatic metrics beside mean ratings", "metrics.csv", CSV, write_metrics),
    "correlations": Layout(
        "Correlations of metrics and ratings",
        "correlations.csv",
        CSV,
        partial(write_correlations, levels=("item", "system")),
    ),
    "correlations_within": Layout(
        "Correlations within systems",
        "correlations_within.csv",
        CSV,
        partial(write_correlations, levels=("within",)),
    ),
    "consents": Layout(
        "Consents, one line per person and version",
        "consents.csv",
        CSV,
        partial(_write_lines, consent_lines),
        lines=consent_lines,
    ),
}


def layouts_for(batch: Batch) -> dict[str, Layout]:
    """Return the layouts this batch can be written in; every batch has one that is raw.

    MTurk's and OFA-X's need outputs of the ground truth, VTT's a sequence, the filtered ones answers to grade, the
    metrics outputs that were scored, those within systems outputs of two, the spans a question that is answered by
    them, the panel's people a panel.
    """
    definition = batch.definition
    is_pair = has_pairs(definition) and _has_reference(batch)
    left_out = {"responses"} if is_pair else set(PUBLISHED)
    left_out |= set() if definition.answer else {"processed_filtered"}
    left_out |= set() if definition.is_sequence else {"annotations"}
    left_out |= set() if definition.has_spans else {"spans"}
    left_out |= set() if Panel.objects.filter(batch=batch).exists() else {"panel"}
    left_out |= set() if has_consents(batch) else {"consents"}
    scored = _scored_systems(batch)
    left_out |= set() if scored else {"metrics", "correlations"}
    left_out |= set() if len(scored) > 1 else {"correlations_within"}
    return {name: layout for name, layout in LAYOUTS.items() if name not in left_out}


def _has_reference(batch: Batch) -> bool:
    reference = batch.definition.reference_system
    return Output.objects.filter(item__survey=batch.survey_id, system=reference).exists()


def _scored_systems(batch: Batch) -> list[str]:
    """Return a system whose outputs have scores, and another if there is one."""
    systems = MetricScore.objects.filter(output__item__survey=batch.survey_id).values_list(
        "output__system", flat=True
    )
    one = list(systems[:1])
    return [*one, *systems.exclude(output__system__in=one)[:1]] if one else []


def batch_report(batch: Batch) -> Report:
    """Return the numbers of a batch as plain dataclasses; three queries, whatever its size."""
    return make_report(read_batch(batch))


def batch_writers(batch: Batch, *, names: list[str], worker_ids: bool = False) -> dict[str, Writer]:
    """Return {file name: writer} for several layouts; the frame is read once, and only when it is needed.

    `worker_ids`: raw files name workers as the marketplace does; whoever asks for that writes it into the audit trail.
    Raises LayoutError for a name this batch has no layout for.
    """
    known = layouts_for(batch)
    if unknown := [name for name in names if name not in known]:
        raise LayoutError(f"No layout {unknown[0]!r} for this batch; there is {', '.join(known)}.")
    frame = cache(partial(read_batch, batch))
    return {
        named(batch, known[name].filename): _writer(batch, name, frame, worker_ids=worker_ids)
        for name in names
    }


def named(batch: Batch, filename: str) -> str:
    """Return what a batch's file is called: one of simulated answers says so, wherever it is taken."""
    return f"simulated-{filename}" if batch.is_simulated else filename


def _writer(batch: Batch, name: str, frame: Callable[[], Frame], *, worker_ids: bool) -> Writer:
    if name in FRAME_LAYOUTS:
        return lambda stream: FRAME_LAYOUTS[name].write(frame(), stream)
    layout = LAYOUTS[name]
    return partial((worker_ids and layout.write_with_ids) or layout.write, batch)
