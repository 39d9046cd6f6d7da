"""What can be wrong with a file of answers, said so that the place can be found."""

from typing import Self


class SourceError(ValueError):
    """A file can't be read as answers. `row` counts as a spreadsheet does: the header is row 1.

    In JSONL the place is a `line`, counted from 1, and a `key`.
    """

    def __init__(
        self,
        problem: str,
        *,
        row: int | None = None,
        column: str = "",
        line: int | None = None,
        key: str = "",
    ) -> None:
        super().__init__(problem)
        self.problem, self.file = problem, ""
        self.row, self.column = row, column
        self.line, self.key = line, key

    def in_file(self, name: str) -> Self:
        """Say which file it is."""
        self.file = name
        return self

    def __str__(self) -> str:
        place = [f"row {self.row}"] if self.row is not None else []
        place += [f"line {self.line}"] if self.line is not None else []
        place += [f"column {self.column!r}"] if self.column else []
        place += [f"key {self.key!r}"] if self.key else []
        return ": ".join(part for part in (self.file, ", ".join(place), self.problem) if part)
