"""What was probably meant: the published example, another program, and people made up here."""

import numpy as np
import pytest
from django.core.cache import cache

from surveys.pages.results.tables import BY_QUALITY
from surveys.protocols.registry import get_definition
from surveys.results.files.report import make_report
from surveys.results.files.report_text import report_text
from surveys.results.frames.annotations import read_annotations
from surveys.results.frames.mturk_csv import read_mturk_csv
from surveys.results.statistics.worker_quality import by_quality, dawid_skene, one_coin
from tests.protocols import ESNLIVE
from tests.surveys.pages.results.shown import results
from tests.surveys.results.published import load_published
from tests.surveys.results.score_lines import line, write_lines

# A. P. Dawid & A. M. Skene (1979), Table 1: what five anaesthetists, the first three times, said of 45 patients.
PATIENTS = (
    "111 1 1 1 1|333 4 3 3 4|112 2 1 2 2|222 3 1 2 1|222 3 2 2 2|222 3 3 2 2|122 2 1 1 1|333 3 4 3 3|222 2 2 2 3|"
    "232 2 2 2 3|444 4 4 4 4|222 3 3 4 3|111 1 1 1 1|222 3 2 1 2|121 1 1 1 1|111 2 1 1 1|111 1 1 1 1|111 1 1 1 1|"
    "222 2 2 2 1|222 1 3 2 2|222 2 2 2 2|222 2 2 2 1|222 3 2 2 2|221 2 2 2 2|111 1 1 1 1|111 1 1 1 1|232 2 2 2 2|"
    "111 1 1 1 1|111 1 1 1 1|112 1 1 2 1|111 1 1 1 1|333 3 2 3 3|111 1 1 1 1|222 2 2 2 2|222 3 2 3 2|433 4 3 4 3|"
    "221 2 2 3 2|232 3 2 3 3|333 3 4 3 2|111 1 1 1 1|111 1 1 1 1|121 2 1 1 1|232 2 2 2 2|121 1 1 1 1|222 2 2 2 2"
)


def said(patients):
    """Return patient, observer and value, from 0, of every rating."""
    rows = [
        (patient, observer, int(value) - 1)
        for patient, line in enumerate(patients.split("|"))
        for observer, values in enumerate(line.split())
        for value in values
    ]
    return (np.array(column) for column in zip(*rows, strict=True))


def test_the_published_example():
    """The paper's shares of the four are .40, .42, .11, .07; the digits are crowd-kit 1.4.2's after 3,000 steps."""
    meant = dawid_skene(*said(PATIENTS), n_labels=4)

    assert meant.mean(axis=0) == pytest.approx([0.399555, 0.421983, 0.111795, 0.066667], abs=1e-6)
    assert meant[2] == pytest.approx([0, 1, 0, 0], abs=1e-4)
    assert meant[37] == pytest.approx([0, 0.0212, 0.9788, 0], abs=1e-4)
    assert meant.sum(axis=1) == pytest.approx(np.ones(45))


def test_a_published_study_beside_another_program(shared):
    """crowd-kit 1.4.2, 600 steps of DawidSkene over both systems' items: .829809, .768322; of 100 answers 93 right."""
    frame = read_mturk_csv(shared / "data" / "ofax" / "esnlive_unifiedresults_raw.csv", definition=ESNLIVE)
    found = by_quality(frame)

    assert found.means["ground_truth"]["justifies"] == pytest.approx(0.829809, abs=1e-4)
    assert found.means["model"]["justifies"] == pytest.approx(0.768322, abs=1e-4)
    assert (found.correct.count, found.correct.total) == (93, 100)
    report = make_report(frame)
    assert report.as_data()["by_quality"]["systems"]["model"] == found.means["model"]
    assert (
        "kept, by worker quality (Dawid & Skene): likeliest answer right 93.0% (93) of items"
        in report_text(report)
    )


def test_the_order_of_rows_is_of_no_matter(shared):
    frame = read_mturk_csv(shared / "data" / "ofax" / "esnlive_unifiedresults_raw.csv", definition=ESNLIVE)
    mixed = frame.responses.sample(frac=1, random_state=1).reset_index(drop=True)
    assert by_quality(type(frame)(frame.definition, frame.systems, mixed)) == by_quality(frame)


def crowd(seed, *, n_items=300, raters=5, n_workers=30, careless=12):
    """Three answers an item; careful people are right nine times of ten, careless ones say anything."""
    rng = np.random.default_rng(seed)
    workers = np.argsort(rng.random((n_items, n_workers)), axis=1)[:, :raters].ravel()
    truth = rng.integers(3, size=n_items)
    items = np.repeat(np.arange(n_items), raters)
    is_right = rng.random(len(items)) < np.where(workers < careless, 1 / 3, 0.9)
    wrong = (truth[items] + rng.integers(1, 3, size=len(items))) % 3
    return items, workers, np.where(is_right, truth[items], wrong), truth


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_who_says_anything_counts_for_less_than_a_vote(seed):
    items, workers, labels, truth = crowd(seed)
    votes = np.zeros((len(truth), 3))
    np.add.at(votes, (items, labels), 1)
    by_votes = (votes.argmax(axis=1) == truth).mean()

    for meant in (
        one_coin(items, workers, labels),
        dawid_skene(items, workers, labels, n_labels=3).argmax(axis=1),
    ):
        assert (meant == truth).mean() > by_votes + 0.02


def test_a_careful_one_outweighs_two_who_say_anything():
    """Worker 0 is always with the many where there are many; 1 and 2 differ from everybody, and agree once."""
    items = np.repeat(np.arange(9), 5)[: 8 * 5]
    workers = np.tile([0, 3, 4, 1, 2], 8)
    labels = np.array([[0, 0, 0, 1 + n % 2, 2 - n % 2] for n in range(8)]).ravel()
    last = ([8, 8, 8], [0, 1, 2], [0, 1, 1])
    meant = one_coin(*(np.concatenate([a, b]) for a, b in zip((items, workers, labels), last, strict=True)))
    assert meant.tolist() == [0] * 9


def test_where_workers_are_unknown_nothing_is_said_of_their_quality(tmp_path):
    path = write_lines(tmp_path / "study.jsonl", [line(n, "a", (5, 4, 3)) for n in range(3)])
    frame = read_annotations([path], definition=get_definition("vtt"))
    assert by_quality(frame) is None
    assert make_report(frame).as_data()["by_quality"] is None


@pytest.mark.django_db
def test_the_page_has_it_as_one_more_row(shared):
    cache.clear()
    found = results(load_published(shared / "data/ofax/esnlive_unifiedresults_raw.csv", definition=ESNLIVE))
    (block,) = found.choices_of_rows
    rows = {row.label: [cell.text for cell in row.cells] for row in block.rows}
    assert list(rows) == [*found.item_columns, BY_QUALITY]
    assert rows[BY_QUALITY] == ["0.7684", "0.8298"]
    answers = next(b for b in found.item_blocks if b.title == "Answers").rows
    assert [cell.text for cell in answers[1].cells] == ["", "93.0 %", ""]
