"""The layouts of a batch's files by name, for download views and commands: from its frame, and from what is stored."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import IO, Any

from surveys.models import Batch, MetricScore, Output, Panel
from surveys.results.files.annotations import annotation_lines
from surveys.results.files.consents import consent_lines, has_consents
from surveys.results.files.csv_text import csv_parts
from surveys.results.files.frame_layouts import FRAME_LAYOUTS, FrameLayout
from surveys.results.files.metrics import write_correlations, write_metrics
from surveys.results.files.pairs import LayoutError, has_pairs
from surveys.results.files.panel import count_visits, panel_lines
from surveys.results.files.raw import count_raw, paired_systems, raw_lines
from surveys.results.files.report import Report, make_report
from surveys.results.files.responses import response_lines
from surveys.results.files.writing import CSV, JSONL, Writer
from surveys.results.frames.base import Frame
from surveys.results.frames.database import read_batch, read_parts


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
