"""Excel files as they come: the first sheet as a table of texts, with what a spreadsheet can hide told by cell."""

import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

from surveys.studies.importing.plan import Problem, Severity
from surveys.studies.importing.tables import Table, file_error, table_of

MAX_UNPACKED = 100 * 2**20
MAX_PARTS = 2_000
MAX_COLUMNS = 1_000
MAX_BLANK_ROWS = 10_000  # Excel keeps the formats of rows long deleted, up to a million of them
MARKUP_ENTITIES = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)
SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
MERGED = re.compile(rb'<mergeCell ref="([A-Z]{1,3}[0-9]{1,7}:[A-Z]{1,3}([0-9]{1,7}))"')
# A formula nobody has computed: `<f>` and then no value. One of type "str" with an empty value is the empty text.
UNCOMPUTED = re.compile(
    rb'<c r="([A-Z]{1,3})([0-9]{1,7})"(?P<type>[^>]*)><f[^>]*(?:/>|>[^<]*</f>)\s*(?P<value><v\s*/>|<v></v>)?</c>'
)
FAULTS = {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"}
BROKEN = "The Excel file can't be read; save it as CSV and try again."


class SheetError(ValueError):
    """The workbook can't be taken; the message says why."""


def read_xlsx(data: bytes, *, n_rows: int | None = None) -> Table:
    """Return the first sheet as a table; what can't be read is a problem in it, never an exception.

    With `n_rows`, no more than so many rows of the sheet are read, and what a spreadsheet hides is not looked for.
    """
    from openpyxl import load_workbook  # with numpy, if that is there: a CSV needs neither

    try:
        _check_parts(data)
        with warnings.catch_warnings(action="ignore"):
            book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            sheet = book.worksheets[0]
            part = str(getattr(sheet, "_worksheet_path", ""))  # the file of this sheet within the archive
            sheet.reset_dimensions()  # what a program claims about its size
            titles, records = _below_titles(list(_records(sheet.iter_rows(values_only=True, max_row=n_rows))))
    except SheetError as error:
        return Table(problems=(file_error(str(error)),))
    except (
        Exception
    ):  # openpyxl raises almost anything on damaged files (KeyError, ValueError, ParseError, ...)
        return Table(problems=(file_error(BROKEN),))
    width = len(records[0][1]) if records else 0
    texts = [(line, [_text(value) for value in values]) for line, values in records]
    found = table_of([(line, cells + [""] * (width - len(cells))) for line, cells in texts])
    if n_rows is not None:
        return found
    problems = [
        *titles,
        *_hidden(data, part, header=records[0][0] if records else 1),
        *_cells(records),
        *_other_sheets(book.sheetnames),
    ]
    return Table(found.header, found.rows, (*found.problems, *problems))


def _check_parts(data: bytes) -> None:
    """Refuse an archive that unpacks to far more than a sheet, or whose XML could."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise SheetError(BROKEN) from None
    parts = archive.infolist()
    if not any(part.filename == "xl/workbook.xml" for part in parts):
        raise SheetError("The file is a ZIP, but not an Excel file; pictures have a field of their own.")
    if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
        raise SheetError(f"The Excel file unpacks to more than {MAX_UNPACKED // 2**20} MB.")
    for part in parts:
        if part.filename.endswith((".xml", ".rels")) and MARKUP_ENTITIES.search(archive.read(part)[:10_000]):
            raise SheetError(BROKEN)


def _records(rows: Any) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield (row of the sheet, its values), without rows that hold nothing and without what is blank at their end."""
    n_blank = 0
    for line, values in enumerate(rows, start=1):
        last = max((n for n, value in enumerate(values, 1) if value not in (None, "")), default=0)
        if last > MAX_COLUMNS:
            raise SheetError(f"Row {line} has {last:,} columns; at most {MAX_COLUMNS:,} are read.")
        if last and n_blank > MAX_BLANK_ROWS:
            raise SheetError(
                f"Row {line} follows {n_blank:,} blank ones: delete these, or what comes after them."
            )
        n_blank = 0 if last else n_blank + 1
        if last:
            yield line, values[:last]


def _below_titles(
    records: list[tuple[int, tuple[Any, ...]]],
) -> tuple[list[Problem], list[tuple[int, tuple[Any, ...]]]]:
    """Leave out titles above the table, rows of one filled cell before one of several, and tell of them."""
    n = next(
        (n for n, (_, values) in enumerate(records) if sum(value not in (None, "") for value in values) > 1),
        0,
    )
    if not n:
        return [], records
    message = f"Row {records[n][0]} is read as the header; what stands above it is left out."
    return [Problem(Severity.WARNING, message)], records[n:]


def _text(value: Any) -> str:
    """Return a cell as a person reads it: whole numbers without a point, dates as ISO 8601 has them."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time.min:
        return value.date().isoformat()
    return value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)


def _cells(records: list[tuple[int, tuple[Any, ...]]]) -> Iterator[Problem]:
    """Tell of each cell that holds an error, and of the first date of a column: an id may have become one."""
    header = [_text(value).strip() for value in records[0][1]] if records else []
    dated: set[str] = set()
    for number, (line, values) in enumerate(records[1:], start=1):
        for column, value in zip(header, values, strict=False):
            if isinstance(value, str) and value in FAULTS:
                yield Problem(Severity.ERROR, f"The cell holds an error, {value}.", number, line, column)
            if isinstance(value, date | time) and column not in dated:
                dated.add(column)
                message = f'The cell is a date for Excel; it is read as "{_text(value)}".'
                yield Problem(Severity.WARNING, message, number, line, column)


def _hidden(data: bytes, part: str, *, header: int) -> Iterator[Problem]:
    """Tell of merged cells, all but one of which are empty, and of formulas whose value the file lacks.

    `header` is the row the table begins with; what stands above it is not read.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        xml = archive.read(part.lstrip("/")) if part.lstrip("/") in archive.namelist() else b""
    for merged in MERGED.finditer(xml):
        if int(merged[2]) < header:
            continue
        yield file_error(f"The cells {merged[1].decode()} are merged; give each row its own.")
    for cell in UNCOMPUTED.finditer(xml):
        if cell["value"] and b't="str"' in cell["type"]:
            continue
        name, line = cell[1].decode(), int(cell[2])
        if line < header:
            continue
        yield file_error(f"The cell {name}{line} is a formula without a value; paste its value.", line=line)


def _other_sheets(names: list[str]) -> Iterator[Problem]:
    if len(names) > 1:
        message = f'The workbook has {len(names)} sheets; only the first, "{names[0][:40]}", is read.'
        yield Problem(Severity.WARNING, message)
