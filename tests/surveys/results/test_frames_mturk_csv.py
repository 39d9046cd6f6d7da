import io

import pandas as pd
import pytest

from surveys.protocols.registry import get_definition
from surveys.results.files.frame_layouts import FRAME_LAYOUTS
from surveys.results.frames import base, csv_table
from tests.surveys.results.raw_files import raw_file, read, row, task


def test_one_row_per_assignment_and_item_in_the_order_of_the_file():
    data = raw_file(
        [row([task(1), task(2)], assignment="B"), row([task(1), task(2)], assignment="A", worker="W2")]
    )

    rows = read(data).responses

    assert rows[["assignment_id", "position", "item_id"]].to_numpy().tolist() == [
        ["B", 1, "item-1"],
        ["B", 2, "item-2"],
        ["A", 1, "item-1"],
        ["A", 2, "item-2"],
    ]


def test_wide_columns_hold_what_was_said_about_each_output():
    tasks = [task(1, ours="weak_no", gt="no", ticked=(("confusing_sentence",), ()), prefer="expl_1")]

    said = read(raw_file([row(tasks)]), system="ofa-x").responses.iloc[0]

    assert said["ofa-x.text"] == "ours 1"
    assert said["ofa-x.justifies"] == "weak_no"
    assert said["ofa-x.shortcomings.confusing_sentence"] == "selected"
    assert said["ofa-x.preference"] == "preferred"
    assert said["ground_truth.text"] == "theirs 1"
    assert said["ground_truth.justifies"] == "no"
    assert said["ground_truth.shortcomings.confusing_sentence"] == "not_selected"
    assert said["ground_truth.preference"] == "other"


def test_tidy_has_one_row_per_rating_and_none_for_a_blank():
    tidy = read(raw_file([row([task(1, ours=None, gt="weak_yes", prefer=None)])])).tidy()

    assert tidy[["system", "role", "criterion", "value", "score"]].to_numpy().tolist() == [
        ["model", "model", "shortcomings.incorrect_description", "not_selected", 0.0],
        ["model", "model", "shortcomings.insufficient_justification", "not_selected", 0.0],
        ["model", "model", "shortcomings.confusing_sentence", "not_selected", 0.0],
        ["ground_truth", "reference", "justifies", "weak_yes", 2 / 3],
        ["ground_truth", "reference", "shortcomings.incorrect_description", "not_selected", 0.0],
        ["ground_truth", "reference", "shortcomings.insufficient_justification", "not_selected", 0.0],
        ["ground_truth", "reference", "shortcomings.confusing_sentence", "not_selected", 0.0],
    ]


def test_a_blank_answer_is_missing_and_wrong():
    said = read(raw_file([row([task(1, answer=None)])])).responses.iloc[0]

    assert pd.isna(said["answer"])
    assert not said["answer_correct"]


def test_context_of_a_row():
    said = read(raw_file([row([task(1)], status="Rejected")])).responses.iloc[0]

    assert said[["study", "batch", "hit_id", "status", "decision"]].tolist() == [
        "s",
        "77",
        "H1",
        "Rejected",
        "reject",
    ]
    assert said["work_seconds"] == 120
    assert not said["included"]


@pytest.mark.parametrize("n", [1, 3, 12])
def test_any_number_of_tasks(n):
    frame = read(raw_file([row([task(i) for i in range(1, n + 1)])]))

    assert frame.responses["position"].tolist() == list(range(1, n + 1))


def test_hits_of_one_file_may_differ_in_length():
    data = raw_file([row([task(1), task(2)]), row([task(1)], assignment="A2", hit="H2")])

    assert read(data).responses[["hit_id", "position"]].to_numpy().tolist() == [
        ["H1", 1],
        ["H1", 2],
        ["H2", 1],
    ]


@pytest.mark.parametrize(
    ("field", "choices", "extra", "key"),
    [
        ("answer", ("yes", "no"), {}, "evil-vqax"),
        ("image_statement_relationship", ("yes", "no"), {}, "evil-esnlive"),
        ("answer", ("yes", "no"), {"Input.answer0_0": "A cat."}, "evil-vcr"),
    ],
)
def test_the_definition_is_found_out(field, choices, extra, key):
    data = raw_file([row([task(1, field=field, choices=choices)], **extra)])

    assert read(data).definition.key == key


def test_a_given_definition_wins():
    definition = get_definition("evil-vcr")

    assert read(raw_file([row([task(1)])]), definition=definition).definition is definition


def test_vcr_answers_are_keys():
    keys = ("answer0", "answer1", "answer2", "answer3")
    tasks = [task(1, choices=keys, answer="answer2"), task(2, choices=keys, answer="answer0")]

    rows = read(
        raw_file([row(tasks, golds=["answer2", "answer1"], **{"Input.answer0_0": "A cat."})])
    ).responses

    assert rows["answer_correct"].tolist() == [True, False]


def test_a_byte_order_mark_and_unicode_are_read():
    data = b"\xef\xbb\xbf" + raw_file([row([task(1, image_id="bild-ß-😀.jpg#1")])])

    assert read(data).responses["item_id"].tolist() == ["bild-ß-😀.jpg#1"]


def test_columns_are_found_by_name_and_only_the_needed_ones_must_be_there():
    cells = row([task(1)])
    names = [*reversed(cells), "Turkle.Username"]
    for name in ("WorkTimeInSeconds", "RequesterAnnotation", "Input.output_answer_0"):
        names.remove(name)

    said = read(raw_file([cells], header=names)).responses.iloc[0]

    assert said["batch"] == ""
    assert pd.isna(said["work_seconds"])
    assert said["model.justifies"] == "yes"


def test_the_same_worker_has_the_same_name_and_it_is_not_theirs():
    rows = [row([task(1)], assignment=a, worker=w) for a, w in (("A1", "W1"), ("A2", "W2"), ("A3", "W1"))]

    first, second, third = read(raw_file(rows)).responses["worker"]

    # printf W1 | openssl dgst -sha256 -hmac key
    assert first == third == "39af1bb4b741"
    assert second != first


def test_escaped_characters_are_read():
    data = raw_file([row([task(1)])]).replace(b"item-1", rb"\ud83d\ude00")

    assert read(data).responses["item_id"].tolist() == ["\U0001f600"]


@pytest.mark.parametrize("layout", ["processed", "processed_filtered", "tidy"])
def test_a_file_written_in_parts_is_the_file_written_at_once(layout, monkeypatch):
    statuses = ["Approved", "Rejected", "Submitted", "Approved"]
    rows = [row([task(1), task(2)], assignment=f"A{n}", status=said) for n, said in enumerate(statuses)]
    frame = read(raw_file(rows))

    def written():
        stream = io.StringIO(newline="")
        FRAME_LAYOUTS[layout].write(frame, stream)
        return stream.getvalue()

    whole = written()
    monkeypatch.setattr(base, "PART", 3)

    assert len(list(frame.parts())) == 3
    assert written() == whole


def test_a_file_read_in_parts_is_the_file_read_at_once(monkeypatch):
    data = raw_file([row([task(1)], assignment=f"A{n}") for n in range(1, 6)])
    whole = read(data).responses
    monkeypatch.setattr(csv_table, "AT_ONCE", 2)

    pd.testing.assert_frame_equal(read(data).responses, whole)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'a,b\n1,2,3\n"', "row 3: not a readable CSV: unexpected end of data"),
        (b"a,b\n1,2,3\n\xff", "row 3: the file is not UTF-8: byte 0xff"),
        (b"a,a\n1,2,3\n", "row 1, column 'a': the column is there twice"),
        (b"a,b\n\n1,2,3\n\n", "row 3: 3 cells under a header of 2"),
        (b"a,b\n\n\n", "the file has a header at most, and no rows"),
    ],
)
def test_of_several_problems_the_one_of_the_whole_file_is_told(data, problem):
    with pytest.raises(csv_table.SourceError) as refused:
        csv_table.read_table(data)
    assert str(refused.value) == problem


def test_blank_rows_count_between_others_and_not_at_the_end():
    table = csv_table.read_table(b"a,b\n1,2\n\n3\n\n\n")

    assert {name: list(cells) for name, cells in table.columns.items()} == {
        "a": ["1", "", "3"],
        "b": ["2", "", ""],
    }
