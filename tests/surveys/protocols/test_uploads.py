"""What is refused of a document that is new here, line by line, and what its texts may hold."""

from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from surveys.protocols import documents
from surveys.protocols.criteria import numbered
from surveys.protocols.documents import DocumentError
from surveys.protocols.registry import BUILTIN, ORDER
from surveys.protocols.uploads import COLUMNS, read
from surveys.results.frames import base, responses
from tests import driven
from tests.surveys.pages.hit_pages import open_page
from tests.surveys.protocols.test_documents import PLAIN
from tests.surveys.studies.importing_cases import long_csv

SCRIPT = "<script>alert(1)</script>{{ n }}{% if %}&amp;' \""
PAIR = PLAIN.replace("outputs_per_item: 1", "outputs_per_item: 2") + (
    "preference: {key: best, label: Which is better?, output_label: 'Caption {n}', none_label: ''}\n"
)
BRACES = "The only thing in braces is {n}, the output's number."
TAKEN = "has a meaning of its own in forms and exported files; call the question otherwise."


def problems(text: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        read(text, name="captions.yaml")
    return caught.value.problems


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("version: 1", "version: 99999999999", 3, "A version is a number from 1 to 1,000,000."),
        ("version: 1", "version: -1", 3, "A version is a number from 1 to 1,000,000."),
        ("{value: no,", "{value: '',", 17, "A value is one line of text."),
        ("{value: no,", '{value: "a\\nb",', 17, "A value is one line of text."),
        ("key: remark", "key: seconds", 18, f"'seconds' {TAKEN}"),
        ("key: remark", "key: text", 18, f"'text' {TAKEN}"),
        ("key: best", "key: skip", 25, f"'skip' {TAKEN}"),
        ("key: best", "key: comment", 25, f"'comment' {TAKEN}"),
        ("output_label: Caption\n", "output_label: '{n:999999999}'\n", 6, BRACES),
        ("'Caption {n}'", "'Caption {n.__class__}'", 25, BRACES),
    ],
)  # fmt: skip
def test_what_no_page_or_file_can_hold_is_said_with_its_line(
    old: str, new: str, line: int, sentence: str
) -> None:
    assert PAIR.count(old) == 1
    assert problems(PAIR.replace(old, new)) == [f"captions.yaml, line {line}: {sentence}"]


def test_half_a_character_is_none() -> None:
    text = PLAIN.replace("summary: You will see captions.", 'summary: "\\ud800"')
    assert problems(text)[0].startswith("captions.yaml, line 22: This is not YAML")


def test_what_is_kept_already_is_read_as_it_was() -> None:
    document = PLAIN.replace("key: remark", "key: text")
    assert documents.read(document, name="captions.yaml").criterion("text").is_text
    assert numbered("Caption {n:9} {x} {n}", 2) == "Caption {n:9} {x} 2"


@pytest.mark.parametrize("key", ORDER)
def test_the_built_in_types_could_be_uploaded(key: str) -> None:
    assert read((BUILTIN / f"{key}.yaml").read_bytes(), name=key).key == key


def test_no_question_is_called_as_a_column_of_the_files() -> None:
    columns = {*responses.COLUMNS, *responses.LAST, *base.RESPONSE_COLUMNS, *base.OUTPUT_COLUMNS}
    assert columns - COLUMNS == set()


@pytest.mark.django_db
def test_scripts_and_templates_in_every_text_are_text(tmp_path: Path) -> None:
    """Every text and value of a type, from its upload to its files."""
    quoted = SCRIPT.replace("\\", "").replace('"', '\\"')
    document = f"""\
protocol: hostile
name: "{quoted}"
version: 1
title: "{quoted}"
question_label: "{quoted}"
output_label: "<script>alert(1)</script>"
outputs_per_item: 1
headline: item
pictures: none
criteria:
  - {{key: item, label: "{quoted}", help: "{quoted}", choices: [{{value: "{quoted}", label: "{quoted}", score: 1, description: "{quoted}"}}]}}
  - {{key: faults, label: "{quoted}", is_checklist: true, choices: [{{value: "{quoted}", label: "{quoted}"}}]}}
  - {{key: token, label: "{quoted}", per_output: false, choices: [{{value: "{quoted}", label: "{quoted}", score: 1}}]}}
  - {{key: csrfmiddlewaretoken, label: "{quoted}", is_text: true, per_output: false}}
  - {{key: constructor, label: "{quoted}", number: {{unit: "{quoted}"}}, per_output: false}}
skip_reasons: [{{value: "{quoted}", label: "{quoted}"}}]
changes: ["{quoted}"]
instructions:
  summary: "{quoted}"
  steps: ["{quoted}"]
  notes: ["{quoted}"]
  reminder: "{quoted}"
  background: [{{title: "{quoted}", text: "{quoted}"}}]
  examples: [{{scene: "{quoted}", question: "{quoted}", answer: "{quoted}", explanation: "{quoted}", verdict: "{quoted}", reason: "{quoted}"}}]
"""  # noqa: E501
    items = long_csv([{"item_id": "a", "text": "A boat.", "system": "m", "question": "Why?"}])
    questionnaire = driven.study(document, items=items, folder=tmp_path)
    page = open_page(Client(), questionnaire, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE").content.decode()
    assert ("<script>alert" in page, SCRIPT in unescape(page)) == (False, True)
    given = {"faults": [SCRIPT], "csrfmiddlewaretoken": SCRIPT, "constructor": "3"}
    assert driven.answer(questionnaire, lambda key: given.get(key, SCRIPT)).status_code == 200
    files = driven.files(questionnaire.batch, folder=tmp_path / "out")
    assert {row["criterion"]: row["value"] for row in files["tidy.csv"]} == {
        "item": SCRIPT,
        f"faults.{SCRIPT}": "selected",
        "token": SCRIPT,
        "csrfmiddlewaretoken": SCRIPT,
        "constructor": "3",
    }
