"""Texts and numbers that may be left empty."""

from pathlib import Path

import pytest

from surveys.answering.answer_copy import (
    IncompleteAnswers,
    ItemAnswer,
    answer_as_data,
    answer_from_data,
    check,
)
from surveys.answering.collection import given_answers, revise_answers
from surveys.models import Rating, Response
from surveys.protocols.documents import DocumentError, read
from surveys.results.files.layouts import batch_report
from surveys.results.frames.csv_table import read_table
from surveys.results.frames.database import read_batch
from surveys.results.frames.responses import frame_from_responses
from tests import driven
from tests.surveys.studies.importing_cases import long_csv

DOCUMENT = """\
protocol: remarks
name: Remarks
version: 1
title: Judge descriptions
question_label: ""
output_label: Description
outputs_per_item: 1
pictures: none
headline: clear
criteria:
  - key: clear
    label: Is it clear?
    choices:
      - {value: 1, label: No, score: 0}
      - {value: 2, label: Yes, score: 1}
  - key: people
    label: How many people are there?
    number: {min: 0, step: 1}
    is_optional: true
  - key: remark
    label: What struck you?
    is_text: true
    is_optional: true
    per_output: false
instructions:
  summary: You will read descriptions.
  steps: [Judge them.]
"""
ITEMS = long_csv([{"item_id": "a", "text": "Two men and a dog.", "system": "m", "question": ""}])
EMPTY = {"clear": "2", "people": "", "remark": "  "}
FULL = {"clear": "1", "people": "2", "remark": "The dog."}


def test_a_scale_cannot_stay_empty() -> None:
    document = DOCUMENT.replace(
        "    label: Is it clear?\n", "    label: Is it clear?\n    is_optional: true\n"
    )
    with pytest.raises(DocumentError) as caught:
        read(document, name="remarks.yaml")
    assert caught.value.problems == [
        "remarks.yaml, line 13: Criterion 'clear' is a scale, which can't stay empty."
    ]


@pytest.mark.django_db
def test_from_the_page_to_the_numbers(tmp_path: Path) -> None:
    questionnaire = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path)
    refused = driven.answer(questionnaire, {**EMPTY, "people": "many"}.__getitem__)
    assert driven.problems(refused) == ["Write a number, such as 3 or 0.5."]
    page = refused.content.decode()
    assert (page.count('<span class="optional">Optional</span></label>'), page.count("aria-required")) == (
        3,
        1,
    )
    for given in (EMPTY, FULL):
        assert driven.answer(questionnaire, given.__getitem__).status_code == 200

    (system,) = batch_report(questionnaire.batch).summary.kept.systems
    people = next(c.score for c in system.criteria if c.key == "people")
    assert people is not None
    assert (people.rating_mean, people.ratings, people.blanks) == (2.0, 1, 1)
    files = driven.files(questionnaire.batch, folder=tmp_path / "out")
    assert sorted((r["criterion"], r["value"], r["score"]) for r in files["tidy.csv"]) == [
        ("clear", "1", "0.0"),
        ("clear", "2", "1.0"),
        ("people", "2", "2.0"),
        ("remark", "The dog.", ""),
    ]
    written = [(r["people_value"], r["people_score"], r["remark_value"]) for r in files["processed.csv"]]
    assert sorted(written) == [("", "", ""), ("2", "2.0", "The dog.")]

    table = read_table((tmp_path / "out" / "responses.csv").read_bytes())
    again = frame_from_responses(table, study="remarks", definition=questionnaire.batch.definition)
    told = ["criterion", "value", "score"]
    assert again.tidy()[told].equals(read_batch(questionnaire.batch).tidy()[told])


@pytest.mark.django_db
def test_nobody_writes_anything(tmp_path: Path) -> None:
    questionnaire = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path)
    assert driven.answer(questionnaire, EMPTY.__getitem__).status_code == 200
    assert [(r.criterion, r.value) for r in Rating.objects.all()] == [("clear", "2")]
    files = driven.files(questionnaire.batch, folder=tmp_path / "out")
    assert [(r["criterion"], r["value"]) for r in files["tidy.csv"]] == [("clear", "2")]
    assert [(r["people_value"], r["remark_value"]) for r in files["processed.csv"]] == [("", "")]


@pytest.mark.django_db
def test_the_copy_says_what_was_given(tmp_path: Path) -> None:
    questionnaire = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path)
    driven.answer(questionnaire, EMPTY.__getitem__)
    response = Response.objects.get()
    data, definition = answer_as_data(response, response.ratings.all()), questionnaire.batch.definition
    (code,) = data["outputs"]
    assert (data["outputs"], data["item"]) == ({code: {"clear": "2"}}, {})
    check(answer_from_data(data), response.item, definition)
    assert not revise_answers(response.assignment, answers=given_answers(response.assignment))
    for item_ratings in ({"remark": ""}, {"remark": None}, {"remark": ["x"]}):
        wrong = ItemAnswer(1, ratings={code: {"clear": "2"}}, item_ratings=item_ratings)  # type: ignore[arg-type]
        with pytest.raises(IncompleteAnswers, match="What struck you"):
            check(wrong, response.item, definition)
