"""A file to a plan: all that can be wrong, by row and column."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surveys.studies.importing.plan import Layout, Problem
from surveys.studies.importing.tables import FOR_BLOCKS
from tests.protocols import ESNLIVE, VCR, VQAX
from tests.surveys.studies.importing_cases import (
    batch_csv,
    jsonl,
    long_csv,
    long_rows,
    places,
    read,
    slot,
    table,
)

SLOT_CASES = {
    "empty": (slot(2, question="  "), "question_1", "error", "The cell is empty."),
    "no distractor": (slot(2, other_answer2=""), "other_answer2_1", "error", "The cell is empty."),
    "twice in the file": (
        slot(2, id="item-1"),
        "id_1",
        "error",
        'The id "item-1" stands in row 1, column id_0 already.',
    ),
    "in the survey": (slot(2, id="old"), "id_1", "error", 'The survey has an item "old" already.'),
    "nul": (slot(2, explanation="a\0b"), "explanation_1", "error", "The cell holds a NUL character."),
    "encoded nul": (slot(2, img_name="a%00b"), "img_name_1", "error", "The file name holds a NUL character."),
    "long id": (
        slot(2, id="x" * 256),
        "id_1",
        "error",
        "The text has 256 characters; at most 255 are allowed.",
    ),
    "given twice": (
        slot(2, other_answer2="bat"),
        "other_answer2_1",
        "warning",
        'The choice "bat" is given twice; it is shown once.',
    ),
    "answered wrongly": (
        slot(2, output_answer="dog"),
        "output_answer_1",
        "warning",
        '"model" answered "dog", which is wrong: right is "cat".',
    ),
    "html": (
        slot(2, explanation="a <b>big</b> cat"),
        "explanation_1",
        "warning",
        'The text holds "<b>", which annotators will see as it stands.',
    ),
    "entity": (
        slot(2, question="salt &amp; pepper?"),
        "question_1",
        "warning",
        'The text holds "&amp;", which annotators will see as it stands.',
    ),
}


@pytest.mark.parametrize("case", SLOT_CASES)
def test_a_bad_cell_is_told_by_row_line_and_column(case: str) -> None:
    bad, column, severity, message = SLOT_CASES[case]
    plan = read(
        batch_csv([slot(8), slot(9)], [slot(1, id="item-0"), bad])
        if "file" not in case
        else batch_csv([slot(1), slot(3)], [slot(4), bad]),
        taken={"old"},
    )
    assert places(plan) == [(severity, 2, 3, column, message)]


def test_less_than_and_ampersand_in_prose_are_no_markup() -> None:
    assert read(batch_csv([slot(1, question="is 3 < 4 & 5 > 4?")])).problems == ()


def test_too_few_choices() -> None:
    plan = read(batch_csv([slot(1, other_answer1="cat", other_answer2="cat")]))
    assert places(plan) == [
        ("error", 1, 2, "other_answer2_0", "The question needs at least two different choices."),
        ("warning", 1, 2, "other_answer1_0", 'The choice "cat" is given twice; it is shown once.'),
        ("warning", 1, 2, "other_answer2_0", 'The choice "cat" is given twice; it is shown once.'),
    ]


def test_gold_not_among_fixed_choices() -> None:
    plan = read(batch_csv([slot(1)]), definition=ESNLIVE)
    message = 'The answer "cat" is not among the choices: entailment, neutral, contradiction.'
    assert places(plan) == [("error", 1, 2, "answer_0", message)]


def test_gold_not_among_given_choices() -> None:
    plan = read(long_csv(long_rows(answer="cow")))
    assert places(plan) == [("error", 1, 2, "answer", 'The answer "cow" is not among the choices: dog, cat.')]


def test_a_missing_column_is_named() -> None:
    plan = read(batch_csv([slot(1), slot(2)], without=("question_1", "img_name_0")))
    message = (
        "The column is missing. The file has index, id_0, id_1, question_0, answer_0, answer_1, output_answer_0, "
        "output_answer_1, output_explanation_0, output_explanation_1, explanation_0, explanation_1 and 5 more."
    )
    assert places(plan) == [
        ("error", None, 1, "question_1", message),
        ("error", None, 1, "img_name_0", message),
    ]
    assert plan.items == ()


def test_a_gap_between_slots_is_a_missing_column() -> None:
    data = batch_csv([slot(1), slot(2), slot(3)], without=("id_1",))
    message = (
        "The column is missing. The file has index, id_0, id_2, question_0, question_1, question_2, answer_0, "
        "answer_1, answer_2, output_answer_0, output_answer_1, output_answer_2 and 15 more."
    )
    assert places(read(data)) == [("error", None, 1, "id_1", message)]


def test_a_column_that_may_be_meant_is_named_and_never_one_that_is_needed_itself() -> None:
    found = "The file has item_id, imagee, question, answer, choices, system."
    assert places(read(b"item_id,imagee,question,answer,choices,system\na,b,c,d,d|e,f\n")) == [
        ("error", None, 1, "image", f'The column is missing; is it "imagee"? {found}'),
        ("error", None, 1, "explanation", f"The column is missing. {found}"),
    ]


def test_missing_columns_of_the_long_layout() -> None:
    assert places(read(b"item_id,question\na,b\n")) == [
        ("error", None, 1, name, "The column is missing. The file has item_id, question.")
        for name in ("image", "answer", "choices", "system", "explanation")
    ]


@pytest.mark.parametrize("extra", [["x"], ["x", "y"]])
def test_a_row_too_long(extra: list[str]) -> None:
    lines = batch_csv([slot(1)]).decode().splitlines()
    data = "\n".join([lines[0], lines[1] + "," + ",".join(extra)]).encode()
    message = f"The row has {10 + len(extra)} cells, the header 10."
    assert places(read(data)) == [("error", 1, 2, "img_name_0", message)]


def test_a_row_too_short() -> None:
    data = table([["item_id", "image", "question"], ["a", "b"]])
    assert places(read(data)) == [("error", 1, 2, "question", "The row has 2 cells, the header 3.")]


def test_rows_count_records_and_lines_count_lines() -> None:
    data = batch_csv([slot(1, question="two\nlines")], [slot(2, question="")])
    assert places(read(data)) == [("error", 2, 4, "question_0", "The cell is empty.")]


def test_wrong_encoding_is_told_by_offset_row_and_column() -> None:
    data = batch_csv([slot(1)], [slot(2, explanation="caf\xe9")]).decode().encode("latin-1")
    offset = data.index(b"\xe9")
    message = f"The file is not UTF-8: byte 0xE9 at offset {offset}. Save it as UTF-8 and try again."
    assert places(read(data)) == [("error", 2, 3, "explanation_0", message)]


FILES = {
    "nothing": (b"", "The file is empty (0 bytes)."),
    "white space": (b"\n\n", "The file has no header."),
    "a header": (b"id_0,question_0\n", "The file has a header but no rows."),
    "a broken spreadsheet": (
        b"PK\x03\x04rest",
        "The Excel file can't be read; save it as CSV and try again.",
    ),
    "an old spreadsheet": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "The file is of an old Excel (.xls); save it as .xlsx or CSV and try again.",
    ),
    "half of utf-16": (b"\xff\xfei\x00d", "The file begins as UTF-16, but byte 4 is broken."),
    "an open quote": (
        b'id_0,b\n1,"2\n',
        "The file is not well-formed CSV: unexpected end of data in the record that starts on line 2.",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_is_no_table(case: str) -> None:
    data, message = FILES[case]
    assert [str(problem) for problem in read(data).problems] == [message]


HEADERS = {
    "neither": (
        b"a,b\n1,2\n",
        'line 1: The header has neither "id_0" (a batch CSV, one row a HIT) nor "item_id" (one row an output).',
    ),
    "twice": (b"id_0,b,b\n1,2,3\n", "line 1, column b: Two columns have this name."),
    "no name": (b"id_0,,b\n1,2,3\n", "line 1: Column 2 has no name."),
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_header_that_is_none(case: str) -> None:
    data, message = HEADERS[case]
    assert message in [str(problem) for problem in read(data).errors]


def test_over_the_size_limit(settings) -> None:
    settings.UPLOAD_MAX_BYTES = 2**20
    assert [str(p) for p in read(b"x" * (2**20 + 1)).problems] == [
        "The file has 1,048,577 bytes; at most 1 MB are allowed."
    ]


def test_exactly_the_size_limit_is_read(settings) -> None:
    data = batch_csv([slot(1)])
    settings.UPLOAD_MAX_BYTES = len(data)
    assert read(data).problems == ()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"item_id": 1', "The line is not JSON: Expecting ',' delimiter at character 14."),
        (b"[1, 2]", "The line is not a JSON object."),
        (b'{"a": ' + b"1" * 5000 + b"}", "The line is not JSON that can be read."),
        (b"[" * 100_000, "The line is not JSON that can be read."),
    ],
)
def test_a_broken_jsonl_line(line: bytes, message: str) -> None:
    good = jsonl(long_rows())
    plan = read(good + b"\n" + line + b"\n")
    assert places(plan) == [("error", 3, 4, "", message)]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {"b": [[1]]}}, "The value must be a text or a list of texts."),
        ({"a": 1}, FOR_BLOCKS),
        ([{"role": "user", "content": "Hi"}], FOR_BLOCKS),
        ("a\0", "The text can't be stored (NUL or surrogate)."),
        ("\ud800", "The text can't be stored (NUL or surrogate)."),
    ],
)
def test_a_jsonl_value_that_is_no_text(value: object, message: str) -> None:
    rows = long_rows()
    plan = read(jsonl([rows[0], rows[1] | {"explanation": value}]))
    assert ("error", 2, 2, "explanation", message) in places(plan)


def test_an_item_without_both_systems() -> None:
    plan = read(long_csv([*long_rows("a"), long_rows("b")[0]]))
    message = "The item has outputs by 1 system (model); this survey type needs 2."
    assert places(plan) == [("error", 3, 4, "system", message)]


def test_a_third_system() -> None:
    plan = read(long_csv([*long_rows("a"), long_rows("a", system="other")[0]]))
    message = "The item has outputs by 3 systems (model, ground_truth, other); this survey type needs 2."
    assert places(plan) == [("error", 3, 4, "system", message)]


def test_the_same_system_twice() -> None:
    first, second = long_rows("a")
    plan = read(long_csv([first, second, second]))
    assert places(plan) == [
        ("error", 3, 4, "system", 'The item has an output by "ground_truth" already, in row 2.')
    ]


def test_lines_of_one_item_that_disagree() -> None:
    first, second = long_rows("a")
    plan = read(long_csv([first, second | {"question": "Why?"}]))
    assert places(plan) == [("error", 2, 3, "question", "The cell differs from row 1 of the same item.")]


def test_a_reference_that_is_spelt_otherwise_is_a_warning() -> None:
    first, second = long_rows("a")
    plan = read(long_csv([first, second | {"system": "groundtruth"}]))
    assert places(plan) == [("warning", None, 1, "system", 'No output is by the reference, "ground_truth".')]


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("ofa x", 'The system name "ofa x" may hold only letters, digits, - and _ (at most 64).'),
        ("ground_truth", 'The system can\'t be called "ground_truth": that is the reference.'),
    ],
)
def test_a_system_name_that_cant_be(system: str, message: str) -> None:
    assert [str(p) for p in read(batch_csv([slot(1)]), system=system).problems] == [message]


def test_a_repeated_label_keeps_the_right_key() -> None:
    bases = {
        "id": "1",
        "question": "Q?",
        "answer": "answer1",
        "output_explanation": "m",
        "explanation": "g",
        "img_name": "1.png",
    }
    labels = {"answer0": "same", "answer1": "same", "answer2": "other"}
    data = table([[f"{name}_0" for name in (bases | labels)], list((bases | labels).values())])
    plan = read(data, definition=VCR)
    assert plan.items[0].choices == [
        {"value": "answer1", "label": "same"},
        {"value": "answer2", "label": "other"},
    ]
    assert places(plan) == [
        ("warning", 1, 2, "answer1_0", 'The choice "same" is given twice; it is shown once.')
    ]


@given(st.binary(max_size=400), st.sampled_from(list(Layout)), st.sampled_from([VQAX, ESNLIVE]))
def test_any_bytes_give_a_plan(data: bytes, layout: Layout, definition) -> None:
    plan = read(data, definition=definition, layout=layout)
    assert plan.items or plan.errors


CELLS = st.text(alphabet=st.sampled_from("ab|\"',;\n\r\t\0<>&é\u2028 {}[]%"), max_size=6)


@given(st.lists(st.lists(CELLS, min_size=7, max_size=8), min_size=1, max_size=4), st.booleans())
def test_any_cells_give_items_or_errors_with_a_place(rows: list[list[str]], quoted: bool) -> None:
    header = ["item_id", "image", "question", "choices", "answer", "system", "explanation"]
    text = table([header, *rows]).decode() if quoted else "\n".join(",".join(row) for row in [header, *rows])
    plan = read(text.encode("utf-8", "surrogatepass"))
    assert plan.items or plan.errors
    assert all(isinstance(problem, Problem) and problem.message for problem in plan.problems)
