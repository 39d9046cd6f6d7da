"""A table as CSV text, column by column: every distinct value is formatted once.

The text is what `DataFrame.to_csv(index=False, lineterminator="\\n")` writes: cells are quoted where they hold a
comma, a quote or a line feed; missing values are blank. But texts, and names of columns, are made safe to open and to
read again, unless a layout is somebody else's and taken `as_is`.

A cell that a spreadsheet would run as a formula gets a leading apostrophe, which makes it text
(https://owasp.org/www-community/attacks/CSV_Injection). Line ends within a cell become "\n": before Python 3.13
the csv module does not quote a lone carriage return, and readers would take it for the end of the row.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from surveys.results.frames.base import Repeated

NUMERAL = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


def safe_text(text: str) -> str:
    """Return a text as a cell no spreadsheet runs. A number is one, with its sign."""
    is_run = text.startswith(DANGEROUS) and not NUMERAL.fullmatch(text)
    fixed = f"'{text}" if is_run else text
    return fixed.replace("\r\n", "\n").replace("\r", "\n")


COMMA = pa.scalar(",", pa.large_string())
Fixed = Callable[[Any], str]


def quoted(text: str) -> str:
    if "," in text or '"' in text or "\n" in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def write_csv(table: pd.DataFrame, stream: IO[str], *, as_is: bool = False) -> None:
    """Write header and rows, without the index; `as_is` leaves texts as they are, whatever a spreadsheet does."""
    stream.writelines(csv_parts([table], as_is=as_is))


def csv_parts(tables: Iterable[pd.DataFrame | Repeated], *, as_is: bool = False) -> Iterator[str]:
    """Yield tables of the same columns as the text of one: the header, then each table's rows."""
    fixed = str if as_is else _harmless
    for n, table in enumerate(tables):
        names = table.names if isinstance(table, Repeated) else table.columns
        header = "" if n else ",".join(quoted(fixed(name)) for name in names) + "\n"
        yield header + (_repeated(table, fixed) if isinstance(table, Repeated) else _rows(table, fixed))


def _harmless(value: Any) -> str:
    """Return a cell's text; numbers and booleans need no care."""
    return safe_text(value) if isinstance(value, str) else str(value)


def _rows(table: pd.DataFrame, fixed: Fixed) -> str:
    return "\n" * len(table) if table.empty else _text(_lines(table, fixed, end="\n"))


def _repeated(table: Repeated, fixed: Fixed) -> str:
    """Return the rows' text: columns that stand beside each other and are shared are one text of each shared row."""
    if not len(table.places):
        return ""
    runs = [(is_shared, list(run)) for is_shared, run in groupby(table.names, key=table.shared.__contains__)]
    parts = [
        _lines(table.shared[run], fixed, end=end).take(pa.array(table.places))
        if is_shared
        else _lines(table.own[run], fixed, end=end)
        for (is_shared, run), end in zip(runs, [*[""] * (len(runs) - 1), "\n"], strict=True)
    ]
    return _text(pc.binary_join_element_wise(*parts, COMMA))


def _lines(table: pd.DataFrame, fixed: Fixed, *, end: str) -> pa.LargeStringArray:
    *others, last = [table.iloc[:, n] for n in range(table.shape[1])]
    return pc.binary_join_element_wise(
        *(_cells(values, fixed) for values in others), _cells(last, fixed, end=end), COMMA
    )


def _text(lines: pa.LargeStringArray) -> str:
    """Return lines as one text: it is one buffer of their array."""
    _, offsets, text = lines.buffers()
    return str(text[: np.frombuffer(offsets, dtype=np.int64)[len(lines)]], "utf-8")


def _cells(values: "pd.Series[Any]", fixed: Fixed, *, end: str = "") -> pa.LargeStringArray:
    codes, distinct = pd.factorize(values)
    texts = [end, *(quoted(fixed(value)) + end for value in distinct.tolist())]
    return pa.array(texts, pa.large_string()).take(pa.array(codes + 1))
