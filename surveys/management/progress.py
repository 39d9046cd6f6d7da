"""A progress bar on standard error, for commands that read large files."""

from types import TracebackType
from typing import Final, Self

from django.core.management.base import OutputWrapper

WIDTH: Final = 30


class Bar:
    """Redraws itself on a terminal; elsewhere writes a line at every tenth of a stage."""

    def __init__(self, stream: OutputWrapper) -> None:
        self._stream = stream
        self._stage, self._step = "", -1
        self._is_terminal = stream.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_terminal and self._stage:
            self._stream.write("")

    def show(self, stage: str, done: float) -> None:
        """Show how much of a stage is done, from 0 to 1."""
        step = int(min(done, 1.0) * (100 if self._is_terminal else 10))
        if (stage, step) == (self._stage, self._step):
            return
        if self._is_terminal and self._stage not in ("", stage):
            self._stream.write("")
        self._stage, self._step = stage, step
        self._draw(stage, min(done, 1.0))

    def _draw(self, stage: str, done: float) -> None:
        filled = round(done * WIDTH)
        line = f"{stage:12} [{'#' * filled}{'.' * (WIDTH - filled)}] {done:4.0%}"
        self._stream.write(
            f"\r{line}" if self._is_terminal else line, ending="" if self._is_terminal else "\n"
        )
        self._stream.flush()
