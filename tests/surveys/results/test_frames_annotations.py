"""VTT's files of human scores, and what is wrong with some."""

import json

import pytest

from surveys.protocols.registry import get_definition
from surveys.results.frames.annotations import read_annotations
from surveys.results.frames.csv_table import SourceError
from surveys.results.frames.pseudonyms import Pseudonyms
from tests.protocols import VQAX
from tests.surveys.results.score_lines import line, write_lines

VTT = get_definition("vtt")


@pytest.fixture
def read(tmp_path):
    def frame_of(*lines):
        return read_annotations([write_lines(tmp_path / "scores.jsonl", lines)], definition=VTT)

    return frame_of


@pytest.fixture
def refused(tmp_path):
    def message_of(*lines):
        with pytest.raises(SourceError) as caught:
            read_annotations([write_lines(tmp_path / "scores.jsonl", lines)], definition=VTT)
        return str(caught.value).removeprefix(f"{tmp_path / 'scores.jsonl'}: ")

    return message_of


def test_a_published_file(shared):
    frame = read_annotations([shared / "data" / "vtt" / "ttnet.jsonl"], definition=VTT)
    first = frame.responses.iloc[0]

    assert frame.systems == ("ttnet",)
    assert (len(frame.responses), frame.responses["item_id"].nunique()) == (392, 196)
    assert first[["item_id", "assignment_id", "work_seconds", "ttnet.logical_consistency"]].tolist() == [
        "8", "ttnet:1", 63, "5",
    ]  # fmt: skip
    assert first["ttnet.text"] == "add coffee\npour water\npour espresso\npour milk"
    assert frame.responses["worker"].isna().all()


def test_systems_whose_names_have_dots_stand_side_by_side(read):
    frame = read(line(1, "gemini1.5", (5, 4, 3)), line(1, "llava", (1, 2, 3)))

    assert frame.systems == ("gemini1.5", "llava")
    assert frame.responses["gemini1.5.fluency"].fillna("").tolist() == ["5", ""]
    assert frame.responses["gemini1.5.shown_position"].dtype == "Int64"


@pytest.mark.parametrize(
    ("keys", "item"),
    [
        ({"index": 8}, "8"),
        ({"index": None, "sample_idx": 9}, "9"),
        ({"id": "ae39", "index": 8}, "ae39"),
        ({"index": "  x "}, "x"),
    ],
)
def test_an_item_has_one_of_three_names(read, keys, item):
    assert read({**line(1, "a", (1, 2, 3)), **keys}).responses["item_id"].tolist() == [item]


def test_a_file_that_names_no_system_is_named_after(tmp_path):
    """The published human.jsonl is like that."""
    data = line(1, "a", (5, 4, 3))
    del data["exp"]

    assert read_annotations([write_lines(tmp_path / "human.jsonl", [data])], definition=VTT).systems == (
        "human",
    )


@pytest.mark.parametrize(
    "keys", [{"normal": False}, {"fluency": -1, "relevance": -1, "logical_soundness": -1, "normal": True}]
)
def test_a_skip_by_either_mark(read, keys):
    rows = read(line(1, "a", (1, 2, 3), **keys)).responses

    assert rows["is_skipped"].tolist() == [True]
    assert rows["skip_reason"].tolist() == ["unknown"]
    assert rows[["a.fluency", "a.relevance", "a.logical_consistency"]].isna().all(axis=None)


def test_one_score_of_minus_one_is_one_rating_less(read):
    rows = read(line(1, "a", (5, -1, 3))).responses

    assert rows["is_skipped"].tolist() == [False]
    assert rows["a.relevance"].isna().tolist() == [True]


def test_scores_as_texts_and_under_our_own_name(read):
    data = line(1, "a", ("5", 4.0, 3))
    data["logical_consistency"] = data.pop("logical_soundness")

    assert read(data).responses[["a.fluency", "a.relevance", "a.logical_consistency"]].values.tolist() == [
        ["5", "4", "3"]
    ]


def test_our_own_keys(tmp_path):
    own = {
        "assignment_id": "A1", "worker_id": "ann", "hit_id": "H1", "status": "Rejected", "decision": "reject",
        "channel": "link", "position": 2, "active_seconds": 1.5, "quiz_passed": True, "model_correct": False,
    }  # fmt: skip
    path = write_lines(tmp_path / "own.jsonl", [line(1, "a", None, skip_reason="other", **own)])

    (row,) = read_annotations([path], definition=VTT, pseudonyms=Pseudonyms("k")).responses.to_dict("records")
    assert row["worker"] == Pseudonyms("k")("ann")
    assert {key: row[key] for key in own if key in row} == {
        key: value for key, value in own.items() if key not in ("worker_id", "model_correct")
    }
    assert (row["a.model_correct"], row["skip_reason"], row["included"]) == (False, "other", False)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"fluency": 6}, "line 2, key 'fluency': 6 is not one of 5, 4, 3, 2, 1"),
        ({"fluency": True}, "line 2, key 'fluency': True is not one of 5, 4, 3, 2, 1"),
        ({"relevance": "good"}, "line 2, key 'relevance': 'good' is not one of 5, 4, 3, 2, 1"),
        ({"relevance": 2.5}, "line 2, key 'relevance': 2.5 is not one of 5, 4, 3, 2, 1"),
        ({"normal": "no"}, "line 2, key 'normal': 'no' is neither true nor false"),
        ({"exp": ""}, "line 2, key 'exp': '' is not a name or a number"),
        ({"exp": ["a"]}, "line 2, key 'exp': ['a'] is not a name or a number"),
        ({"index": None}, "line 2, key 'id': the item has no id"),
        ({"index": 1.5}, "line 2, key 'index': 1.5 is not a name or a number"),
        ({"preds": [1]}, "line 2, key 'preds': not a list of texts"),
        ({"duration": "long"}, "line 2, key 'duration': 'long' is not a number of seconds"),
        ({"duration": -1}, "line 2, key 'duration': -1 is not a number of seconds"),
        ({"duration": float("nan")}, "line 2, key 'duration': nan is not a number of seconds"),
        ({"duration": 1e300}, "line 2, key 'duration': 1e+300 is not a number of seconds"),
        ({"position": 10**30}, f"line 2, key 'position': {10**30} is not what belongs there"),
        ({"status": "Lost"}, "line 2, key 'status': unknown status 'Lost'"),
        ({"worker_id": 7}, "line 2, key 'worker_id': 7 is not what belongs there"),
    ],
)
def test_a_line_that_can_not_be_read(refused, keys, message):
    assert refused(line(1, "a", (1, 2, 3)), {**line(2, "a", (1, 2, 3)), **keys}) == message


@pytest.mark.parametrize("key", ["fluency", "logical_soundness"])
def test_a_key_that_is_missing(refused, key):
    data = line(1, "a", (1, 2, 3))
    del data[key]

    assert refused(data) == f"line 1, key {key!r}: the key is missing"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "there is no line in it"),
        (b"\n \n", "there is no line in it"),
        (b"{}\n[1]", "line 1, key 'fluency': the key is missing"),
        (b"[1]", "line 1: not a JSON object"),
        (b'{"index": 1', "line 1: not JSON: Expecting ',' delimiter: line 1 column 12 (char 11)"),
        (b'{"a": 1}\n\xff', "line 2: not UTF-8: byte 0xff"),
    ],
)
def test_a_file_that_is_something_else(tmp_path, data, message):
    path = tmp_path / "scores.jsonl"
    path.write_bytes(data)

    with pytest.raises(SourceError) as caught:
        read_annotations([path], definition=VTT)
    assert str(caught.value) == f"{path}: {message}"


def test_the_file_is_named_where_there_are_several(tmp_path):
    good = write_lines(tmp_path / "good.jsonl", [line(1, "a", (1, 2, 3))])
    bad = write_lines(tmp_path / "bad.jsonl", [line(1, "b", (1, 2, 9))])

    with pytest.raises(SourceError) as caught:
        read_annotations([good, bad], definition=VTT)
    assert str(caught.value) == f"{bad}: line 1, key 'logical_soundness': 9 is not one of 5, 4, 3, 2, 1"


def test_a_file_given_twice_would_count_twice(tmp_path):
    path = write_lines(tmp_path / "scores.jsonl", [line(1, "a", (1, 2, 3))])

    with pytest.raises(SourceError, match="the file is given twice"):
        read_annotations([path, path.parent / "." / path.name], definition=VTT)


def test_a_line_holds_one_output(tmp_path):
    path = write_lines(tmp_path / "scores.jsonl", [line(1, "a", (1, 2, 3))])

    with pytest.raises(SourceError) as caught:
        read_annotations([path], definition=VQAX)
    assert str(caught.value) == "a line holds one output, and 'evil-vqax' shows several at once"


def test_a_byte_order_mark_and_blank_lines(tmp_path):
    path = tmp_path / "scores.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(line(1, "a", (1, 2, 3))).encode() + b"\r\n\r\n")

    assert len(read_annotations([path], definition=VTT).responses) == 1
