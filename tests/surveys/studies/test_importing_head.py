"""Of a large file no more than its head is read while somebody waits to say what its columns mean."""

from pathlib import Path

import pytest

from surveys.studies.importing import reading
from surveys.studies.importing.reading import HEAD, read_head, read_table
from tests.surveys.studies.test_importing_files import book


def padded(text: str, *, row: str) -> bytes:
    """Return a file that is longer than what is read of it for its columns."""
    return (text + row * (1 + HEAD // len(row))).encode()


LONG = "x" * 1000
LARGE = {
    "csv": padded("id;Text\n1;ä\n", row=f'2;"{LONG}\n;"\n'),
    "cut in a cell": padded("id,Text\n1,ä\n", row='2,"' + "y\n" * 40_000 + '"\n'),
    "an object that is longer": b'{"id": 1, "Text": "' + b"z" * HEAD + b'"}\n',
    "json lines": padded('{"id": 1, "Text": "ä"}\n', row=f'{{"id": 2, "Text": "{LONG}"}}\n'),
    "a list on one line": padded('[{"id": 1, "Text": "ä"}', row=f', {{"id": 2, "Text": "{LONG}ü"}}') + b"]",
    "a list over many lines": padded('[\n{"id": 1,\n "Text": "ä"}', row=f',\n{{"id": 2,\n"Text": "{LONG}"}}')
    + b"]",
    "UTF-16": "\ufeff".encode("utf-16-le")
    + padded("id,Text\n1,ä\n", row=f"2,{LONG}\n").decode().encode("utf-16-le"),
}


@pytest.mark.parametrize("kind", LARGE)
def test_the_head_of_a_large_file_tells_its_columns_and_first_rows(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "items"
    path.write_bytes(LARGE[kind])
    head, whole = read_head(path), read_table(LARGE[kind])
    assert (head.header, head.rows[0].cells, head.problems) == (("id", "Text"), whole.rows[0].cells, ())
    assert [row.cells for row in head.rows] == [row.cells for row in whole.rows[: len(head.rows)]]


@pytest.mark.parametrize(
    "kind", ["csv", "cut in a cell", "json lines", "a list on one line", "a list over many lines"]
)
def test_no_more_than_the_head_of_a_large_file_is_read(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "items"
    path.write_bytes(LARGE[kind])
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail("all of it is read"))
    assert read_head(path).header == ("id", "Text")


def test_the_head_of_a_large_spreadsheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "items"
    path.write_bytes(book(("id", "Text"), *[(n, f"text {n}") for n in range(1, 21)]))
    monkeypatch.setattr(reading, "HEAD", 100)
    monkeypatch.setattr(reading, "HEAD_ROWS", 5)
    head = read_head(path)
    assert (head.header, [row.cells["id"] for row in head.rows]) == (("id", "Text"), ["1", "2", "3", "4"])


def test_a_small_file_is_read_whole_and_a_broken_large_one_says_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "items"
    path.write_bytes(b"id,Text\n1\n")
    assert read_head(path) == read_table(b"id,Text\n1\n")
    broken = b"id,Text\n1,\xff\n" + b"2,x\n" * HEAD
    path.write_bytes(broken)
    assert [str(one) for one in read_head(path).problems] == [str(one) for one in read_table(broken).problems]
