"""A CSV file as columns of text, with errors that name the row and the column."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, Self

from surveys.protocols.criteria import Criterion
from surveys.results.frames.coded import Cells, Column


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


AT_ONCE = 500  # rows


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

    def coded(self, name: str) -> Column:
        """Return `column` as numbers of texts."""
        return _as_column(self.column(name))

    def coded_optional(self, name: str) -> Column:
        """Return `optional` as numbers of texts."""
        return _as_column(self.optional(name))


def _as_column(cells: Sequence[str]) -> Column:
    return cells if isinstance(cells, Column) else Column(cells)


def read_table(
    source: bytes | BinaryIO, *, kinds: Mapping[str, Callable[[], Cells]] | None = None
) -> CsvTable:
    """Read a CSV with a header. Short rows are filled: MTurk's rows lack the last two cells of the header.

    The file is read twice, and never held: first whether it is text at all, then its rows, some at a time. `kinds`
    makes the columns of some names, where `Column` would keep too much. Raises SourceError for what is empty, not
    UTF-8 or not a CSV.
    """
    stream = _rewindable(source)
    _check_text(stream)
    limit = csv.field_size_limit(LARGEST_CELL)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    try:
        return _table(_rows(text), kinds or {})
    finally:
        csv.field_size_limit(limit)
        text.detach()


def _rewindable(source: bytes | BinaryIO) -> BinaryIO:
    if isinstance(source, bytes):
        return io.BytesIO(source)
    return source if source.seekable() else io.BytesIO(source.read())


def _check_text(stream: BinaryIO) -> None:
    """SourceError where the file is blank or not UTF-8. Line by line: no line end is part of a letter."""
    is_blank = True
    for row, line in enumerate(stream, start=1):
        if row == 1 and line.startswith(UTF16_MARKS):
            raise SourceError("the file is not UTF-8 but UTF-16; save it as UTF-8")
        is_blank = is_blank and not line.strip()
        try:
            line.decode()
        except UnicodeDecodeError as error:
            raise SourceError(f"the file is not UTF-8: byte 0x{line[error.start]:02x}", row=row) from error
    if is_blank:
        raise SourceError("the file is empty")
    stream.seek(0)


def _rows(text: Iterable[str]) -> Iterator[list[str]]:
    """Yield the rows, without blank ones at the end."""
    n_read, n_blank = 0, 0
    try:
        for cells in csv.reader(text, strict=True):
            n_read += 1
            if not cells:
                n_blank += 1
                continue
            yield from ([] for _ in range(n_blank))
            n_blank = 0
            yield cells
    except csv.Error as error:
        raise SourceError(f"not a readable CSV: {error}", row=n_read + 1) from error


def _table(rows: Iterator[list[str]], kinds: Mapping[str, Callable[[], Cells]]) -> CsvTable:
    """Read to the end whatever is found: that it is no CSV is said before anything else."""
    header = next(rows, [])
    columns = [kinds.get(name, Column)() for name in header]
    n_rows, too_wide = 0, None
    while part := list(islice(rows, AT_ONCE)):
        too_wide = too_wide or _too_wide(part, len(header), first=n_rows + 2)
        n_rows += len(part)
        if not too_wide:
            _add(columns, part)
    if not n_rows:
        raise SourceError("the file has a header at most, and no rows")
    _check_header(header)
    if too_wide:
        raise too_wide
    return CsvTable(dict(zip(header, columns, strict=True)), n_rows)


def _too_wide(rows: list[list[str]], width: int, *, first: int) -> SourceError | None:
    for number, cells in enumerate(rows, start=first):
        if len(cells) > width:
            return SourceError(f"{len(cells)} cells under a header of {width}", row=number)
    return None


def _add(columns: list[Cells], rows: list[list[str]]) -> None:
    for cells in rows:
        cells.extend([""] * (len(columns) - len(cells)))
    for column, texts in zip(columns, zip(*rows, strict=True), strict=True):
        column.extend(texts)


def _check_header(header: list[str]) -> None:
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        raise SourceError("the column is there twice", row=1, column=repeated[0])
