import csv
import io
import json
from dataclasses import replace

import pytest

from surveys.protocols.criteria import Choice, Criterion
from surveys.protocols.definition import Definition, Instructions
from surveys.results.files.frame_layouts import FRAME_LAYOUTS
from surveys.results.files.layouts import LAYOUTS
from surveys.results.files.pairs import LayoutError
from surveys.results.files.report import make_report
from surveys.results.files.writing import count_rows, write_files
from surveys.results.frames.base import build_frame
from tests.surveys.results.raw_files import raw_file, read, row, task

LIKERT = tuple(Choice(str(n), str(n), float(n)) for n in range(1, 6))
FIVE = Definition(
    key="five",
    name="Five criteria",
    version=1,
    title="Judge",
    question_label="Question",
    output_label="Text",
    outputs_per_item=1,
    criteria=(
        Criterion("clarity", "Clear?", LIKERT),
        Criterion("trust", "Trust?", LIKERT),
        Criterion("image", "Sharp?", (Choice("ok", "Ok", 1.0), Choice("bad", "Bad", 0.0)), per_output=False),
    ),
    headline="clarity",
    instructions=Instructions(summary="Judge.", steps=("Judge.",)),
)


def study(*rows):
    return read(raw_file(rows), system="ofa-x")


def five(**values):
    """Two systems, one output per item each; the second response is a skip, the third leaves trust blank."""
    n = 3
    return build_frame(
        definition=replace(FIVE, **values),
        systems=("a", "b"),
        responses={
            "study": ["five"] * n,
            "batch": ["1"] * n,
            "hit_id": ["H1", "H1", "H2"],
            "assignment_id": ["A1", "A1", "A2"],
            "worker": ["w", "w", "v"],
            "item_id": ["i1", "i2", "i3"],
            "position": [1, 2, 1],
            "answer": [None] * n,
            "gold": [None] * n,
            "answer_correct": [None] * n,
            "is_skipped": [False, True, False],
            "skip_reason": [None, "too_dark", None],
            "active_seconds": [10.0, 2.5, None],
            "work_seconds": [60, 60, 30],
            "status": ["Approved"] * n,
            "decision": ["approve"] * n,
            "included": [True] * n,
        },
        outputs={
            "a.text": ["one", "two", None],
            "a.answer": [None] * n,
            "a.shown_position": [1, 1, None],
            "a.clarity": ["5", None, None],
            "a.trust": ["3", None, None],
            "b.text": [None, None, "three"],
            "b.answer": [None] * n,
            "b.shown_position": [None, None, 1],
            "b.clarity": [None, None, "2"],
            "b.trust": [None] * n,
            ".image": ["ok", None, "bad"],
        },
    )


def table(frame, layout):
    stream = io.StringIO(newline="")
    FRAME_LAYOUTS[layout].write(frame, stream)
    return list(csv.DictReader(io.StringIO(stream.getvalue(), newline="")))


def test_processed_has_the_right_shortcomings_of_the_ground_truth():
    marks = (("confusing_sentence",), ("insufficient_justification",))
    (line,) = table(
        study(row([task(1, ours="weak_yes", gt="no", ticked=marks, prefer="expl_1")])), "processed"
    )

    assert line == {
        "assignment_id": "A1",
        "img_id": "item-1",
        "answer_correct": "True",
        "explanation_ours": "ours 1",
        "expl_score_ours": "0.6666666666666666",
        "confusing_ours": "True",
        "incorrect_ours": "False",
        "insufficient_ours": "False",
        "explanation_gt": "theirs 1",
        "expl_score_gt": "0.0",
        "confusing_gt": "False",
        "incorrect_gt": "False",
        "insufficient_gt": "True",
        "expl_value_our": "weak_yes",
        "expl_value_gt": "no",
        "prefer_ours": "True",
        "prefer_gt": "False",
        "prefer_none": "False",
        "system_ours": "ofa-x",
        "system_gt": "ground_truth",
        "shown_position_ours": "",
        "shown_position_gt": "",
        "worker": "39af1bb4b741",
        "hit_id": "H1",
        "position": "1",
        "answer": "yes",
        "gold": "yes",
        "active_seconds": "",
        "work_seconds": "120",
        "status": "Submitted",
        "decision": "",
    }


def test_processed_leaves_rejected_out_and_filtered_wrong_answers_too():
    frame = study(
        row([task(1), task(2, answer="no")]),
        row([task(1), task(2)], assignment="A2", worker="W2", status="Rejected"),
    )

    assert [line["position"] for line in table(frame, "processed")] == ["1", "2"]
    assert [line["position"] for line in table(frame, "processed_filtered")] == ["1"]
    assert {line["included"] for line in table(frame, "tidy")} == {"True", "False"}


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
@pytest.mark.parametrize("layout", ["processed", "tidy"])
def test_formulas_are_made_text(start, layout):
    tasks = [task(1, image_id=f"{start}1+1")]
    lines = table(study(row(tasks, **{"Input.output_explanation_0": f"{start}cmd"})), layout)

    shown = start.replace("\r", "\n")
    ids = {line["img_id" if layout == "processed" else "item_id"] for line in lines}
    assert ids == {f"'{shown}1+1"}
    if layout == "processed":
        assert lines[0]["explanation_ours"] == f"'{shown}cmd"


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_line_ends_within_a_cell_do_not_break_the_row(end):
    lines = table(study(row([task(1)], **{"Input.output_explanation_0": f"one{end}two"})), "processed")

    assert [line["explanation_ours"] for line in lines] == ["one\ntwo"]


def test_one_output_has_the_published_columns_that_mean_the_same_and_its_own_criteria():
    lines = table(five(), "processed")

    assert list(lines[0]) == [
        "assignment_id", "img_id", "answer_correct", "explanation_ours", "clarity_value", "clarity_score",
        "trust_value", "trust_score", "image_value", "image_score", "system_ours", "shown_position_ours",
        "model_correct", "is_skipped", "worker", "hit_id", "position", "answer", "gold", "active_seconds",
        "work_seconds", "status", "decision", "skip_reason", "channel", "quiz_passed", "surplus",
    ]  # fmt: skip
    keys = (
        "img_id",
        "explanation_ours",
        "clarity_value",
        "clarity_score",
        "trust_value",
        "system_ours",
        "image_score",
    )
    assert [tuple(line[key] for key in keys) for line in lines] == [
        ("i1", "one", "5", "5.0", "3", "a", "1.0"),
        ("i2", "two", "", "", "", "a", ""),
        ("i3", "three", "2", "2.0", "", "b", "0.0"),
    ]
    assert [line["skip_reason"] for line in lines] == ["", "too_dark", ""]


def test_several_outputs_have_a_value_and_a_score_per_system():
    lines = table(five(outputs_per_item=2), "processed")

    assert [(x["a.clarity"], x["a.clarity.score"], x["b.clarity"], x["b.clarity.score"]) for x in lines] == [
        ("5", "5.0", "", ""),
        ("", "", "", ""),
        ("", "", "2", "2.0"),
    ]
    assert [line["is_skipped"] for line in lines] == ["False", "True", "False"]


def test_another_survey_type_in_tidy():
    lines = table(five(), "tidy")

    assert [
        tuple(line[k] for k in ("item_id", "system", "role", "criterion", "value", "score")) for line in lines
    ] == [
        ("i1", "a", "model", "clarity", "5", "5.0"),
        ("i1", "a", "model", "trust", "3", "3.0"),
        ("i1", "", "", "image", "ok", "1.0"),
        ("i2", "a", "model", "skip", "too_dark", ""),
        ("i3", "b", "model", "clarity", "2", "2.0"),
        ("i3", "", "", "image", "bad", "0.0"),
    ]


def test_another_survey_type_in_the_summary():
    kept = make_report(five()).as_data()["selections"]["kept"]

    assert kept["responses"] == 2
    assert kept["answer_correct"] is None
    assert kept["systems"]["a"]["criteria"]["clarity"]["score"]["rating_mean"] == 5.0
    assert kept["systems"]["b"]["criteria"]["trust"]["score"] == {
        "rating_mean": None, "item_mean": None, "sd": None, "ratings": 0, "items": 0, "blanks": 1,
    }  # fmt: skip
    assert kept["preference"] == {}


def test_another_survey_type_has_no_legacy_layout():
    with pytest.raises(LayoutError):
        FRAME_LAYOUTS["legacy"].write(five(), io.StringIO())


def test_summary_is_plain_json_with_counts_beside_shares():
    stream = io.StringIO()
    FRAME_LAYOUTS["summary"].write(study(row([task(1), task(2, ours=None)])), stream)

    data = json.loads(stream.getvalue())

    assert {name: found["role"] for name, found in data["systems"].items()} == {
        "ofa-x": "model",
        "ground_truth": "reference",
    }
    assert data["systems"]["ofa-x"]["criteria"] == {
        "justifies": {"mean": 1.0, "sd": None, "n": 1, "skipped": 1, "p": None, "dagger": False}
    }
    shares = data["selections"]["kept"]["systems"]["ofa-x"]["criteria"]["justifies"]["shares"]
    assert shares["yes"] == {"count": 1, "total": 2, "share": 0.5}
    assert shares["blank"] == {"count": 1, "total": 2, "share": 0.5}
    assert data["agreement"]["ofa-x"]["justifies"]["alpha_ordinal"] is None


def test_only_raw_layouts_can_have_worker_ids():
    named = [name for name, layout in LAYOUTS.items() if layout.is_raw]
    assert named == ["raw", "responses", "annotations", "panel"]


def test_files_are_written_all_or_none(tmp_path):
    (tmp_path / "one.txt").write_text("old")

    def fails(stream):
        stream.write("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_files(tmp_path, writers={"one.txt": lambda stream: stream.write("new"), "two.txt": fails})

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"one.txt": "old"}


def test_nothing_is_moved_where_what_comes_before_fails(tmp_path):
    def refuses(files):
        assert [path.read_text() for path in files.values()] == ["new"]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_files(tmp_path, writers={"one.txt": lambda s: s.write("new")}, before_moving=refuses)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content_type", "data", "n"),
    [
        ("text/csv", b'"a","b"\r\n"1","x\ny"\r\n"2","say ""no"""', 2),
        ("text/csv", b"a,b\n1,2\n", 1),
        ("text/csv", b"a,b\n", 0),
        ("text/csv", b"", 0),
        ("application/jsonl", b'{"a": "\\""}\n{"a": ""}\n', 2),
    ],
)
def test_rows_are_counted_as_readers_count_them(content_type, data, n):
    assert count_rows(io.BytesIO(data), content_type=content_type) == n


def test_files_replace_what_was_there(tmp_path):
    folder = tmp_path / "new" / "folder"

    for text in ("first", "second"):
        write_files(folder, writers={"one.txt": lambda stream, text=text: stream.write(f"{text}\r\n")})

    assert (folder / "one.txt").read_bytes() == b"second\r\n"
