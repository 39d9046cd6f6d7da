"""Text cells of the layouts that are ours, made safe to open and to read again.

A cell that a spreadsheet would run as a formula gets a leading apostrophe, which makes it text
(https://owasp.org/www-community/attacks/CSV_Injection). Line ends within a cell become "\\n": before Python 3.13
the csv module does not quote a lone carriage return, and readers would take it for the end of the row.
"""

import pandas as pd

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
    """Return a text as a cell no spreadsheet runs."""
    fixed = f"'{text}" if text.startswith(DANGEROUS) else text
    return fixed.replace("\r\n", "\n").replace("\r", "\n")
