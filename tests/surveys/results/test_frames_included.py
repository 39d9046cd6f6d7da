"""Answers that are left out of the analysis: in every frame and file that can say so, and in no number."""

import csv
import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone
from pandas.testing import assert_frame_equal

from annotators.models import Assignment, Channel
from surveys.answering.allocation import settle, take
from surveys.answering.collection import ItemAnswer, save_answers
from surveys.models import Batch, Inclusion
from surveys.results.files.layouts import LAYOUTS
from surveys.results.files.report import make_report
from surveys.results.files.report_text import report_text
from surveys.results.frames.annotations import read_annotations
from surveys.results.frames.csv_table import SourceError, read_table
from surveys.results.frames.database import read_batch
from surveys.results.frames.mturk_csv import frame_from_csv
from surveys.results.frames.responses import frame_from_responses
from surveys.review import analysis_use
from tests.factories import (
    make_batch,
    make_hit,
    make_item,
    make_questionnaire,
    make_survey,
    make_worker,
    submitted,
)
from tests.link_study import make_link_batch

pytestmark = pytest.mark.django_db
XAI = "fluency,clarity,convincing,reflecting_decision_process,overall_quality"


@pytest.fixture
def pairs() -> Batch:
    """Two models, three workers on one HIT of two items."""
    survey = make_survey()
    items = [make_item(survey, position=n, systems=("one", "other")) for n in (1, 2)]
    batch = make_batch(survey, items_per_hit=2, review_policy={"rules": [], "reject_at": None})
    questionnaire = make_questionnaire(batch, items=items, hit=make_hit())
    for worker, n_correct in (("ann", 2), ("bob", 1), ("cleo", 0)):
        submitted(questionnaire, n_correct=n_correct, worker=worker)
    return batch


@pytest.fixture
def sequences() -> Batch:
    """A skip and two ratings of what came by link."""
    batch = make_link_batch(n_items=3)
    for name, scores in (("ann", "542"), ("bob", "111"), ("cleo", "")):
        assignment = take(batch, worker=make_worker(name, source="link"), channel=Channel.LINK)
        response = assignment.responses.get()
        code = response.item.outputs.get().code
        keys = ("fluency", "relevance", "logical_consistency")
        ratings = {code: dict(zip(keys, scores, strict=True))} if scores else {}
        skip_reason = "" if scores else "image_missing"
        answer = ItemAnswer(position=1, ratings=ratings, skip_reason=skip_reason, active_seconds=3.5)
        save_answers(assignment, answers=[answer])
        settle(assignment)
    return batch


def of(batch: Batch, worker: str) -> Assignment:
    return Assignment.objects.get(hit__questionnaire__batch=batch, worker__worker_id=worker)


def exclude(assignment: Assignment, person: User, *, replace: bool = False) -> None:
    analysis_use.exclude(assignment, by=person, reason="Only letters.", replace=replace)


def written(batch: Batch, layout: str) -> str:
    stream = io.StringIO(newline="")
    LAYOUTS[layout].write(batch, stream)
    return stream.getvalue()


def lines(batch: Batch, layout: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written(batch, layout), newline="")))


def included(frame) -> dict[str, bool]:
    rows = frame.responses.drop_duplicates("assignment_id")
    return dict(zip(rows["assignment_id"], rows["included"], strict=True))


@pytest.mark.parametrize("replace", [False, True])
def test_no_number_knows_them(pairs: Batch, person: User, replace: bool) -> None:
    exclude(of(pairs, "bob"), person, replace=replace)
    report = make_report(read_batch(pairs))
    counts = report.as_data()["counts"]
    assert (counts["assignments"], counts["kept"], counts["rejected"], counts["left_out"]) == (3, 2, 0, 1)
    found = {name: s["responses"] for name, s in report.as_data()["selections"].items()}
    assert found == {"all": 6, "kept": 4, "filtered": 2}
    assert "3 assignments (2 kept, 0 rejected, 1 left out), 1 HITs" in report_text(report)


def test_rejected_work_is_no_part_whatever_was_decided_about_its_use(pairs: Batch) -> None:
    bob = of(pairs, "bob")
    Inclusion.objects.create(assignment=bob, is_included=True, reason="So.", decided_at=timezone.now())
    Assignment.objects.filter(pk=bob.pk).update(status="Rejected", rejected_at=timezone.now())
    frame = read_batch(pairs)
    assert included(frame)[bob.assignment_id] is False
    counts = make_report(frame).as_data()["counts"]
    assert (counts["kept"], counts["rejected"], counts["left_out"]) == (2, 1, 0)


def test_used_again_they_are_back(pairs: Batch, person: User) -> None:
    before = make_report(read_batch(pairs)).as_data()
    exclude(of(pairs, "bob"), person)
    assert make_report(read_batch(pairs)).as_data() != before
    analysis_use.include(of(pairs, "bob"), by=person, reason="They meant it.")
    assert make_report(read_batch(pairs)).as_data() == before


def test_processed_files_are_without_them_and_the_tidy_one_marks_them(pairs: Batch, person: User) -> None:
    bob = of(pairs, "bob")
    exclude(bob, person)
    for layout in ("processed", "processed_filtered"):
        assert bob.assignment_id not in {line["assignment_id"] for line in lines(pairs, layout)}
    assert {
        line["included"] for line in lines(pairs, "tidy") if line["assignment_id"] == bob.assignment_id
    } == {"False"}


def test_the_file_of_responses_reads_back(pairs: Batch, person: User) -> None:
    bob = of(pairs, "bob")
    exclude(bob, person)
    again = frame_from_responses(read_table(written(pairs, "responses").encode()), study=str(pairs.survey))
    database = read_batch(pairs)
    assert included(again) == included(database)
    assert included(again)[bob.assignment_id] is False
    same = sorted(database.responses.columns.intersection(again.responses.columns).drop("worker"))
    assert_frame_equal(again.responses[same], database.responses[same])
    assert make_report(again).as_data() == make_report(database).as_data()


def test_the_lines_of_vtt_read_back(sequences: Batch, person: User, tmp_path) -> None:
    bob = of(sequences, "bob")
    exclude(bob, person)
    path = tmp_path / "annotations.jsonl"
    path.write_text(written(sequences, "annotations"), encoding="utf-8")
    assert [json.loads(line)["included"] for line in path.read_text().splitlines()] == [True, False, True]
    again = read_annotations([path], definition=sequences.definition)
    database = read_batch(sequences)
    assert included(again) == included(database)
    found = make_report(again).as_data()
    assert found["systems"] == make_report(database).as_data()["systems"]
    assert (found["counts"]["kept"], found["counts"]["left_out"], found["counts"]["skipped"]) == (2, 1, 1)


def test_the_command_gives_the_numbers_of_the_page(pairs: Batch, person: User, tmp_path) -> None:
    exclude(of(pairs, "ann"), person)
    call_command("export_batch", str(pairs.pk), out=tmp_path)
    call_command("evaluate_results", str(tmp_path / "responses.csv"), out=tmp_path / "again")
    ours, again = (
        json.loads((folder / "summary.json").read_text()) for folder in (tmp_path, tmp_path / "again")
    )
    assert again == ours
    assert ours["counts"]["left_out"] == 1


def test_mturks_file_has_no_place_for_it(batch: Batch, person: User) -> None:
    kept = Assignment.objects.filter(hit__questionnaire__batch=batch, status="Submitted")
    exclude(kept.order_by("pk")[0], person)
    again = frame_from_csv(written(batch, "raw").encode(), study="s", system="ofa-x")
    left_out = [make_report(frame).as_data()["counts"]["left_out"] for frame in (read_batch(batch), again)]
    assert left_out == [1, 0]


@pytest.mark.parametrize(
    ("status", "said", "expected"),
    [("", "", True), ("", "False", False), ("Approved", "true", True), ("Rejected", "True", False)],
)
def test_other_peoples_files_may_say_so_too(status: str, said: str, expected: bool) -> None:
    text = f"item_id,system,status,included,{XAI}\n8,a,{status},{said},5,4,3,2,1\n"
    frame = frame_from_responses(read_table(text.encode()), study="s")
    assert frame.responses["included"].tolist() == [expected]


def test_what_is_neither_is_refused(tmp_path) -> None:
    with pytest.raises(SourceError, match="column 'included': 'perhaps' is neither true nor false"):
        frame_from_responses(
            read_table(f"item_id,system,included,{XAI}\n8,a,perhaps,5,4,3,2,1\n".encode()), study="s"
        )
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"id": "1", "exp": "a", "included": "no", "fluency": 5, "relevance": 4, "logical_soundness": 3}\n'
    )
    with pytest.raises(SourceError, match="'no' is not what belongs there"):
        read_annotations([path], definition=make_link_batch().definition)
