"""Raw responses as CSV: our own of any survey type, and other people's of the same columns."""

import csv
import io

import pytest

from surveys.protocols.registry import get_definition
from surveys.results.files.layouts import LAYOUTS
from surveys.results.files.report import make_report
from surveys.results.frames.csv_table import SourceError, read_table
from surveys.results.frames.database import read_batch
from surveys.results.frames.pseudonyms import Pseudonyms
from surveys.results.frames.responses import frame_from_responses
from tests.factories import make_batch, make_hit, make_item, make_questionnaire, make_survey, submitted

XAI = "fluency,clarity,convincing,reflecting_decision_process,overall_quality"


def read(text, **options):
    return frame_from_responses(read_table(text.encode()), study="mine", **options)


def refused(text, **options):
    with pytest.raises(SourceError) as caught:
        read(text, **options)
    return str(caught.value)


def test_the_least_an_xai_file_needs():
    frame = read(f"item_id,system,{XAI}\n8,llava,5,4,3.0,2,1\n8,blip,1,,3,4,5\n")

    assert frame.definition.key == "xai"
    assert frame.systems == ("llava", "blip")
    assert frame.responses["item_id"].tolist() == ["8", "8"]
    assert frame.responses["assignment_id"].tolist() == ["row 2", "row 3"]
    assert frame.responses["llava.convincing"].fillna("").tolist() == ["3", ""]
    assert frame.responses["blip.clarity"].isna().all()
    assert frame.responses["worker"].isna().all()
    assert frame.responses["study"].tolist() == ["mine"] * 2


def test_who_said_it_and_whether_the_model_was_right():
    header = f"item_id,system,worker_id,model_correct,status,{XAI}\n"
    frame = read(
        f"{header}8,a,ann,true,Rejected,5,4,3,2,1\n9,a,bob,0,,5,4,3,2,1\n", pseudonyms=Pseudonyms("k")
    )

    assert frame.responses["worker"].tolist() == [Pseudonyms("k")("ann"), Pseudonyms("k")("bob")]
    assert frame.responses["a.model_correct"].tolist() == [True, False]
    assert frame.responses["included"].tolist() == [False, True]


def test_an_alias_a_label_and_a_skip():
    frame = read(
        "item_id,system,skip_reason,Fluency,relevance,logical_soundness\n8,a,,5,4,3\n9,a,other,,,\n",
        definition=get_definition("vtt"),
    )

    assert frame.responses["a.logical_consistency"].fillna("").tolist() == ["3", ""]
    assert frame.responses["is_skipped"].tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"item_id,system,{XAI}\n8,a,6,4,3,2,1\n",
            "row 2, column 'fluency': '6' is not one of 1, 2, 3, 4, 5",
        ),
        (f"item_id,system,{XAI}\n,a,5,4,3,2,1\n", "row 2, column 'item_id': the id is blank"),
        (f"item_id,system,{XAI}\n8,,5,4,3,2,1\n", "row 2, column 'system': the system is blank"),
        (
            f"item_id,system,model_correct,{XAI}\n8,a,maybe,5,4,3,2,1\n",
            "row 2, column 'model_correct': 'maybe' is neither true nor false",
        ),
        (
            f"item_id,system,status,{XAI}\n8,a,Lost,5,4,3,2,1\n",
            "row 2, column 'status': unknown status 'Lost'",
        ),
        (
            f"item_id,system,position,{XAI}\n8,a,first,5,4,3,2,1\n",
            "row 2, column 'position': 'first' is not a whole number",
        ),
        (
            f"item_id,system,work_seconds,{XAI}\n8,a,{9**30},5,4,3,2,1\n",
            f"row 2, column 'work_seconds': '{9**30}' is not a whole number",
        ),
        (
            f"item_id,system,assignment_id,{XAI}\n8,a,A1,5,4,3,2,1\n8,a,A1,5,4,3,2,1\n",
            "row 3: this response has a line about that system already",
        ),
        ("item_id,system,definition\n8,a,new\n", "row 2, column 'definition': unknown survey type 'new'"),
        (
            "item_id,system,definition\n8,a,xai\n8,a,vtt\n",
            "column 'definition': several survey types: vtt, xai",
        ),
        (
            "item_id,system,colour\n8,a,red\n",
            "row 1: the columns don't tell which survey type this is; name it with --definition",
        ),
        ("item_id,system,definition,fluency\n8,a,xai,5\n", "row 1, column 'clarity': the column is missing"),
    ],
)
def test_what_can_not_be_read(text, message):
    assert refused(text) == message


@pytest.mark.django_db
def test_two_models_without_a_ground_truth_have_a_raw_file_that_reads_back():
    survey = make_survey()
    items = [make_item(survey, position=n, systems=("one", "other")) for n in (1, 2)]
    batch = make_batch(survey, items_per_hit=2)
    questionnaire = make_questionnaire(batch, items=items, hit=make_hit())
    for worker in ("ann", "bob"):
        submitted(questionnaire, n_correct=1, worker=worker)
    stream = io.StringIO(newline="")
    LAYOUTS["responses"].write(batch, stream)

    lines = list(csv.DictReader(io.StringIO(stream.getvalue(), newline="")))
    assert len(lines) == 8
    assert {line["worker_id"] for line in lines} == {f"pseudonym:{Pseudonyms()(w)}" for w in ("ann", "bob")}
    assert {line["preference"] for line in lines} == {"preferred", "other"}
    again = make_report(read(stream.getvalue())).as_data()
    assert again == make_report(read_batch(batch)).as_data()
    assert again["selections"]["filtered"]["responses"] == 2
