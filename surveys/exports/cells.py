"""Cells that a spreadsheet would run as a formula are made harmless in the layouts that are ours.

https://owasp.org/www-community/attacks/CSV_Injection: a leading apostrophe makes a cell text.
"""

import pandas as pd

DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


def neutralised(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with an apostrophe before every text cell that could start a formula."""
    return table.assign(**{name: _harmless(table[name]) for name in table.columns if _is_text(table[name])})


def _is_text(values: "pd.Series[str]") -> bool:
    return isinstance(values.dtype, pd.StringDtype)


def _harmless(values: "pd.Series[str]") -> "pd.Series[str]":
    is_dangerous = values.str.startswith(DANGEROUS).fillna(False).astype(bool)
    return values.mask(is_dangerous, "'" + values) if is_dangerous.any() else values
