"""Files as other programs write them: semicolons, tabs, UTF-16, Excel; and columns that nobody here named."""

import csv
import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from openpyxl import Workbook

from surveys.protocols.criteria import AnswerQuestion, Choice
from surveys.protocols.definition import Definition
from surveys.studies.importing.plan import Plan
from surveys.studies.importing.reading import read_items, read_table
from surveys.studies.importing.roles import by_our_names, guessed, roles_of, template_csv
from surveys.studies.importing.tables import Row
from tests.protocols import ESNLIVE, VCR, VQAX, VTT, XAI

HEADER = ("item_id", "image", "label", "explanation", "system")
ROWS = (
    ("p1", "p1.png", "кот", "Уши; усы, хвост 🐈", "lime"),
    ("p2", "p2.png", "=HYPERLINK(1)", "b\tc", "lime"),
)
LABELS = [("p1", "кот", "Уши; усы, хвост 🐈"), ("p2", "=HYPERLINK(1)", "b\tc")]


def written(*, delimiter: str = ",", start: str = "") -> str:
    quoted = [delimiter.join(f'"{cell}"' for cell in row) for row in (HEADER, *ROWS)]
    return start + "\r\n".join([*quoted, ""])


def book(*rows: tuple[Any, ...], change: Callable[[Workbook], None] = lambda book: None) -> bytes:
    workbook = Workbook()
    for row in rows:
        workbook.active.append(row)
    change(workbook)
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


def edited(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Return a workbook with its first sheet's XML changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(out, "w") as after:
        for name in before.namelist():
            xml = before.read(name)
            after.writestr(name, change(xml) if name == "xl/worksheets/sheet1.xml" else xml)
    return out.getvalue()


def shown(plan: Plan) -> list[tuple[str, str, str]]:
    assert [str(problem) for problem in plan.problems] == []
    return [(item.external_id, item.question, item.outputs[0].text) for item in plan.items]


FILES = {
    "commas": written().encode(),
    "semicolons": written(delimiter=";").encode(),
    "tabs": written(delimiter="\t").encode(),
    "told by Excel": written(delimiter=";", start="sep=;\r\n").encode("utf-8-sig"),
    "unicode text of Excel": written(delimiter="\t").encode("utf-16"),
    "utf-16, big end first": b"\xfe\xff" + written(delimiter=";").encode("utf-16-be"),
}


MISLEADING = {
    "semicolons in the header": ["id", "note; with; many; parts", "x"],
    "a line break in the header": ["id", "note\r\nof the; first; rater", "x"],
    "a line break in the first name": ["note\r\nof a rater", "id", "x"],
}


@pytest.mark.parametrize("header", MISLEADING.values(), ids=MISLEADING)
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_what_stands_in_quotes_parts_no_columns(header: list[str], delimiter: str) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(
        [header, ["1", "a; b; c", "y"], ["2", "", ""]]
    )
    table = read_table(out.getvalue().encode())
    assert (table.header, [row.cells[header[0]] for row in table.rows]) == (tuple(header), ["1", "2"])


def test_unquoted_texts_with_the_other_delimiter_do_not_mislead() -> None:
    table = read_table(b"id,a;b;c;d,x\n1,one,y\n2,two;2,y\n")
    assert (table.header, len(table.rows)) == (("id", "a;b;c;d", "x"), 2)


@pytest.mark.parametrize("case", FILES)
def test_a_table_is_read_as_its_program_wrote_it(case: str) -> None:
    assert shown(read_items(FILES[case], definition=XAI)) == LABELS


def test_an_excel_file_is_read_as_it_comes() -> None:
    rows = [(HEADER), (7, "p1.png", True, 2.0, "lime"), ("p2", "p2.png", 0.5, "x", "lime", None, "")]
    assert shown(read_items(book(*rows), definition=XAI)) == [("7", "true", "2"), ("p2", "0.5", "x")]


def test_the_row_and_line_of_an_excel_file_are_told() -> None:
    data = book(HEADER, ROWS[0], (), ("p2", "p2.png", "cat", None, "lime"))
    problems = read_items(data, definition=XAI).problems
    assert [str(p) for p in problems] == ["row 2 (line 4), column explanation: The cell is empty."]


def sheet(cells: dict[str, Any]) -> bytes:
    def change(workbook: Workbook) -> None:
        for name, value in cells.items():
            workbook.active[name] = value

    return book(
        HEADER, *[("p1", "p1.png", "cat", "b", "lime"), ("p2", "p2.png", "cat", "b", "lime")], change=change
    )


HIDDEN = {
    "a date": (
        {"A2": datetime(2026, 3, 4, tzinfo=UTC).replace(tzinfo=None)},
        'row 1 (line 2), column item_id: The cell is a date for Excel; it is read as "2026-03-04".',
    ),
    "an error": ({"C3": "#REF!"}, "row 2 (line 3), column label: The cell holds an error, #REF!."),
    "a formula": (
        {"D2": '=HYPERLINK("x")'},
        "line 2: The cell D2 is a formula without a value; paste its value.",
    ),
}


@pytest.mark.parametrize("case", HIDDEN)
def test_what_a_spreadsheet_hides_is_told_by_cell(case: str) -> None:
    cells, sentence = HIDDEN[case]
    assert sentence in [str(problem) for problem in read_items(sheet(cells), definition=XAI).problems]


def test_a_row_after_a_long_gap_is_never_lost() -> None:
    late = dict(zip(("A12000", "B12000", "C12000", "D12000", "E12000"), ROWS[0], strict=True))
    problems = [str(problem) for problem in read_items(sheet(late), definition=XAI).problems]
    assert problems == ["Row 12000 follows 11,996 blank ones: delete these, or what comes after them."]


def test_a_formula_that_came_to_nothing_is_an_empty_cell() -> None:
    empty = b'<c r="F2" t="str"><f>IF(A2="p1","","x")</f><v></v></c>'
    data = edited(sheet({"F1": "note", "F2": "x"}), lambda xml: re.sub(rb'<c r="F2".*?</c>', empty, xml))
    assert read_items(data, definition=XAI).errors == ()
    assert read_table(data).rows[0].cells["note"] == ""


def test_titles_above_the_table_are_left_out_and_told() -> None:
    titles = [("Labels of May",), (), (None, "made by hand")]

    def merge(workbook: Workbook) -> None:
        workbook.active.merge_cells("A1:E1")

    plan = read_items(
        book(*titles, HEADER, ("p1", "p1.png", "cat", "b", "lime"), change=merge), definition=XAI
    )
    assert [str(problem) for problem in plan.problems] == [
        "Row 4 is read as the header; what stands above it is left out."
    ]
    assert [item.external_id for item in plan.items] == ["p1"]


def test_a_sheet_of_one_column_has_no_titles() -> None:
    table = read_table(book(("item_id",), ("a",), ("b",)))
    assert (table.header, len(table.rows), table.problems) == (("item_id",), 2, ())


def test_merged_cells_are_refused() -> None:
    data = book(HEADER, *ROWS, change=lambda workbook: workbook.active.merge_cells("E2:E3"))
    problems = read_items(data, definition=XAI).errors
    assert "The cells E2:E3 are merged; give each row its own." in [str(problem) for problem in problems]


def test_a_second_sheet_is_told() -> None:
    data = book(HEADER, *ROWS, change=lambda workbook: workbook.create_sheet("More"))
    assert [str(problem) for problem in read_items(data, definition=XAI).warnings] == [
        'The workbook has 2 sheets; only the first, "Sheet", is read.'
    ]


def test_two_columns_of_one_name_are_refused_in_excel_too() -> None:
    problems = read_items(book((*HEADER, "label"), (*ROWS[0], "b")), definition=XAI).errors
    assert [str(problem) for problem in problems] == ["line 1, column label: Two columns have this name."]


def archive(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return out.getvalue()


BOMB = b'<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "ha">]><b>&a;</b>'
ARCHIVES = {
    "pictures": (
        {"a.png": b"x"},
        "The file is a ZIP, but not an Excel file; pictures have a field of their own.",
    ),
    "zeros": ({"xl/workbook.xml": bytes(101 * 2**20)}, "The Excel file unpacks to more than 100 MB."),
    "entities": ({"xl/workbook.xml": BOMB}, "The Excel file can't be read; save it as CSV and try again."),
    "nothing in it": (
        {"xl/workbook.xml": b"<a/>"},
        "The Excel file can't be read; save it as CSV and try again.",
    ),
}


@pytest.mark.parametrize("case", ARCHIVES)
def test_an_archive_that_is_no_excel_file(case: str) -> None:
    parts, sentence = ARCHIVES[case]
    assert [str(problem) for problem in read_items(archive(parts), definition=XAI).problems] == [sentence]


def test_columns_under_other_names() -> None:
    data = "uid;Bild;Klasse;Modellausgabe\nа1;a.png;cat;It has ears.\n".encode()
    columns = {"item_id": "uid", "image": "Bild", "question": "Klasse", "explanation": "Modellausgabe"}
    plan = read_items(data, definition=XAI, system="mine", columns=columns)
    assert shown(plan) == [("а1", "cat", "It has ears.")]
    assert (plan.items[0].outputs[0].system, plan.header) == (
        "mine",
        ("uid", "Bild", "Klasse", "Modellausgabe"),
    )


@pytest.mark.parametrize(
    ("definition", "columns", "ours"),
    [
        (XAI, {"label": "c", "text": "e"}, {"question": "c", "explanation": "e"}),
        (XAI, {"label": "c", "question": "e", "what": "i"}, {"label": "c", "question": "e", "what": "i"}),
        (ESNLIVE, {"statement": "c", "exp": "e"}, {"question": "c", "system": "e"}),
        (VTT, {"label": "c", "preds": "e", "index": "i"}, {"references": "c", "steps": "e", "item_id": "i"}),
    ],
)
def test_columns_may_be_told_by_what_files_call_them(
    definition: Definition, columns: dict[str, str], ours: dict[str, str]
) -> None:
    assert by_our_names(columns, definition=definition) == ours


def test_a_file_read_by_what_files_call_its_columns() -> None:
    columns = {"item_id": "uid", "image": "b", "label": "c", "text": "e"}
    plan = read_items(b"uid,b,c,e\n1,a.png,cat,It has ears.\n", definition=XAI, columns=columns)
    assert (shown(plan), plan.errors) == ([("1", "cat", "It has ears.")], ())


def test_a_column_of_our_name_can_have_another_role() -> None:
    data = b"item_id,image,question,label,explanation,system\n1,a.png,What?,cat,b,m\n"
    plan = read_items(data, definition=XAI, columns={"question": "label"})
    assert shown(plan) == [("1", "cat", "b")]


def test_what_is_missing_is_told_with_what_is_there() -> None:
    columns = {"item_id": "uid", "reply": "b", "image": "gone"}
    problems = read_items(b"uid,b\n1,2\n", definition=XAI, columns=columns).errors
    known = ", ".join(role.name for role in roles_of(XAI))
    assert sorted(map(str, problems)) == [
        f'column b: There is no role "reply"; known: {known}.',
        "column gone: The file has no such column; it has uid, b.",
        "line 1: No column is “Explanation”; the file has uid, b.",
        "line 1: No column is “Label the system gave” (question); the file has uid, b.",
    ]


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (
            ["ID", "Image File", "Label", "Model", "Rationale"],
            ["ID", "Image File", "Label", "Rationale", "Model"],
        ),
        (["Nummer", "Bild", "Klasse", "Begründung"], ["Nummer", "Bild", "Klasse", "Begründung"]),
        (["id", "Foto", "Label", "Warum?"], ["id", "Foto", "Label", "Warum?"]),
        (["№", "Картинка", "Метка", "Объяснение"], ["Картинка", "Метка", "Объяснение"]),
        (
            ["номер", "Имя файла", "класс", "Почему", "модель"],
            ["номер", "Имя файла", "класс", "Почему", "модель"],
        ),
        (["id", "file", "label", "Erkla\u0308rung"], ["id", "file", "label", "Erkla\u0308rung"]),
        (["id", "fichier", "Étiquette", "why"], ["id", "fichier", "Étiquette", "why"]),
        (["item_id", "id", "image", "statement", "text"], ["item_id", "image", "statement", "text"]),
    ],
)
def test_roles_are_guessed_by_name(header: list[str], found: list[str]) -> None:
    assert list(guessed(header, definition=XAI).values()) == found


def guessed_by_values(**columns: list[str]) -> dict[str, str]:
    """Return what is guessed for columns with these values, of which no name tells anything."""
    rows = [
        Row(n, n, dict(zip(columns, cells, strict=True)))
        for n, cells in enumerate(zip(*columns.values(), strict=True), start=1)
    ]
    return guessed(columns, definition=VQAX if "asks" in columns else XAI, rows=rows)


WHYS = ["It has ears and a tail.", "", "Whiskers are seen at its nose."]


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"a": ["1.png", "", "https://x.org/a b.JPG?w=1"], "b": WHYS}, {"image": "a", "explanation": "b"}),
        ({"a": ["1.png", "2.png", "3"], "b": ["short", "", "x y"]}, {}),
        ({"a": ["dog", "cat", "dog"], "b": WHYS}, {"explanation": "b"}),
        ({"a": ["dog", "dog", "dog"], "b": ["5", "5", "5"]}, {"question": "a"}),
        ({"a": ["dog"] * 3, "b": ["lime"] * 3}, {}),
        ({"a": WHYS, "b": WHYS}, {}),
        ({"a": [""] * 3, "asks": ["Who?", "Where is it?", "Is it?"]}, {"question": "asks"}),
        ({"a": [], "b": []}, {}),
    ],
)
def test_what_no_name_tells_is_guessed_by_values_where_one_column_is_alike(
    columns: dict[str, list[str]], found: dict[str, str]
) -> None:
    assert guessed_by_values(**columns) == found


@pytest.mark.parametrize("definition", [VQAX, ESNLIVE, VCR, XAI, VTT])
def test_a_template_can_be_imported_as_it_is(definition: Any) -> None:
    data = template_csv(definition).encode()
    plan = read_items(data, definition=definition)
    assert [str(problem) for problem in plan.errors] == []
    assert (len(plan.items), plan.n_outputs) == (1, definition.outputs_per_item)
    names = list(read_table(data).header)
    assert guessed(names, definition=definition) == {name: name for name in names}


def test_a_template_holds_nothing_that_a_spreadsheet_runs() -> None:
    ran = Choice('=HYPERLINK("//x")', "A")
    definition = replace(
        XAI, reference_system="@SUM(1)", answer=AnswerQuestion("Which?", choices=(ran, Choice("b", "B")))
    )
    cells = [cell for row in csv.reader(io.StringIO(template_csv(definition))) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []
