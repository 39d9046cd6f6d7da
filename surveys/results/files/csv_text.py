"""A table as CSV text, column by column: every distinct value is formatted once.

The text is what `DataFrame.to_csv(index=False, lineterminator="\\n")` writes: cells are quoted where they hold a
comma, a quote or a line feed; missing values are blank.

Text cells of the layouts that are ours, made safe to open and to read again.

A cell that a spreadsheet would run as a formula gets a leading apostrophe, which makes it text
(https://owasp.org/www-community/attacks/CSV_Injection). Line ends within a cell become "\n": before Python 3.13
the csv module does not quote a lone carriage return, and readers would take it for the end of the row.
"""

import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

NUMERAL = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


def neutralised(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its text cells made safe; numbers and booleans are left alone."""
    return table.assign(**{name: _harmless(table[name]) for name in table.columns if _is_text(table[name])})


def _is_text(values: "pd.Series[str]") -> bool:
    return isinstance(values.dtype, pd.StringDtype)


def _harmless(values: "pd.Series[str]") -> "pd.Series[str]":
    distinct = values.dropna().drop_duplicates()
    safe = {text: fixed for text in distinct if (fixed := safe_text(text)) != text}
    return values.map(lambda text: safe.get(text, text), na_action="ignore") if safe else values


def safe_text(text: str) -> str:
    """Return a text as a cell no spreadsheet runs. A number is one, with its sign."""
    is_run = text.startswith(DANGEROUS) and not NUMERAL.fullmatch(text)
    fixed = f"'{text}" if is_run else text
    return fixed.replace("\r\n", "\n").replace("\r", "\n")


COMMA = pa.scalar(",", pa.large_string())
SPECIAL = (",", '"', "\n")


def quoted(text: str) -> str:
    if any(mark in text for mark in SPECIAL):
        return '"' + text.replace('"', '""') + '"'
    return text


def write_csv(table: pd.DataFrame, stream: IO[str]) -> None:
    """Write header and rows, without the index."""
    stream.writelines(csv_parts([table]))


def csv_parts(tables: Iterable[pd.DataFrame]) -> Iterator[str]:
    """Yield tables of the same columns as the text of one: the header, then each table's rows."""
    for n, table in enumerate(tables):
        header = "" if n else ",".join(map(quoted, table.columns)) + "\n"
        yield header + _lines(table)


def _lines(table: pd.DataFrame) -> str:
    """Return the rows' text; it is one buffer of the array of lines."""
    if table.empty:
        return "\n" * len(table)
    *others, last = [table.iloc[:, n] for n in range(table.shape[1])]
    lines = pc.binary_join_element_wise(*map(_cells, others), _cells(last, end="\n"), COMMA)
    _, offsets, text = lines.buffers()
    return str(text[: np.frombuffer(offsets, dtype=np.int64)[len(lines)]], "utf-8")


def _cells(values: "pd.Series[Any]", *, end: str = "") -> pa.LargeStringArray:
    codes, distinct = pd.factorize(values)
    texts = [end, *(quoted(str(value)) + end for value in distinct.tolist())]
    return pa.array(texts, pa.large_string()).take(pa.array(codes + 1))
