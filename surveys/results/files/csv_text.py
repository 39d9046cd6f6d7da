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

import pandas as pd

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


SPECIAL = (",", '"', "\n")


class _Cells(dict[Any, str]):
    """{value: cell}, filled as values turn up."""

    def __missing__(self, value: Any) -> str:
        cell = "" if pd.isna(value) else quoted(str(value))
        self[value] = cell
        return cell


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
        yield header + "".join(",".join(cells) + "\n" for cells in zip(*_columns(table), strict=True))


def _columns(table: pd.DataFrame) -> Iterator[list[str]]:
    for name in table.columns:
        cells = _Cells()
        yield list(map(cells.__getitem__, table[name].tolist()))
