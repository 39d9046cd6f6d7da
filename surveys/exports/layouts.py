"""The layouts by name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import IO

from surveys.exports.files import Writer
from surveys.exports.legacy import write_legacy
from surveys.exports.processed import write_processed
from surveys.exports.report import write_summary
from surveys.exports.tidy import write_tidy
from surveys.frames import Frame

CSV, JSON = "text/csv", "application/json"


@dataclass(frozen=True, slots=True)
class FrameLayout:
    """A file made from a frame alone. Streams must be opened with newline=""."""

    label: str
    filename: str
    content_type: str
    write: Callable[[Frame, IO[str]], None]


FRAME_LAYOUTS: dict[str, FrameLayout] = {
    "processed": FrameLayout("Processed", "processed.csv", CSV, write_processed),
    "processed_filtered": FrameLayout(
        "Processed, right answers only", "processed_filtered.csv", CSV, partial(write_processed, filtered=True)
    ),
    "legacy": FrameLayout("As OFA-X published", "legacy_processed.csv", CSV, write_legacy),
    "legacy_filtered": FrameLayout(
        "As OFA-X published, right answers only",
        "legacy_processed_filtered.csv",
        CSV,
        partial(write_legacy, filtered=True),
    ),
    "tidy": FrameLayout("Tidy, one line per rating", "tidy.csv", CSV, write_tidy),
    "summary": FrameLayout("Summary", "summary.json", JSON, write_summary),
}


def result_writers(frame: Frame, *, legacy: bool = False) -> dict[str, Writer]:
    """Return {file name: writer} of the four result files; with `legacy` the processed two as OFA-X published."""
    processed = "legacy" if legacy else "processed"
    chosen = {
        "processed.csv": processed,
        "processed_filtered.csv": f"{processed}_filtered",
        "tidy.csv": "tidy",
        "summary.json": "summary",
    }
    return {name: partial(FRAME_LAYOUTS[layout].write, frame) for name, layout in chosen.items()}
