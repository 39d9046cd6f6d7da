"""8: the files people take away. Each layout is a name, a file name and a function that writes it."""

from surveys.exports.files import write_files
from surveys.exports.layouts import FRAME_LAYOUTS, FrameLayout, result_writers
from surveys.exports.report import Report, make_report
from surveys.exports.text import report_text

__all__ = ["FRAME_LAYOUTS", "FrameLayout", "Report", "make_report", "report_text", "result_writers", "write_files"]
