import io

import pytest

from surveys.results.files.frame_layouts import FRAME_LAYOUTS
from surveys.results.frames.mturk_csv import frame_from_csv, read_mturk_csv
from surveys.results.frames.pseudonyms import Pseudonyms
from tests.surveys.results.raw_files import raw_file, row, task

HEADER = (
    ",assignment_id,img_id,answer_correct,explanation_ours,expl_score_ours,confusing_ours,incorrect_ours,"
    "insufficient_ours,explanation_gt,expl_score_gt,confusing_gt,incorrect_gt,insufficient_gt,expl_value_our,"
    "expl_value_gt,prefer_ours,prefer_gt,prefer_none"
)


def written(frame, *, layout="legacy"):
    stream = io.StringIO(newline="")
    FRAME_LAYOUTS[layout].write(frame, stream)
    return stream.getvalue()


def legacy(*rows, layout="legacy"):
    frame = frame_from_csv(raw_file(rows), study="s", pseudonyms=Pseudonyms("key"))
    return written(frame, layout=layout).splitlines()


def score_columns(*ratings, side="ours"):
    lines = legacy(row([task(n, **{side: rating}) for n, rating in enumerate(ratings, start=1)]))
    place = HEADER.split(",").index(f"expl_score_{side}")
    return [line.split(",")[place] for line in lines[1:]]


@pytest.mark.parametrize(
    ("raw", "published"),
    [("vqax_results_raw", "vqax_results"), ("esnlive_unifiedresults_raw", "esnlive_unified_results")],
)
@pytest.mark.parametrize(("layout", "suffix"), [("legacy", ""), ("legacy_filtered", "_filtered")])
def test_published_files_come_out_byte_for_byte(shared, raw, published, layout, suffix):
    folder = shared / "data" / "ofax"
    frame = read_mturk_csv(folder / f"{raw}.csv")

    expected = (folder / f"{published}_processed{suffix}.csv").read_bytes()

    assert written(frame, layout=layout).encode() == expected


def test_one_line():
    tasks = [task(1, ours="weak_no", gt="yes", ticked=(("confusing_sentence",), ()), prefer="expl_2")]

    assert legacy(row(tasks)) == [
        HEADER,
        "selected,A1,item-1,True,ours 1,0.3333333333333333,True,False,False,theirs 1,1,True,False,False,"
        "weak_no,yes,False,True,False",
    ]


def test_integers_stay_integers_after_a_whole_first_rating():
    assert score_columns("yes", "weak_yes", "no", None) == ["1", "0.6666666666666666", "0", ""]


def test_a_column_is_floats_after_a_fractional_first_rating():
    assert score_columns("weak_no", "yes", "no", None) == ["0.3333333333333333", "1.0", "0.0", ""]


@pytest.mark.parametrize("side", ["ours", "gt"])
def test_leading_blanks_do_not_decide(side):
    assert score_columns(None, None, "weak_yes", "yes", side=side) == ["", "", "0.6666666666666666", "1.0"]
    assert score_columns(None, "no", "weak_yes", side=side) == ["", "0", "0.6666666666666666"]


def test_only_blanks():
    assert score_columns(None, None) == ["", ""]


def test_a_rejected_first_row_does_not_decide():
    lines = legacy(
        row([task(1, ours="weak_yes")], status="Rejected"),
        row([task(1, ours="yes")], assignment="A2"),
        row([task(1, ours="weak_yes")], assignment="A3", status="Approved"),
    )

    assert [line.split(",")[5] for line in lines[1:]] == ["1", "0.6666666666666666"]


def test_the_filtered_file_is_cut_from_the_whole_one():
    rows = row([task(1, ours="weak_yes", answer="no"), task(2, ours="yes")])

    assert [line.split(",")[5] for line in legacy(rows, layout="legacy_filtered")[1:]] == ["1.0"]


def test_blank_preference_and_blank_answer():
    line = legacy(row([task(1, answer=None, prefer=None)]))[1]

    assert line.split(",")[3] == "False"
    assert line.endswith(",False,False,False")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ('he said "no", twice', '"he said ""no"", twice"'),
        ("=1+1", "=1+1"),
        ("NA", ""),
        ("null", ""),
        ("", ""),
        ("None", "None"),
        ("été 😀 <bin_817>", "été 😀 <bin_817>"),
    ],
)
def test_texts(text, cell):
    line = legacy(row([task(1)], **{"Input.output_explanation_0": text}))[1]

    assert line.removeprefix("selected,A1,item-1,True,").startswith(f"{cell},1,")


def test_nobody_kept_leaves_the_header():
    assert legacy(row([task(1)], status="Rejected")) == [HEADER]
