"""What reading a file gives: items to create and problems with their place in the file. Nothing is written."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple, Self


class Severity(StrEnum):
    """An error stops the import; a warning waits for the researcher to accept it."""

    ERROR = "error"
    WARNING = "warning"


class Layout(StrEnum):
    """How a file lays out its items; AUTO looks at the file."""

    AUTO = "auto"
    BATCH = "batch"
    LONG = "long"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong. `row` counts data rows from 1, `line` the file's lines from 1 (where the row starts)."""

    severity: Severity
    message: str
    row: int | None = None
    line: int | None = None
    column: str = ""

    @property
    def place(self) -> str:
        """Return "row 3 (line 4), column answer_0", or as much of it as is known."""
        row = f"row {self.row} (line {self.line})" if self.row else ""
        line = f"line {self.line}" if self.line and not self.row else ""
        return ", ".join(filter(None, [row, line, self.column and f"column {self.column}"]))

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class Cell(NamedTuple):
    """A text, trimmed, and where it stood."""

    text: str
    row: int
    line: int
    column: str

    def error(self, message: str) -> Problem:
        return Problem(Severity.ERROR, message, self.row, self.line, self.column)

    def warning(self, message: str) -> Problem:
        return Problem(Severity.WARNING, message, self.row, self.line, self.column)


class Option(NamedTuple):
    """One choice as the file gives it: the value stored, and the cell that holds the label."""

    value: str
    cell: Cell


class Said(NamedTuple):
    """One system's output as the file gives it."""

    system: str
    text: Cell
    answer: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One item as the file gives it, before it is checked. `gold` is None where there is nothing to answer."""

    id: Cell
    question: Cell
    images: tuple[Cell, ...]
    outputs: tuple[Said, ...]
    payload: dict[str, Any]
    gold: Cell | None = None
    options: tuple[Option, ...] = ()
    source_row: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedPicture:
    """A picture by its decoded file name, and the cell that named it."""

    name: str
    cell: Cell


@dataclass(frozen=True, slots=True)
class PlannedOutput:
    system: str
    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """One item to create; the fields are those of `surveys.models.Item`."""

    external_id: str
    question: str
    choices: list[dict[str, str]]
    gold: str
    outputs: tuple[PlannedOutput, ...]
    pictures: tuple[PlannedPicture, ...]
    payload: dict[str, Any]
    source_row: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would do. `missing` names the pictures it would go ahead without."""

    items: tuple[PlannedItem, ...] = ()
    problems: tuple[Problem, ...] = ()
    missing: frozenset[str] = field(default_factory=frozenset)

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity == Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity == Severity.WARNING)

    @property
    def n_outputs(self) -> int:
        return sum(len(item.outputs) for item in self.items)

    @property
    def n_pictures(self) -> int:
        return len({picture.name for item in self.items for picture in item.pictures})

    @property
    def n_rows(self) -> int:
        """HITs the file lays out, where it does; 0 otherwise."""
        return len({item.source_row for item in self.items if item.source_row})

    def with_problems(self, problems: Iterable[Problem], *, missing: Iterable[str] = ()) -> Self:
        """Return the plan with more problems, in the order of the file."""
        found = sorted((*self.problems, *problems), key=lambda p: (p.line or 0, p.severity))
        return replace(self, problems=tuple(found), missing=self.missing | frozenset(missing))
