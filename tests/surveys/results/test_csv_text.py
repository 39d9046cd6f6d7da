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


@pytest.mark.parametrize("dtype", ["str", "object", "category"])
def test_texts_and_names_of_columns_are_made_safe_unless_they_are_taken_as_they_are(dtype):
    table = pd.DataFrame({"=name": pd.Series(["=1+1", "-5", "a\r\nb"], dtype=dtype), "n": [-1, 0, 1]})
    safe, as_is = io.StringIO(newline=""), io.StringIO(newline="")

    write_csv(table, safe)
    write_csv(table, as_is, as_is=True)

    assert safe.getvalue() == "'=name,n\n'=1+1,-1\n-5,0\n\"a\nb\",1\n"
    assert as_is.getvalue() == '=name,n\n=1+1,-1\n-5,0\n"a\r\nb",1\n'
