"""The tidy layout: one line per rating, those of rejected and left out assignments too, marked by `included`."""

from typing import IO

from surveys.results.files.cells import neutralised
from surveys.results.files.csv_text import write_csv
from surveys.results.frames.base import Frame


def write_tidy(frame: Frame, stream: IO[str]) -> None:
    write_csv(neutralised(frame.tidy()), stream)
