"""A question that is answered by marking places in a text."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from surveys.models import MarkedSpan, Output, Rating, Response
from surveys.protocols.criteria import Choice, Spans
from surveys.protocols.definition import Definition
from surveys.protocols.documents import DocumentError, read
from surveys.protocols.spans import checked
from surveys.protocols.spans import read as marks_of
from surveys.results.frames.csv_table import read_table
from surveys.results.frames.database import read_batch
from surveys.results.frames.responses import frame_from_responses
from tests import driven
from tests.factories import new_id
from tests.surveys.pages.hit_pages import open_page, post, token_of
from tests.surveys.studies.importing_cases import long_csv

DOCUMENT = """\
protocol: marked
name: Marked
version: 1
title: Mark what is wrong
question_label: ""
output_label: Translation
outputs_per_item: 1
pictures: none
headline: errors
blocks:
  - {column: source, label: Source}
criteria:
  - key: errors
    label: What is wrong?
    spans:
      severities:
        - {value: minor, label: Minor, score: 1}
        - {value: major, label: Major, score: 5}
      categories:
        - {value: omission, label: Accuracy/Omission}
        - {value: grammar, label: Fluency/Grammar}
      missing_in: source
      takes_whole: true
      takes_notes: true
      most: 3
instructions:
  summary: You will read translations.
  steps: [Mark what is wrong.]
"""
SPANS = Spans(
    severities=(Choice("minor", "Minor", 1.0), Choice("major", "Major", 5.0)),
    missing_in="source",
    takes_whole=True,
    takes_notes=True,
    most=3,
)
CYRILLIC = "Кот сидел на ковре\u0301."
ARABIC = "جلسَ القطُّ على السجادة"
EMOJI = "A 👩\u200d👩\u200d👧 sat 🇩🇪 on e\u0301 mat\r\nand e\u0301 purred."


def given(*marks: dict[str, Any]) -> str:
    return json.dumps(marks, ensure_ascii=False)


def at(text: str, words: str, **more: Any) -> dict[str, Any]:
    """Return a mark as the page sends it."""
    start = text.index(words)
    return {"start": start, "end": start + len(words), "text": words, "severity": "minor", **more}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CYRILLIC, "на ковре\u0301"),
        (ARABIC, "القطُّ على"),
        (EMOJI, "👩\u200d👩\u200d👧 sat"),
        (EMOJI, "mat\r\nand"),
    ],
)
def test_offsets_are_code_points_of_the_very_text(text: str, words: str) -> None:
    stored = checked(given(at(text, words)), spans=SPANS, texts={"": text})
    (mark,) = marks_of(stored)
    assert (text[mark.start : mark.end], mark.text) == (words, words)
    assert checked(stored, spans=SPANS, texts={"": text}) == stored


@pytest.mark.parametrize(
    ("text", "cut", "whole"),
    [
        (CYRILLIC, "е", "е"),
        ("ковре\u0301.", "\u0301", "е\u0301"),
        (EMOJI, "👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("🇩🇪", "🇩", "🇩🇪"),
        ("a\r\nb", "\n", "\r\n"),
    ],
)
def test_a_mark_within_a_character_is_widened_to_hold_it(text: str, cut: str, whole: str) -> None:
    (mark,) = marks_of(checked(given(at(text, cut)), spans=SPANS, texts={"": text}))
    assert mark.text == whole


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("sat 🇩🇪 on", "sat 🇩🇪 on"),
        ("mat and", "mat\r\nand"),
        (" \u00e9  mat ", "e\u0301 mat"),
    ],
)
def test_words_are_found_however_they_are_spaced_and_composed(words: str, found: str) -> None:
    stored = checked(given({"text": words, "severity": "major"}), spans=SPANS, texts={"": EMOJI})
    assert marks_of(stored)[0].text == found


CANT_BE_READ = "These marks can’t be read. Please mark again."
TEXT = "one two one"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("{}", CANT_BE_READ),
        ("[1]", CANT_BE_READ),
        ("[" * 100_000, CANT_BE_READ),
        ("x" * 600_000, CANT_BE_READ),
        (given({"severity": "minor", "text": "\ud83d"}), CANT_BE_READ),
        (given({"severity": "minor", "start": 0, "end": 1, "text": "\udc69"}), CANT_BE_READ),
        (given({"severity": "minor", "start": True, "end": 2, "text": "n"}), CANT_BE_READ),
        (given({"severity": "minor", "start": 0.0, "end": 2, "text": "on"}), CANT_BE_READ),
        (given({"severity": "minor", "colour": "red"}), CANT_BE_READ),
        (given(at(TEXT, "two", column="secret")), CANT_BE_READ),
        (given(at(TEXT, "two", category="grammar")), CANT_BE_READ),
        (given(at(TEXT, "two", note="\x00")), CANT_BE_READ),
        (
            given({"severity": "minor", "start": 4, "end": 99, "text": "two"}),
            "A mark lies outside the text. Please mark it again.",
        ),
        (
            given({"severity": "minor", "start": -7, "end": -4, "text": "two"}),
            "A mark lies outside the text. Please mark it again.",
        ),
        (
            given({"severity": "minor", "start": 4, "end": 4, "text": ""}),
            "A mark lies outside the text. Please mark it again.",
        ),
        (
            given({"severity": "minor", "start": 10**30, "end": 10**30 + 1, "text": "t"}),
            "A mark lies outside the text. Please mark it again.",
        ),
        (
            given({"severity": "minor", "start": 3, "end": 6, "text": "two"}),
            "“two” does not stand where it was marked. Please mark it again.",
        ),
        (
            given({"severity": "minor", "text": "three"}),
            "“three” does not stand in the text. Copy the words as they are.",
        ),
        (
            given({"severity": "minor", "text": "one"}),
            "“one” stands in the text 2 times. Add the words beside it.",
        ),
        (given({"severity": "minor", "column": "source"}), "Say which words you mean."),
        (given(at(TEXT, "two", severity="")), "“two”: say how bad it is."),
        (given({"severity": "grave"}), "“the whole text”: say how bad it is."),
        (given(at(TEXT, "two", note="x" * 501)), "Write at most 500 characters."),
        (given(*[{"severity": "minor"}] * 4), "Mark at most 3 places."),
        (given(*[{"severity": "minor"}] * 9000), "Mark at most 3 places."),
    ],
)
def test_what_is_no_mark_in_the_text(answer: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        checked(answer, spans=SPANS, texts={"": TEXT, "source": "drei"})
    assert str(caught.value) == sentence


def test_marks_may_lie_over_each_other_and_stand_in_the_order_of_the_text() -> None:
    marks = [
        at(TEXT, "two one", severity="major"),
        at(TEXT, "one two"),
        at(TEXT, "one two"),
        {"severity": "minor"},
    ]
    stored = checked(given(*marks[:2], marks[3]), spans=SPANS, texts={"": TEXT})
    assert [mark.text for mark in marks_of(stored)] == ["", "one two", "two one"]
    assert checked(given(*marks[1:]), spans=SPANS, texts={"": TEXT}) == checked(
        given(*marks[2:]), spans=SPANS, texts={"": TEXT}
    )


def test_an_empty_text_is_wrong_as_a_whole_or_not_at_all() -> None:
    assert checked("[]", spans=SPANS, texts={"": ""}) == "[]"
    whole = checked(given({"severity": "major"}), spans=SPANS, texts={"": ""})
    assert whole == '[{"severity":"major"}]'
    with pytest.raises(ValueError, match="outside"):
        checked(given({"severity": "major", "start": 0, "end": 1, "text": "x"}), spans=SPANS, texts={"": ""})


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "score: 5}",
            "score: -5}",
            "line 17: Criterion 'errors' needs of every severity what it costs, a score from 0 on.",
        ),
        (
            "Omission}",
            "Omission, score: 2}",
            "line 20: Criterion 'errors' has a category with a score; what costs is the severity.",
        ),
        ("most: 3", "most: 0", "line 25: An answer holds 1 to 500 marks."),
        (
            "missing_in: source",
            "missing_in: sauce",
            "line 22: Criterion 'errors' marks 'sauce', which is no block of plain text.",
        ),
        (
            "missing_in: source",
            "of: source",
            "line 22: Criterion 'errors' marks the output's text, and no block.",
        ),
        (
            "    spans:",
            "    is_text: true\n    spans:",
            "line 17: Criterion 'errors' can't be marked spans and something else.",
        ),
        (
            "takes_whole",
            "take_whole",
            "line 23: criteria 1, spans, take_whole: There is no such key. Do you mean “takes_whole”?",
        ),
    ],
)
def test_a_document_that_asks_for_no_marks(old: str, new: str, problem: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(DOCUMENT.replace(old, new, 1), name="marked.yaml")
    assert caught.value.problems[0] == f"marked.yaml, {problem}"


def test_the_snapshot_is_the_definition() -> None:
    definition = read(DOCUMENT, name="marked.yaml")
    assert Definition.from_snapshot(json.loads(json.dumps(definition.to_snapshot()))) == definition
    old = replace(definition.criteria[0], spans=None, choices=(Choice("1", "1", 1.0),))
    assert "spans" not in replace(definition, criteria=(old,)).to_snapshot()["criteria"][0]


ITEMS = long_csv(
    [
        {
            "item_id": "a",
            "text": CYRILLIC,
            "system": "m",
            "question": "",
            "source": "The cat sat on the mat.",
        },
        {"item_id": "b", "text": ARABIC, "system": "m", "question": "", "source": "The cat sat."},
        {"item_id": "c", "text": EMOJI, "system": "m", "question": "", "source": "Eine Familie."},
    ]
)
WORDS = {"a": (CYRILLIC, "на ковре\u0301"), "b": (ARABIC, "القطُّ"), "c": (EMOJI, "👩\u200d👩\u200d👧 sat 🇩🇪")}


def _answers(marks: dict[str, str]) -> dict[str, str]:
    """Return the fields of a page that answer every item, given {item: marks}."""
    fields = {}
    for response in Response.objects.filter(assignment__saved_at=None).select_related("item"):
        code = response.item.outputs.get().code
        fields[f"i{response.position}-{code}-errors"] = marks[response.item.external_id]
    return fields


@pytest.mark.django_db
def test_from_the_page_to_the_files(tmp_path: Path) -> None:
    questionnaire, visitor = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path), Client()
    opened = open_page(visitor, questionnaire, assignmentId=new_id("A"), workerId=new_id("W"))
    assert "mat&#13;\nand" in opened.content.decode()
    marks = {
        item: given(at(text, words, severity="major", category="grammar", note="=cmd|' /C calc'!A0"))
        for item, (text, words) in WORDS.items()
    }
    marks["a"] = given(
        *json.loads(marks["a"]),
        at("The cat sat on the mat.", "sat", column="source", category="omission"),
        {"severity": "minor", "category": "grammar"},
    )
    posted = {**_answers(marks), "token": token_of(opened)}
    assert post(visitor, questionnaire, posted).status_code == 200
    driven.hand_in()

    for span in MarkedSpan.objects.filter(column="", start__isnull=False).select_related(
        "rating__output__item"
    ):
        output = span.rating.output
        assert output is not None
        assert (output.text[span.start : span.end], span.length) == (span.text, len(output.text))
    scores = Rating.objects.order_by("output__item__external_id").values_list("score", flat=True)
    assert list(scores) == [-7.0, -5.0, -5.0]

    files = driven.files(questionnaire.batch, folder=tmp_path / "out")
    lines = [(r["item_id"], r["block"], r["start"], r["text"], r["severity"]) for r in files["spans.csv"]]
    at_sat = str("The cat sat on the mat.".index("sat"))
    assert lines == [
        ("a", "", "", "", "minor"),
        ("a", "", str(CYRILLIC.index("на")), "на ковре\u0301", "major"),
        ("a", "source", at_sat, "sat", "minor"),
        ("b", "", str(ARABIC.index("القطُّ")), "القطُّ", "major"),
        ("c", "", "2", "👩\u200d👩\u200d👧 sat 🇩🇪", "major"),
    ]
    assert {row["note"] for row in files["spans.csv"]} == {"", "'=cmd|' /C calc'!A0"}
    assert [(r["criterion"], r["score"]) for r in files["tidy.csv"]] == [
        ("errors", "-7.0"), ("errors", "-5.0"), ("errors", "-5.0"),
    ]  # fmt: skip
    table = read_table((tmp_path / "out" / "responses.csv").read_bytes())
    again = frame_from_responses(table, study="marked", definition=questionnaire.batch.definition)
    scores = ["criterion", "value", "score"]
    assert again.tidy()[scores].equals(read_batch(questionnaire.batch).tidy()[scores])


@pytest.mark.django_db
@pytest.mark.parametrize(
    "marks", ['[{"text": "\\ud83d", "severity": "minor"}]', "[" * 100_000, "[1e999]", "[null]"]
)
def test_marks_that_nobody_can_read_are_refused_and_the_page_stands(tmp_path: Path, marks: str) -> None:
    questionnaire, visitor = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path), Client()
    opened = open_page(visitor, questionnaire, assignmentId=new_id("A"), workerId=new_id("W"))
    names = _answers(dict.fromkeys("abc", "[]"))
    refused = post(visitor, questionnaire, {**names, next(iter(names)): marks, "token": token_of(opened)})
    assert (refused.status_code, driven.problems(refused)) == (422, [CANT_BE_READ])


@pytest.mark.django_db
def test_without_scripts_words_are_copied_into_rows(tmp_path: Path) -> None:
    questionnaire, visitor = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path), Client()
    opened = open_page(visitor, questionnaire, assignmentId=new_id("A"), workerId=new_id("W"))
    names = _answers(dict.fromkeys("abc", ""))
    of_a, of_b, of_c = names
    rows = {
        f"{of_a}-text-1": "коврик", f"{of_a}-severity-1": "minor", f"{of_a}-category-1": "grammar",
        f"{of_a}-text-2": "", f"{of_a}-severity-2": "",
        f"{of_b}-severity-1": "", f"{of_b}-none": "on",
        f"{of_c}-severity-1": "", f"{of_c}-text-1": "",
    }  # fmt: skip
    refused = post(visitor, questionnaire, {**names, **rows, "token": token_of(opened)})
    assert (refused.status_code, driven.problems(refused)) == (
        422,
        [
            "“коврик” does not stand in the text. Copy the words as they are.",
            "Mark what is wrong, or say that nothing is.",
        ],
    )
    page = refused.content.decode()
    assert (f'name="{of_a}-text-1" value="коврик"' in page, f'name="{of_b}-none" checked' in page) == (
        True,
        True,
    )
    assert json.loads(Response.objects.get(position=1).draft[of_a.removeprefix("i1-")])[0]["text"] == "коврик"
    rows |= {f"{of_a}-text-1": "ковре\u0301", f"{of_c}-severity-1": "major", f"{of_c}-category-1": "grammar"}
    assert post(visitor, questionnaire, {**names, **rows, "token": token_of(opened)}).status_code == 200
    assert list(MarkedSpan.objects.values_list("text", "severity")) == [
        ("ковре\u0301", "minor"),
        ("", "major"),
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "wrong",
    [
        {"start": 5, "end": 5, "text": ""},
        {"start": 5, "end": 4, "text": ""},
        {"start": 5, "end": 9, "text": "more", "length": 8},
        {"start": 5, "end": None, "text": "more"},
        {"start": None, "end": 4, "text": "more"},
        {"start": None, "end": None, "text": "more"},
        {"start": 0, "end": 3, "text": "more"},
        {"severity": ""},
        {"cost": -1},
        {"number": 0},
    ],
)
def test_the_database_refuses_a_mark_that_is_none(tmp_path: Path, wrong: dict[str, Any]) -> None:
    questionnaire, visitor = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path), Client()
    open_page(visitor, questionnaire, assignmentId=new_id("A"), workerId=new_id("W"))
    response, output = Response.objects.first(), Output.objects.first()
    rating = Rating.objects.create(response=response, output=output, criterion="errors", value="[]", score=0)
    right = {
        "rating": rating,
        "number": 1,
        "start": 0,
        "end": 4,
        "length": 9,
        "text": "more",
        "severity": "minor",
    }
    MarkedSpan.objects.create(**right, cost=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        MarkedSpan.objects.create(**{**right, "number": 2, "cost": 1, **wrong})
