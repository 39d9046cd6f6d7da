"""From a person who came by link to files that read back: answers, a skip, and answers changed later."""

import json

import pytest
from django.core.management import call_command

from annotators.models import Channel
from surveys.answering.allocation import settle, take
from surveys.answering.collection import ItemAnswer, revise_answers, save_answers
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch
from surveys.results.frames.pseudonyms import Pseudonyms
from tests.factories import make_worker
from tests.link_study import STEPS, make_link_batch

pytestmark = pytest.mark.django_db
KEYS = ("fluency", "relevance", "logical_consistency")


def given(assignment, scores="", skip_reason=""):
    response = assignment.responses.get()
    code = response.item.outputs.get().code
    ratings = {} if skip_reason else {code: dict(zip(KEYS, scores, strict=True))}
    return [ItemAnswer(position=1, ratings=ratings, skip_reason=skip_reason, active_seconds=3.5)]


def answer(batch, worker, **said):
    assignment = take(batch, worker=worker, channel=Channel.LINK)
    save_answers(assignment, answers=given(assignment, **said))
    settle(assignment)
    return assignment


@pytest.fixture
def batch():
    batch = make_link_batch(n_items=2)
    ann = make_worker("ann", source="link")
    first = answer(batch, ann, scores="542")
    answer(batch, ann, skip_reason="image_missing")
    revise_answers(first, answers=given(first, scores="541"))
    return batch


def test_the_numbers_are_those_of_the_last_answers_and_the_skip_is_counted_apart(batch):
    report = make_report(read_batch(batch)).as_data()

    found = report["systems"]["glocnet"]["criteria"]
    assert {key: (x["mean"], x["n"], x["skipped"]) for key, x in found.items()} == {
        "fluency": (5.0, 1, 1),
        "relevance": (4.0, 1, 1),
        "logical_consistency": (1.0, 1, 1),
    }
    assert report["counts"]["skipped"] == 1
    assert report["selections"]["kept"]["systems"]["glocnet"]["skip_reasons"]["image_missing"] == 1


def test_its_files(batch, tmp_path):
    call_command("export_batch", str(batch.pk), out=tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "annotations.jsonl", "processed.csv", "responses.csv", "summary.json", "table.csv", "tidy.csv",
    ]  # fmt: skip
    scored, skipped = map(json.loads, (tmp_path / "annotations.jsonl").read_text().splitlines())
    assert (scored["exp"], scored["preds"], scored["normal"]) == ("glocnet", list(STEPS), True)
    assert [scored[key] for key in ("fluency", "relevance", "logical_soundness")] == [5, 4, 1]
    found = (scored["worker_id"], scored["channel"], scored["status"])
    assert found == (f"pseudonym:{Pseudonyms()('ann')}", "link", "Submitted")
    assert [skipped[key] for key in ("fluency", "logical_soundness", "normal")] == [-1, -1, False]
    assert skipped["skip_reason"] == "image_missing"
    call_command("evaluate_results", str(tmp_path / "annotations.jsonl"), out=tmp_path / "again")
    again, first = (
        json.loads((folder / "summary.json").read_text())["systems"]
        for folder in (tmp_path / "again", tmp_path)
    )
    assert again == first
