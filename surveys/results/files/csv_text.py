"""A table as CSV text, column by column: every distinct value is formatted once.

The text is what `DataFrame.to_csv(index=False, lineterminator="\\n")` writes: cells are quoted where they hold a
comma, a quote or a line feed; missing values are blank.
"""

from collections.abc import Iterator
from typing import IO, Any

import pandas as pd

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
    stream.write(",".join(map(quoted, table.columns)) + "\n")
    stream.writelines(",".join(cells) + "\n" for cells in zip(*_columns(table), strict=True))


def _columns(table: pd.DataFrame) -> Iterator[list[str]]:
    for name in table.columns:
        cells = _Cells()
        yield list(map(cells.__getitem__, table[name].tolist()))
