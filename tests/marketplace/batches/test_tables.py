"""CSV files of researchers: what is read, and what is said about the rest."""

import pytest

from marketplace.batches import tables


def test_a_table_is_read_with_its_byte_order_mark_quotes_and_blank_lines():
    raw = '\ufeffname,text\r\nMünze,"a, ""b""\r\nc"\r\n\r\n=1+1,\r\n'.encode()
    found = tables.read(raw)
    assert found == tables.Table(["name", "text"], [["Münze", 'a, "b"\r\nc'], ["=1+1", ""]])


def test_a_column_without_a_name_is_left_out():
    assert tables.read(b",a\n0,x\n1,y\n") == tables.Table(["a"], [["x"], ["y"]])


BAD = {
    b"": ["The file is empty."],
    b"\xef\xbb\xbf\n": ["The file is empty."],
    b"a,b\n": ["The file has a header but no rows."],
    b",\n1,2\n": ["The first line names no column."],
    b"a,a\n1,2\n": ["The column “a” occurs twice."],
    b"a,b,c\n1,2,3\n4\n": ["Row 2 ends before the column “b”.", "Row 2 ends before the column “c”."],
    b"a,b\n1,2,3\n": ["Row 1 has 3 cells, but the header has 2 columns."],
    b"a\nok\nM\xfcnze\n": ["Line 3 is not UTF-8. Save the file as CSV in UTF-8."],
    "a\nb\n".encode("utf-16"): ["The file is UTF-16. Save it as CSV in UTF-8."],
    b'a,b\n1,"2\n': ["Line 2 cannot be read as CSV: unexpected end of data."],
    b"a,b\x00\n1,2\n": ["The name of a column holds a control character."],
    b"a,b\n1,\x07\n": ["Row 1, column “b”, holds a control character."],
}


@pytest.mark.parametrize(("raw", "problems"), BAD.items(), ids=range(len(BAD)))
def test_a_bad_table_is_refused_by_row_and_column(raw, problems):
    with pytest.raises(tables.BadTable) as refused:
        tables.read(raw)
    assert refused.value.problems == problems


def test_a_cell_that_is_too_long_is_refused():
    with pytest.raises(tables.BadTable) as refused:
        tables.read(b"a\n" + b"x" * 200_000 + b"\n")
    assert refused.value.problems == ["Line 2 cannot be read as CSV: field larger than field limit (131072)."]


def test_many_problems_are_told_in_part():
    with pytest.raises(tables.BadTable) as refused:
        tables.read(b"a,b\n" + b"1\n" * 25)
    assert refused.value.problems[0] == "Row 1 ends before the column “b”."
    assert refused.value.problems[20:] == ["And 5 more problems like these."]


def test_rows_have_a_limit():
    with pytest.raises(tables.BadTable) as refused:
        tables.read(b"a\n" + b"1\n" * 4, most_rows=3)
    assert refused.value.problems == ["The file has more than 3 rows. Split it."]


def test_short_rows_are_filled_up_where_they_are_allowed():
    assert tables.read(b"a,b\n1\n", may_be_short=True).rows == [["1", ""]]
