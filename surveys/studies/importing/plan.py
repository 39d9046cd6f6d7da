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
    """One thing wrong. `row` counts data rows from 1, `line` the file's lines from 1 (where the row starts).

    `file` is its name where there are several.
    """

    severity: Severity
    message: str
    row: int | None = None
    line: int | None = None
    column: str = ""
    file: str = ""

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
    model_correct: bool | None = None


def pair_name(subject: str, system: str) -> str:
    return f"{subject}/{system}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One item as the file gives it, before it is checked. `gold` is None where there is nothing to answer.

    `external_id` is what the item is to be called where that is not `id`. `check` says that the item is a planted
    check, and what passes it.
    """

    id: Cell
    question: Cell | None
    images: tuple[Cell, ...]
    outputs: tuple[Said, ...]
    payload: dict[str, Any]
    gold: Cell | None = None
    options: tuple[Option, ...] = ()
    references: tuple[str, ...] = ()
    source_row: int | None = None
    external_id: str = ""
    check: Cell | None = None

    @property
    def pair(self) -> str:
        """Return what the first output is known by, whatever its item is called."""
        return pair_name(self.id.text, self.outputs[0].system)


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
    model_correct: bool | None = None


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
    subject: str = ""
    references: tuple[str, ...] = ()

    @property
    def names(self) -> set[str]:
        """Return what no other item of a survey may be known by."""
        pairs = {pair_name(self.subject, output.system) for output in self.outputs}
        return {self.external_id} | (pairs if len(self.outputs) == 1 else set())


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

    def of_file(self, name: str) -> Self:
        """Return the plan with the name of its file on every problem."""
        return replace(self, problems=tuple(replace(problem, file=name) for problem in self.problems))

    def and_then(self, other: Self) -> Self:
        """Return this plan followed by another, that of the next file."""
        return replace(
            self,
            items=self.items + other.items,
            problems=self.problems + other.problems,
            missing=self.missing | other.missing,
        )

    def with_problems(self, problems: Iterable[Problem], *, missing: Iterable[str] = ()) -> Self:
        """Return the plan with more problems, in the order of the file."""
        found = sorted((*self.problems, *problems), key=lambda p: (p.line or 0, p.severity))
        return replace(self, problems=tuple(found), missing=self.missing | frozenset(missing))
