"""VTT: texts between the pictures of a sequence, as published and as our own CSV."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surveys.studies.importing.archive import ZipPictures
from surveys.studies.importing.pictures import FolderPictures, check_pictures
from surveys.studies.importing.plan import Layout, Plan
from surveys.studies.importing.reading import read_items
from tests.protocols import VTT, XAI
from tests.surveys.studies.importing_cases import archive, batch_csv, jsonl, places, png, slot, table, vtt_row


def read(data: bytes, **options) -> Plan:
    return read_items(data, definition=VTT, **options)


def names(plan: Plan) -> list[str]:
    return [picture.name for picture in plan.items[0].pictures]


def test_the_ratings_of_one_sample_are_one_item() -> None:
    plan = read(jsonl([vtt_row(8), vtt_row(8, fluency=5, normal=True), vtt_row(17)]))
    assert plan.problems == ()
    assert [(item.external_id, item.subject) for item in plan.items] == [("8", "8"), ("17", "17")]
    first = plan.items[0]
    assert [(o.system, o.text, o.model_correct) for o in first.outputs] == [
        ("cst", "add coffee\npour milk", None)
    ]
    assert (first.question, first.references) == ("", ("grind the beans\nbrew the coffee",))
    assert names(plan) == ["8_1.*", "8_2.*", "8_3.*"]


@pytest.mark.parametrize("name", ["index", "sample_idx", "id", "item_id"])
def test_an_id_by_any_of_its_names(name: str) -> None:
    row = {name: "s-1", "preds": ["a"], "exp": "cst"}
    assert read(jsonl([row])).items[0].subject == "s-1"


def test_published_files_read_unchanged(shared: Path) -> None:
    plans = {path.stem: read(path.read_bytes()) for path in sorted((shared / "data/vtt").glob("*.jsonl"))}
    assert [(name, len(plan.items), plan.n_pictures) for name, plan in plans.items()] == [
        ("cst", 196, 982),
        ("ttnet", 196, 982),
        ("ttnet_base", 196, 982),
    ]
    assert [(p.severity, p.row, p.column) for p in plans["cst"].problems] == [
        ("warning", row, "preds") for row in (141, 327, 331, 371)
    ]
    assert plans["cst"].problems[0].message == "Text 4 of 6 is empty; annotators will see a gap."
    assert (plans["ttnet"].problems, plans["ttnet_base"].problems) == ((), ())


def test_one_file_of_several_systems_names_them() -> None:
    plan = read(jsonl([vtt_row(8), vtt_row(8, exp="ttnet", preds=["x", "y"]), vtt_row(9)]))
    assert plan.problems == ()
    assert [item.external_id for item in plan.items] == ["8/cst", "8/ttnet", "9/cst"]


def test_a_file_that_is_one_of_several_names_its_system() -> None:
    assert [item.external_id for item in read(jsonl([vtt_row(8)]), is_alone=False).items] == ["8/cst"]


def test_ratings_of_one_sample_that_show_something_else() -> None:
    plan = read(jsonl([vtt_row(8), vtt_row(8, preds=["add coffee", "pour tea"])]))
    assert places(plan) == [("error", 2, 2, "preds", "The cell differs from row 1 of the same item.")]


def test_without_ratings_the_same_output_twice_is_an_error() -> None:
    row = {"id": 8, "preds": ["a"], "exp": "cst"}
    message = 'The item has an output by "cst" already, in row 1.'
    assert places(read(jsonl([row, row]))) == [("error", 2, 2, "exp", message)]


def test_line_breaks_within_a_text_are_spaces() -> None:
    plan = read(jsonl([vtt_row(8, preds=["add\ncoffee ", "\u2028pour\r\n milk"])]))
    assert plan.items[0].outputs[0].text == "add coffee\npour milk"


def test_values_of_the_wrong_kind() -> None:
    data = jsonl([vtt_row(8, preds={"a": 1}), vtt_row(9, exp=["a", ["b"]]), vtt_row(10, preds=[])])
    nested = "The value is an object; only a conversation or a table shows one. Take a column of one of its fields."
    assert [place for place in places(read(data)) if place[0] == "error"] == [
        ("error", 1, 1, "preds", nested),
        ("error", 2, 2, "exp", "The value must be a text or a list of texts."),
        ("error", 3, 3, "preds", "The cell is empty."),
    ]


def test_what_nothing_is_read_from_can_be_anything() -> None:
    plan = read(jsonl([vtt_row(8, annotation=[{"clip": 1}], extra={"a": "\0"})]))
    assert (plan.problems, len(plan.items)) == ((), 1)


def test_references_that_are_too_few_are_a_warning() -> None:
    plan = read(jsonl([vtt_row(8, label=["brew"])]))
    message = "Texts: 2, reference texts: 1; metrics compare them line by line."
    assert places(plan) == [("warning", 1, 1, "label", message)]


@pytest.mark.parametrize("images", [["1.png"], ["1.png", "2.png", "3.png", "4.png"]])
def test_pictures_too_few_or_too_many_for_the_texts(images: list[str]) -> None:
    plan = read(jsonl([vtt_row(8, images=["a.png", "b.png", "c.png"]), vtt_row(9, images=images)]))
    message = f"There must be one picture more than texts; the row has {len(images)} to 2."
    assert places(plan) == [("error", 2, 2, "images", message)]


HEADER = ["item_id", "system", "images", "steps", "references"]


def test_the_same_as_csv() -> None:
    row = ["чай-1", "cst", "1.png|2.png|3.png", "налить чай ☕ | добавить молоко", "налить | добавить"]
    plan = read(table([HEADER, row]))
    assert plan.problems == ()
    item = plan.items[0]
    assert (item.subject, item.outputs[0].text) == ("чай-1", "налить чай ☕\nдобавить молоко")
    assert (item.references, names(plan)) == (("налить\nдобавить",), ["1.png", "2.png", "3.png"])


def test_csv_tells_row_and_line() -> None:
    rows = [["a", "cst", "1.png|2.png", "x", "x"], ["b", "cst", "1.png", "x", "x"], ["c", "", "1|2", "", ""]]
    assert places(read(table([HEADER, *rows]))) == [
        ("error", 2, 3, "images", "There must be one picture more than texts; the row has 1 to 1."),
        ("error", 3, 4, "steps", "The cell is empty."),
        ("error", 3, 4, "system", "The cell is empty."),
    ]


@pytest.mark.parametrize("data", [b"", b"\xff\xfe{", b'{"index": 1, "preds": ["caf\xe9"]}', b"\n"])
def test_files_that_cant_be_read_are_one_error(data: bytes) -> None:
    plan = read(data)
    assert ([p.severity for p in plan.problems], plan.items) == (["error"], ())


def test_columns_that_are_missing() -> None:
    assert places(read(b'{"index": 1, "preds": ["a"]}')) == [
        ("error", None, 1, "system", "The column is missing. The file has index, preds.")
    ]


def test_a_batch_csv_has_no_place_for_a_sequence() -> None:
    assert [str(p) for p in read(batch_csv([slot(1)])).problems] == [
        "line 1: A batch CSV has no place for a row of pictures; lay out one output a row."
    ]


@pytest.mark.parametrize(
    "paths",
    [
        ["8_1.png", "8_2.png", "8_3.png"],
        ["deep/8_01.png", "deep/8_02.png", "deep/8_03.png"],
        ["8/1.png", "8/2.png", "8/3.png", "18/1.png", "18/2.png"],
        ["states/8/001.png", "states/8/002.png", "states/8/003.png", "8.png"],
    ],
)
def test_states_are_found_by_the_items_id(tmp_path: Path, paths: list[str]) -> None:
    (tmp_path / "p.zip").write_bytes(archive(dict.fromkeys(paths, png())))
    with ZipPictures(tmp_path / "p.zip") as pictures:
        plan = check_pictures(read(jsonl([vtt_row(8)])), pictures=pictures)
        assert [pictures.find(name) for name in names(plan)] == paths[:3]
    assert plan.problems == ()


def checked(folder: Path, *files: str) -> Plan:
    for name in files:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(png())
    return check_pictures(read(jsonl([vtt_row(7), vtt_row(8)])), pictures=FolderPictures(folder))


SEVEN = ("7_1.png", "7_2.png", "7_3.png")


def test_a_state_without_a_picture(tmp_path: Path) -> None:
    plan = checked(tmp_path, *SEVEN, "8_1.png", "8_3.png")
    assert places(plan) == [("error", 2, 2, "index", 'The picture "8_2.*" is missing.')]


def test_a_state_too_many(tmp_path: Path) -> None:
    plan = checked(tmp_path, *SEVEN, "8_1.png", "8_2.png", "8_3.png", "8_4.png")
    message = 'There must be one picture more than texts; "8_4.*" is one too many.'
    assert places(plan) == [("error", 2, 2, "index", message)]


def test_a_state_with_two_pictures(tmp_path: Path) -> None:
    plan = checked(tmp_path, *SEVEN, "8_1.png", "8/1.png", "8_2.png", "8_3.png")
    message = 'The picture "8_1.*": There are 2 files of this name: 8/1.png, 8_1.png.'
    assert places(plan) == [("error", 2, 2, "index", message)]


def test_a_name_without_an_ending_still_means_itself(tmp_path: Path) -> None:
    (tmp_path / "8.png").write_bytes(png())
    assert FolderPictures(tmp_path).find("8") is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
KEYS = ("index", "id", "exp", "preds", "label", "images", "fluency", "model_correct", "explanation", "image")


@given(
    st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES), min_size=1, max_size=4),
    st.sampled_from([XAI, VTT]),
)
def test_any_values_give_items_or_errors_with_a_place(rows: list[dict[str, object]], definition) -> None:
    plan = read_items(jsonl(rows), definition=definition, layout=Layout.JSONL)
    assert plan.items or plan.errors
    for item in plan.items if not plan.errors else ():
        (output,) = item.outputs
        assert item.subject
        assert output.system
        if definition is VTT:
            assert len(output.text.split("\n")) == len(item.pictures) - 1


@given(st.binary(max_size=400), st.sampled_from(list(Layout)), st.sampled_from([XAI, VTT]))
def test_any_bytes_give_a_plan(data: bytes, layout: Layout, definition) -> None:
    plan = read_items(data, definition=definition, layout=layout)
    assert plan.items or plan.errors
