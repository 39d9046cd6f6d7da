"""A question that is answered by a number."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import translation

from surveys.models import Response
from surveys.pages.answering.hit_fields import Numeral
from surveys.protocols.criteria import Number
from surveys.protocols.definition import Definition
from surveys.protocols.documents import DocumentError, read
from surveys.results.files.layouts import batch_report
from surveys.results.frames.csv_table import read_table
from surveys.results.frames.database import read_batch
from surveys.results.frames.responses import frame_from_responses
from tests import driven
from tests.factories import new_id
from tests.surveys.pages.hit_pages import open_page, post, token_of
from tests.surveys.pages.results.shown import results
from tests.surveys.studies.importing_cases import long_csv

DOCUMENT = """\
protocol: counts
name: Counts
version: 1
title: Count people in descriptions
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
    number: {min: 0, max: 40, step: 1, unit: people}
instructions:
  summary: You will read descriptions.
  steps: [Count the people.]
"""
ITEMS = long_csv([{"item_id": "a", "text": "Two men and a dog.", "system": "m", "question": ""}])


@pytest.mark.parametrize(
    ("number", "keyboard"),
    [
        (Number(min=0), "decimal"),
        (Number(min=0.5, max=1), "decimal"),
        (Number(min=-1), "text"),
        (Number(max=1), "text"),
    ],
)
def test_a_phone_shows_keys_with_a_minus_where_one_may_be_needed(number: Number, keyboard: str) -> None:
    assert Numeral(number=number, label="How many?", place=1).keyboard == keyboard


@pytest.mark.parametrize(
    ("language", "written", "stored"),
    [
        ("ru", "0,5", "0.5"),
        ("en", "0,5", "0.5"),
        ("en", "-12,25", "-12.25"),
        ("en", "0,125", "0.125"),
        ("ru", "1,500", "1.5"),
        ("en", "0.5", "0.5"),
        ("ru", "0.5", "0.5"),
    ],
)
def test_a_comma_is_a_point_in_any_language(language: str, written: str, stored: str) -> None:
    """A phone's keys for decimals have the one of its own language alone, whatever the page's is."""
    with translation.override(language):
        assert Numeral(number=Number(), label="How many?", place=1).clean(written) == stored


@pytest.mark.parametrize("written", ["1,500", "-120,000", "1,5,0", "1,500.5"])
def test_a_comma_that_may_part_thousands_is_asked_about(written: str) -> None:
    with translation.override("en"), pytest.raises(ValidationError, match=re.escape("such as 3 or 0.5")):
        Numeral(number=Number(), label="How many?", place=1).clean(written)


@pytest.mark.parametrize(
    ("number", "written", "stored"),
    [
        (Number(), " 3 ", "3"),
        (Number(), "003.50", "3.5"),
        (Number(), "-0.0", "0"),
        (Number(), "120", "120"),
        (Number(min=-1, max=1, step=0.1), "0.3", "0.3"),
        (Number(min=0.5, step=1), "2.5", "2.5"),
    ],
)
def test_a_number_has_one_spelling(number: Number, written: str, stored: str) -> None:
    assert number.read(written) == stored


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("many", "Write a number, such as 3 or 0.5."),
        ("1,5", "Write a number, such as 3 or 0.5."),
        ("1e3", "Write a number, such as 3 or 0.5."),
        ("٣", "Write a number, such as 3 or 0.5."),
        ("nan", "Write a number, such as 3 or 0.5."),
        ("-1", "Write a number from 0 on."),
        ("41", "Write a number up to 40."),
        ("1.5", "Write a whole number."),
    ],
)
def test_what_is_no_such_number(written: str, sentence: str) -> None:
    with pytest.raises(ValueError, match="Write") as caught:
        Number(min=0, max=40, step=1).read(written)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("min: 0,", "min: 40,", "line 18: No number is from 40 to 40."),
        ("max: 40,", "max: 1e99,", "line 18: A number here is less than 1,000,000,000."),
        ("step: 1,", "step: 0,", "line 18: The least step is 0.000001."),
        (
            "step: 1,",
            "steps: 1,",
            "line 18: criteria 2, number, steps: There is no such key. Do you mean “step”?",
        ),
        (
            "    number:",
            "    is_text: true\n    number:",
            "line 19: Criterion 'people' can't be a number and something else.",
        ),
        (
            "headline: clear",
            "headline: people",
            "line 9: The headline 'people' is a number, of which more is not better.",
        ),
    ],
)
def test_a_document_that_asks_for_no_number(old: str, new: str, problem: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(DOCUMENT.replace(old, new), name="counts.yaml")
    assert caught.value.problems == [f"counts.yaml, {problem}"]


def test_the_snapshot_is_the_definition() -> None:
    definition = read(DOCUMENT, name="counts.yaml")
    assert Definition.from_snapshot(definition.to_snapshot()) == definition
    old = definition.to_snapshot()
    for criterion in old["criteria"]:
        del criterion["number"]  # as a batch was published before there were numbers
    old["criteria"] = old["criteria"][:1]
    assert Definition.from_snapshot(old) == replace(definition, criteria=definition.criteria[:1])


@pytest.mark.django_db
def test_from_the_page_to_the_numbers(tmp_path: Path, admin_client: Client) -> None:
    questionnaire = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path)
    refused = driven.answer(questionnaire, {"clear": "2", "people": "41"}.__getitem__)
    assert (refused.status_code, driven.problems(refused)) == (422, ["Write a number up to 40."])
    assert 'value="41"' in refused.content.decode()
    for n in ("2", "3.0"):
        assert driven.answer(questionnaire, {"clear": "2", "people": n}.__getitem__).status_code == 200

    batch = questionnaire.batch
    (system,) = batch_report(batch).summary.kept.systems
    assert [c.score.rating_mean for c in system.criteria if c.score] == [1.0, 2.5]
    results(batch)
    page = admin_client.get(f"/batches/{batch.pk}/results/", headers={"host": "127.0.0.1"})
    assert (page.status_code, b"How many people are there?" in page.content) == (200, True)

    files = driven.files(batch, folder=tmp_path / "out")
    tidy = [(r["criterion"], r["value"], r["score"]) for r in files["tidy.csv"]]
    assert sorted(tidy) == [
        ("clear", "2", "1.0"),
        ("clear", "2", "1.0"),
        ("people", "2", "2.0"),
        ("people", "3", "3.0"),
    ]
    assert sorted(row["people_score"] for row in files["processed.csv"]) == ["2.0", "3.0"]
    means = {row["criterion"]: row["mean"] for row in files["table.csv"]}
    assert (float(means["clear"]), float(means["people"])) == (1.0, 2.5)

    table = read_table((tmp_path / "out" / "responses.csv").read_bytes())
    again = frame_from_responses(table, study="counts", definition=batch.definition)
    scores = ["criterion", "value", "score"]
    assert again.tidy()[scores].equals(read_batch(batch).tidy()[scores])


@pytest.mark.django_db
@pytest.mark.parametrize("typed", ["", "many", "41"])
def test_who_skips_an_item_may_have_typed_anything(tmp_path: Path, typed: str) -> None:
    document = DOCUMENT + "skip_reasons:\n  - {value: bad, label: It is unreadable}\n"
    questionnaire, visitor = driven.study(document, items=ITEMS, folder=tmp_path), Client()
    opened = open_page(visitor, questionnaire, assignmentId=new_id("A"), workerId=new_id("W"))
    fields = {
        n: {"clear": "2", "people": typed}[key] for n, key in driven.asked(opened.content.decode()).items()
    }
    skipped = {**fields, "i1-skip": "bad", "skip": "1", "token": token_of(opened)}
    assert post(visitor, questionnaire, skipped).status_code == 200
    assert Response.objects.get().skip_reason == "bad"
