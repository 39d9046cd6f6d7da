"""Renaming in the builder: what calls it by its name follows, and what is to be mended is said in the form's words."""

from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from surveys.models import ProtocolDraft
from surveys.pages.study.builder.fields import in_words
from surveys.pages.study.builder.renamed import followed
from surveys.protocols.trees import at, put, tree_of
from tests.people import client_of
from tests.surveys.pages.study.test_builder import begun, document

DOCUMENT = """
answer: {label: Which?, choices: [{value: a, label: A}, {value: b, label: B}]}
scales:
  extent: [{value: no, label: No}, {value: yes, label: Yes}]
criteria:
  - {key: fluent, label: Fluent?, choices: extent}
  - key: faults
    is_checklist: true
    choices: [{value: none, label: None}, {value: other, label: Other}]
    exclusive: none
    asked_if: {question: fluent, is: [no]}
  - {key: which, is_text: true, asked_if: {question: faults, ticked: [other]}}
  - {key: why, is_text: true, asked_if: {question: answer, is: [a]}}
  - {key: errors, spans: {severities: [{value: minor, label: Minor, score: 1}], of: source, missing_in: source}}
preference: {key: better}
blocks: [{column: source}]
skip_reasons: [{value: broken, label: Broken}]
quiz: [{question: Sure?, choices: [{value: one, label: One}, {value: other, label: Other}], answer: one}]
headline: fluent
translations:
  de:
    scales: {extent: {no: Nein}}
    answer: {choices: {a: Eins}}
    criteria:
      fluent: {choices: {no: Nicht}}
      faults: {choices: [none, other]}
      errors: {spans: {severities: {minor: Klein}}}
    blocks: {source: Quelle}
    skip_reasons: {broken: Kaputt}
    quiz: [{choices: {one: Eins}}]
  fr: {criteria: [{label: Courant}, {choices: {none: Rien}}, {}, {}, {}]}
"""
DE = ("translations", "de")


@pytest.mark.parametrize(
    ("renamed", "follow"),
    [
        ([("criteria", 1, "key")],
         [("headline",), ("criteria", 2, "asked_if", "question"), (*DE, "criteria", "new")]),
        ([("preference", "key")], []),
        ([("scales", "extent", 1, "value")],
         [("criteria", 2, "asked_if", "is", 1), (*DE, "scales", "extent", "new"),
          (*DE, "criteria", "fluent", "choices", "new")]),
        ([("criteria", 2, "choices", 1, "value")],
         [("criteria", 2, "exclusive"), ("translations", "fr", "criteria", 2, "choices", "new")]),
        ([("criteria", 2, "choices", 2, "value")], [("criteria", 3, "asked_if", "ticked", 1)]),
        ([("answer", "choices", 1, "value")],
         [("criteria", 4, "asked_if", "is", 1), (*DE, "answer", "choices", "new")]),
        ([("criteria", 5, "spans", "severities", 1, "value")],
         [(*DE, "criteria", "errors", "spans", "severities", "new")]),
        ([("blocks", 1, "column")],
         [("criteria", 5, "spans", "of"), ("criteria", 5, "spans", "missing_in"), (*DE, "blocks", "new")]),
        ([("skip_reasons", 1, "value")], [(*DE, "skip_reasons", "new")]),
        ([("quiz", 1, "choices", 1, "value")], [("quiz", 1, "answer"), (*DE, "quiz", 1, "choices", "new")]),
    ],
)  # fmt: skip
def test_what_is_called_by_a_name_follows_it(renamed: list[Any], follow: list[Any]) -> None:
    before = tree_of(DOCUMENT, name="draft")
    after = put(before, renamed[0], "new")
    expected = after
    for path in follow:
        if path[0] == "translations":
            around = at(before, path[:-1])
            old = at(before, renamed[0])
            expected = put(
                expected, path[:-1], {"new" if key == old else key: one for key, one in around.items()}
            )
        elif isinstance(path[-1], int):
            expected = put(expected, path[:-1], ["new"])
        else:
            expected = put(expected, path, "new")
    assert followed(before, after) == expected


def test_names_that_change_places_keep_what_calls_them() -> None:
    before = tree_of(DOCUMENT, name="draft")
    after = put(put(before, ("criteria", 1, "key"), "better"), ("preference", "key"), "fluent")
    assert followed(before, after)["headline"] == "better"


def test_a_name_that_another_has_takes_nothing_over() -> None:
    before = tree_of(DOCUMENT, name="draft")
    after = put(before, ("criteria", 1, "key"), "better")
    assert followed(before, after) == after


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        (
            "The headline 'a' is not one of its criteria.",
            "The main question 'a' is not one of its questions.",
        ),
        ("Criterion 'headline' has no choices.", "Question 'headline' has no choices."),
        ("“headline” is missing.", "“Main question” is missing."),
        ("“label” is missing.", "“label” is missing."),  # which is called otherwise in each part
        ("“Overall criterion” is named twice.", "“Overall criterion” is named twice."),
        ("Name it under “of”.", "Name it under “Text that is marked”."),
        ("Two blocks show “criteria”.", "Two blocks show “Questions”."),
    ],
)
def test_sentences_use_the_words_of_the_form(sentence: str, words: str) -> None:
    assert in_words(sentence) == words


@pytest.fixture
def client(db: None) -> Client:
    return client_of("Researcher")


def told(client: Client, draft: ProtocolDraft, **fields: str) -> dict[str, Any]:
    """Return what the script is told when it keeps these fields."""
    draft.refresh_from_db()
    data = {"base": draft.current, **fields}
    return client.post(reverse("builder", args=[draft.pk]), data, HTTP_ACCEPT="application/json").json()


def test_the_script_is_told_what_can_be_chosen_now(client: Client) -> None:
    draft = begun(client, template="pairwise")
    answer = told(client, draft, **{"criteria/1/key": "quality", "headline": "helpful"})
    assert answer["options"]["f-headline"] == {
        "held": ["quality"],
        "options": [["quality", "How helpful is this answer?"], ["better", "Which answer is better?"]],
    }
    assert answer["hint"] == {"text": "", "at": "", "still": ""}


def test_a_page_that_stands_still_says_so_and_leads_to_what_is_to_be_mended(client: Client) -> None:
    draft = begun(client, template="pairwise")
    told(client, draft, title="Compare")
    answer = told(client, draft, headline="gone")
    assert answer["hint"] == {
        "text": "1 thing to mend before it can be published: Main question",
        "at": "f-headline",
        "still": "This is version 2: the page stands still until “Main question” is mended.",
    }
    page = unescape(client.get(reverse("builder", args=[draft.pk])).content.decode())
    assert f'<a href="#f-headline">{answer["hint"]["text"]}</a>' in page
    assert answer["hint"]["still"] in page
    assert "headline: gone" in document(draft)
