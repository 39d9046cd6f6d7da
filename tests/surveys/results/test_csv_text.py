import io

import pandas as pd
import pytest

from surveys.results.files.csv_text import safe_text, write_csv

SAFE = {
    "=1+1": "'=1+1",
    "-1.5": "-1.5",
    "+3": "+3",
    "-1-1": "'-1-1",
    "@x": "'@x",
    "-": "'-",
    "1": "1",
    "a\r\nb": "a\nb",
}
TEXTS = ["plain", "a,b", 'a "b"', "two\nlines", "", None, " lead", "été 😀", "nan", "1.50"]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(TEXTS, dtype="str"),
        pd.Series([1.0, 2 / 3, None, 1e-9, 1e22], dtype="float64"),
        pd.Series([1.5, None], dtype="Float64"),
        pd.Series([1, 0, None], dtype="Int64"),
        pd.Series([1, 0, -5], dtype="int64"),
        pd.Series([True, False, None], dtype="boolean"),
        pd.Series([True, False], dtype="bool"),
        pd.Series([], dtype="str"),
    ],
)
def test_it_writes_what_pandas_writes(values):
    table = pd.DataFrame({"n": range(len(values)), 'a "name", quoted': values})
    stream = io.StringIO(newline="")

    write_csv(table, stream)

    assert stream.getvalue() == table.to_csv(index=False, lineterminator="\n")


@pytest.mark.parametrize("text", SAFE)
def test_what_a_spreadsheet_would_run_is_a_text_and_a_number_is_one(text):
    assert safe_text(text) == SAFE[text]
