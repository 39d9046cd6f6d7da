"""A CSV file as columns of text, with errors that name the row and the column."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from surveys.protocols.criteria import Criterion


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


TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def number(given: Any) -> float | None:
    """Return a number, also where it is written as a text; None for anything else."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return None
    try:
        return float(given)
    except (ValueError, OverflowError):
        return None


def choice_value(criterion: Criterion, given: Any) -> str:
    """Return the value of the scale's choice that `given` is, by value or by score; ValueError if there is none.

    A number is itself, in its one spelling, and so are marks in a text.
    """
    if criterion.number:
        return criterion.number.read(str(given))
    if criterion.spans:
        criterion.score(str(given))
        return str(given)
    for choice in criterion.choices:
        if given == choice.value or (choice.score is not None and number(given) == choice.score):
            return choice.value
    raise ValueError(f"{given!r} is not one of {', '.join(criterion.values)}")


def truth(text: str) -> bool | None:
    """Return what a cell says, None where it is blank; ValueError for anything but true or false."""
    if not text.strip():
        return None
    try:
        return TRUTHS[text.strip().lower()]
    except KeyError:
        raise ValueError(f"{text!r} is neither true nor false") from None


def name_in(names: Mapping[str, Any], criterion: Criterion) -> str | None:
    """Return the name under which a file has a criterion: its key, an alias of it or its label."""
    return next(
        (name for name in (criterion.key, *criterion.aliases, criterion.label) if name in names), None
    )


LARGEST_CELL = 16 * 1024 * 1024
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class CsvTable:
    """Columns by name, all of one length. Row i of a column is row i + 2 of the file."""

    columns: dict[str, Sequence[str]]
    n_rows: int

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def column(self, name: str) -> Sequence[str]:
        """Return a column the format can't do without; SourceError if it is missing."""
        if name not in self.columns:
            raise SourceError("the column is missing", row=1, column=name)
        return self.columns[name]

    def optional(self, name: str) -> Sequence[str]:
        return self.columns.get(name) or [""] * self.n_rows


def read_table(data: bytes) -> CsvTable:
    """Read a CSV with a header. Short rows are filled: MTurk's rows lack the last two cells of the header.

    Raises SourceError for what is empty, not UTF-8 or not a CSV.
    """
    rows = _rows(_decoded(data))
    header = rows.pop(0)
    _check_header(header)
    width = len(header)
    for number, cells in enumerate(rows, start=2):
        if len(cells) > width:
            raise SourceError(f"{len(cells)} cells under a header of {width}", row=number)
        if len(cells) < width:
            cells.extend([""] * (width - len(cells)))
    return CsvTable(dict(zip(header, zip(*rows, strict=True), strict=True)), len(rows))


def _decoded(data: bytes) -> str:
    if not data.strip():
        raise SourceError("the file is empty")
    if data.startswith(UTF16_MARKS):
        raise SourceError("the file is not UTF-8 but UTF-16; save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise SourceError(f"the file is not UTF-8: byte 0x{data[error.start]:02x}", row=row) from error


def _rows(text: str) -> list[list[str]]:
    limit = csv.field_size_limit(LARGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    try:
        rows.extend(reader)
    except csv.Error as error:
        raise SourceError(f"not a readable CSV: {error}", row=len(rows) + 1) from error
    finally:
        csv.field_size_limit(limit)
    while rows and not rows[-1]:
        rows.pop()
    if len(rows) < 2:
        raise SourceError("the file has a header at most, and no rows")
    return rows


def _check_header(header: list[str]) -> None:
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        raise SourceError("the column is there twice", row=1, column=repeated[0])
