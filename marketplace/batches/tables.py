"""CSV files as researchers upload them, read strictly: every problem with its row or line."""

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from marketplace.questions import documents

MOST_ROWS = 5_000
MOST_PROBLEMS = 20


class BadTable(ValueError):
    """A file that cannot be taken; `problems` are full sentences for the researcher."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = shortened(problems)


@dataclass(frozen=True)
class Table:
    """`rows` hold a cell for every column; columns without a name are left out of both."""

    columns: list[str]
    rows: list[list[str]]


def shortened(problems: list[str]) -> list[str]:
    """Return the first problems and how many more there are."""
    more = len(problems) - MOST_PROBLEMS
    return problems if more <= 0 else [*problems[:MOST_PROBLEMS], f"And {more} more problems like these."]


def read(raw: bytes, *, may_be_short: bool = False, most_rows: int = MOST_ROWS) -> Table:
    """Read a CSV in UTF-8, with or without a byte order mark. Raises BadTable.

    With `may_be_short`, cells missing at the end of a row are empty: MTurk's own results files lack two.
    """
    lines = _records(_decoded(raw))
    header = [name.strip() for name in next(lines, [])]
    problems = _header_problems(header)
    rows = []
    for number, cells in enumerate(filter(any, lines), start=1):
        if number > most_rows:
            raise BadTable([f"The file has more than {most_rows} rows. Split it."])
        problems += _row_problems(number, cells, header=header, may_be_short=may_be_short)
        rows.append(cells + [""] * (len(header) - len(cells)))
    if not rows and not problems:
        problems = ["The file has a header but no rows."]
    if problems:
        raise BadTable(problems)
    kept = [position for position, name in enumerate(header) if name]
    return Table([header[at] for at in kept], [[row[at] for at in kept] for row in rows])


def _decoded(raw: bytes) -> str:
    if not raw.removeprefix(codecs.BOM_UTF8).strip():
        raise BadTable(["The file is empty."])
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadTable(["The file is UTF-16. Save it as CSV in UTF-8."])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # Positions count from behind a byte order mark, which holds no line end.
        line = error.object[: error.start].count(b"\n") + 1
        raise BadTable([f"Line {line} is not UTF-8. Save the file as CSV in UTF-8."]) from error


def _records(text: str) -> Iterator[list[str]]:
    """Yield the records, blank lines left out."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        yield from (cells for cells in reader if cells)
    except csv.Error as error:
        raise BadTable([f"Line {reader.line_num} cannot be read as CSV: {error}."]) from error


def _header_problems(header: list[str]) -> list[str]:
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    problems = [f"The column “{name}” occurs twice." for name in twice]
    if any(map(documents.ILLEGAL.search, header)):
        problems.append("The name of a column holds a control character.")
    return problems if any(header) else [*problems, "The first line names no column."]


def _row_problems(number: int, cells: list[str], *, header: list[str], may_be_short: bool) -> list[str]:
    problems = []
    if len(cells) > len(header):
        problems.append(f"Row {number} has {len(cells)} cells, but the header has {len(header)} columns.")
    if not may_be_short:
        problems += [f"Row {number} ends before the column “{name}”." for name in header[len(cells) :]]
    problems += [
        f"Row {number}, column “{name}”, holds a control character."
        for name, cell in zip(header, cells, strict=False)
        if documents.ILLEGAL.search(cell)
    ]
    return problems
