"""8: the files people take away. Each layout is a name, a file name and a function that writes it."""

from surveys.exports.files import count_rows, write_files
from surveys.exports.layouts import (
    FRAME_LAYOUTS,
    LAYOUTS,
    FrameLayout,
    Layout,
    batch_report,
    batch_writers,
    layouts_for,
    method_for,
    result_writers,
)
from surveys.exports.pairs import LayoutError
from surveys.exports.raw import write_raw
from surveys.exports.report import Report, make_report
from surveys.exports.text import report_text

__all__ = [
    "FRAME_LAYOUTS",
    "LAYOUTS",
    "FrameLayout",
    "Layout",
    "LayoutError",
    "Report",
    "batch_report",
    "batch_writers",
    "count_rows",
    "layouts_for",
    "make_report",
    "method_for",
    "report_text",
    "result_writers",
    "write_files",
    "write_raw",
]
