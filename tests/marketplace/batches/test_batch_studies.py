"""Template batches of published studies: their CSVs in, MTurk's file with their header out."""

import csv

import pytest
from django.utils import timezone

from marketplace.accounts import keys
from marketplace.batches import results
from marketplace.batches.template import remarks
from marketplace.money import ledger
from marketplace.questions import answer_documents, hit_questions
from tests.marketplace.batches.batches_made import hits, published, work

ITEM = (
    '<h2>${question_N}</h2><img src="https://lab.example/${img_name_N}" alt="">'
    '<label><input type="radio" name="task_N" value="${answer_N}">${answer_N}</label>'
    '<p>${output_explanation_N}</p><p>${explanation_N}</p><script>seen.push("${output_explanation_N}");</script>'
)
TEMPLATE = (
    '<script src="https://assets.crowd.aws/crowd-html-elements.js"></script><script>var seen = [];</script>'
    f"<crowd-form>{''.join(ITEM.replace('_N', f'_{n}') for n in range(5))}</crowd-form>"
)


@pytest.fixture
def batch(requester, shared):
    """The VQA-X batch, one assignment per HIT."""
    ledger.deposit(requester, cents=100_000, now=timezone.now())
    table = (shared / "data/ofax/vqa.csv").read_bytes()
    return published(requester, template=TEMPLATE, table=table, max_assignments=1)


def test_every_row_of_the_study_is_a_hit(batch, shared):
    rows = list(csv.DictReader((shared / "data/ofax/vqa.csv").open(newline="")))
    pages = [hit_questions.parse(hit.question).html for hit in hits(batch)]
    assert len(pages) == len(rows) == 60
    assert ["${" in page for page in pages] == [False] * 60
    assert not any("<bin_" in page for page in pages)


def test_the_header_is_the_published_files(batch, shared):
    document = answer_documents.document({"taskAnswers": "[{}]"})
    work(hits(batch)[0], worker=keys.create_worker()[0], answer=document)
    raw = (shared / "data/ofax/vqax_results_raw.csv").read_bytes().decode()
    header = next(results.lines(batch, now=timezone.now()))
    assert header == raw.partition("\r\n")[0]


def test_what_a_template_lacks_is_remarked():
    html = (
        '<script src="https://assets.crowd.aws/crowd-html-elements.js"></script><link href="//cdn.example/a.css">'
        "<script src='https://code.example/jquery.js'></script><crowd-form><crowd-bounding-box></crowd-bounding-box>"
        "{{ task.input.taskObject }}</crowd-form>"
    )
    assert remarks(html) == [
        "Only the text inside these elements is shown: <crowd-bounding-box>.",
        "Scripts or styles come from elsewhere and may be out of reach: cdn.example, code.example.",
        "{{ task.input }} is Ground Truth's way to write a column; here it is ${column}.",
    ]
    assert remarks(TEMPLATE) == []
