"""The tidy layout: one line per rating, rejected assignments included and marked."""

from typing import IO

from surveys.exports.cells import neutralised
from surveys.frames import Frame


def write_tidy(frame: Frame, stream: IO[str]) -> None:
    neutralised(frame.tidy()).to_csv(stream, index=False, lineterminator="\n")
