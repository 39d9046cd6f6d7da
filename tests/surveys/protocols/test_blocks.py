"""Texts of an item itself: from a column of its file to the annotator's page."""

import re
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from annotators.models import Assignment
from surveys.models import Batch
from surveys.protocols.blocks import Block
from surveys.protocols.definition import Definition
from surveys.protocols.documents import DocumentError, read
from surveys.protocols.policy import NEVER
from surveys.studies.importing.reading import read_items
from tests import driven
from tests.surveys.pages.hit_pages import open_page
from tests.surveys.studies.importing_cases import batch_csv, jsonl, long_csv, slot

DOCUMENT = """\
protocol: replies
name: Replies
version: 1
title: Rate replies
question_label: ""
output_label: Reply
outputs_per_item: 1
pictures: none
headline: helps
blocks:
  - {column: source, label: Source}
  - {column: target, label: Reference, lang: he, is_beside: true}
  - {column: chat, kind: conversation}
  - {column: facts, label: Facts, kind: table}
criteria:
  - key: helps
    label: Does the reply help?
    choices:
      - {value: 1, label: No, score: 0}
      - {value: 2, label: Yes, score: 1}
instructions:
  summary: You will read conversations.
  steps: [Rate the last reply.]
"""
AT_FIRST = {
    "column",
    "kind",
    "label",
    "lang",
    "is_beside",
}  # what a block could say when the first were published
ELSEWHERE = "in files with items; give the column another name."
EVIL = "<script>alert(1)</script>"
ROW = {
    "item_id": "a",
    "system": "m",
    "text": "Try again.",
    "source": f"One.\n\nTwo {EVIL}",
    "target": "שלום",
    "chat": "User: Hello,\n  see: there\nBot:\nHi.",
    "facts": "Where: here\nWhen: now",
}


@pytest.mark.parametrize(
    ("kind", "text", "parts"),
    [
        ("text", "", []),
        ("text", "One\nline.\r\n\r\n\n Two", [("", "One\nline."), ("", " Two")]),
        ("table", "a: 1\n\nb:2\nc: 3", [("a", "1\nb:2"), ("c", "3")]),
        ("conversation", "no name\nA: x: y\n B: more", [("", "no name"), ("A", "x: y\nB: more")]),
        ("conversation", "A:\nsee https://example.org/", [("A", "see https://example.org/")]),
    ],
)
def test_the_parts_of_a_cell(kind, text: str, parts: list[tuple[str, str]]) -> None:
    assert list(Block("c", kind).parts(text)) == parts


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("column: target", "column: source", "line 12: Two blocks show the column 'source'."),
        (
            "column: chat",
            "column: a b",
            "line 13: 'a b' is no name of a column: letters, digits and _, a letter first.",
        ),
        *(
            ("column: chat", f"column: {name}", f"line 13: {name!r} has a meaning of its own {ELSEWHERE}")
            for name in ("answer", "Check", "model_correct", "helps")
        ),
        ("lang: he", "lang: hebrew!", "line 12: 'hebrew!' is no language, such as en or pt-BR."),
        ("label: Source", "is_beside: true", "line 11: The first block has none before it."),
        ("kind: table", "kind: table, format: markdown", "line 14: Only a text can be Markdown."),
        (
            "kind: table",
            "kind: html",
            "line 14: blocks 4, kind: Here belongs one of text, conversation, table, pictures, audio, video, "
            "not 'html'.",
        ),
    ],
)
def test_blocks_that_are_none(old: str, new: str, problem: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(DOCUMENT.replace(old, new), name="replies.yaml")
    assert caught.value.problems == [f"replies.yaml, {problem}"]


def refusals(data: bytes) -> list[tuple[str, str]]:
    plan = read_items(data, definition=read(DOCUMENT, name="replies.yaml"))
    return [(problem.column, problem.message) for problem in plan.problems]


def test_files_that_lack_them() -> None:
    assert refusals(long_csv([{k: v for k, v in ROW.items() if k != "chat"}])) == [
        ("chat", "The column is missing. The file has item_id, system, text, source, target, facts.")
    ]
    assert refusals(long_csv([ROW | {"facts": "x" * 20_001}])) == [
        ("facts", "The text has more than 20,000 characters.")
    ]
    assert refusals(batch_csv([slot(1)])) == [
        ("", "A batch CSV has no place for the texts of an item; lay out one output a row.")
    ]


def test_a_json_list_is_parts() -> None:
    definition = read(DOCUMENT, name="replies.yaml")
    (item,) = read_items(jsonl([ROW | {"chat": ["User: a|b", "Bot: c"]}]), definition=definition).items
    assert item.payload["blocks"]["chat"] == "User: a|b\n\nBot: c"


def test_a_batch_published_before_there_were_blocks() -> None:
    definition = read(DOCUMENT, name="replies.yaml")
    snapshot = definition.to_snapshot()
    assert Definition.from_snapshot(snapshot) == definition
    del snapshot["blocks"]
    assert Definition.from_snapshot(snapshot).blocks == ()


def test_markdown_is_one_part() -> None:
    assert Block("c", format="markdown").parts(" - a\r\n\n- b\n") == (("", "- a\n\n- b"),)
    assert Block("c", format="markdown").parts(" \n") == ()


@pytest.mark.django_db
def test_markdown_on_the_pages_of_annotator_and_reviewer(tmp_path: Path) -> None:
    document = DOCUMENT.replace("column: source", "column: source, format: markdown, lang: en")
    text = f"- *one* {EVIL}"
    questionnaire = driven.study(document, items=long_csv([ROW | {"source": text}]), folder=tmp_path)
    assert driven.answer(questionnaire, {"helps": "2"}.__getitem__).status_code == 200
    Batch.objects.update(review_policy=NEVER)
    reviewer = Client()
    reviewer.force_login(get_user_model().objects.get())
    seen = reviewer.get(
        reverse("assignment", args=[questionnaire.batch_id, Assignment.objects.get().pk])
    ).content.decode()
    for page in (open_page(Client(), questionnaire).content.decode(), seen):
        (shown,) = re.findall(r'<div class="markdown".*?</div>', page, re.DOTALL)
        assert shown == (
            '<div class="markdown" lang="en"><ul dir="auto">\n<li dir="auto"><em>one</em> '
            "&lt;script&gt;alert(1)&lt;/script&gt;</li>\n</ul>\n</div>"
        )
        assert re.findall(r'<p dir="auto" lang="he">([^<]*)</p>', page) == ["שלום"]


@pytest.mark.django_db
def test_questions_and_choices_stand_in_their_own_direction(tmp_path: Path) -> None:
    document = DOCUMENT.replace("Does the reply help?", "هل يساعد؟").replace("label: Yes", "label: نعم")
    document = document.replace('question_label: ""', "question_label: Question")
    questionnaire = driven.study(document, items=long_csv([ROW | {"question": "מה?"}]), folder=tmp_path)
    page = open_page(Client(), questionnaire).content.decode()
    assert '<legend dir="auto">هل يساعد؟</legend>' in page
    assert '<span dir="auto">نعم</span>' in page
    assert '<bdi class="asked">מה?</bdi></h2>' in page


@pytest.mark.django_db
def test_what_the_page_shows(tmp_path: Path) -> None:
    items = long_csv([ROW, ROW | {"item_id": "b", "chat": "", "facts": "", "target": ""}])
    questionnaire = driven.study(DOCUMENT, items=items, folder=tmp_path)
    page = open_page(Client(), questionnaire).content.decode()
    assert "<script>alert" not in page
    first, second = re.findall(r'<section class="item".*?</section>', page, re.DOTALL)
    assert re.findall(r'<p dir="auto"(?: lang="(\w+)")?>([^<]*)</p>', first) == [
        ("", "One."),
        ("", "Two &lt;script&gt;alert(1)&lt;/script&gt;"),
        ("he", "שלום"),
    ]
    said = re.findall(r'<li dir="auto">(?:<strong>(\w+)</strong>)?<span>([^<]*)</span>', first)
    assert said == [("User", "Hello,\nsee: there"), ("Bot", "Hi.")]
    assert re.findall(r'<th scope="row" dir="auto">(\w+)</th><td dir="auto">(\w+)</td>', first) == [
        ("Where", "here"),
        ("When", "now"),
    ]
    assert [page_part.count('class="blocks"') for page_part in (first, second)] == [3, 1]
    assert (
        unescape(re.findall(r'<blockquote dir="auto" id="i1-\w+-text">(.*?)</blockquote>', first)[0])
        == "Try again."
    )

    assert driven.answer(questionnaire, {"helps": "2"}.__getitem__).status_code == 200
    tidy = driven.files(questionnaire.batch, folder=tmp_path / "out")["tidy.csv"]
    assert [(row["item_id"], row["criterion"], row["score"]) for row in tidy] == [
        ("a", "helps", "1.0"),
        ("b", "helps", "1.0"),
    ]


def test_blocks_as_they_were_make_the_snapshot_that_they_made() -> None:
    """Names of HITs are made of its bytes."""
    definition = read(DOCUMENT, name="replies.yaml")
    assert [block.keys() for block in definition.to_snapshot()["blocks"]] == [AT_FIRST] * 4
    text = DOCUMENT.replace("label: Source", "label: Source, format: markdown")
    marked = read(text, name="replies.yaml")
    assert Definition.from_snapshot(marked.to_snapshot()) == marked
