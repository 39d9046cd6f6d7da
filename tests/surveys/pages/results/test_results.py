"""The results of a batch as a page shows them: counts beside every share, and drawings that agree with them."""

from dataclasses import replace

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import Batch, Rating
from surveys.pages.results.cells import Cell
from surveys.pages.results.results import Results
from surveys.protocols.criteria import Choice, Criterion
from tests.factories import make_published, open_for, submitted
from tests.people import client_of
from tests.protocols import ESNLIVE, VQAX
from tests.surveys.pages.pages import text_of
from tests.surveys.pages.results.shown import results
from tests.surveys.results.published import load_published

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    cache.clear()


def block(found: Results, title: str) -> dict[str, tuple[Cell, ...]]:
    blocks = (*found.blocks, *found.item_blocks)
    return {row.label: row.cells for row in next(b for b in blocks if b.title == title).rows}


def test_nothing_submitted_has_no_results():
    questionnaire = make_published()
    open_for(questionnaire)
    assert results(questionnaire.batch) is None
    page = client_of("Assistant").get(reverse("batch_results", args=[questionnaire.batch_id]))
    assert "Nothing has been submitted yet." in text_of(page)


def test_every_share_has_its_count():
    questionnaire = make_published()
    submitted(questionnaire, n_correct=5)
    submitted(questionnaire, n_correct=3)
    found = results(questionnaire.batch)
    assert found.selections == (
        "All submitted",
        "Kept (not rejected or left out)",
        "Filtered (kept, answer right)",
    )
    assert found.columns == ("model", "ground_truth") * 3
    assert block(found, "Answers")["Answer right"] == (
        Cell("80.0 %", "8 of 10; 95 %: 2 to 100"),
        Cell("80.0 %", "8 of 10; 95 %: 2 to 100"),
        Cell("100.0 %", "8 of 8; 95 %: 20 to 100"),  # of 1.88 effective workers all: .05 ** (1 / 1.88) = .20
    )
    assert found.item_columns == found.selections
    assert [block.title for block in found.item_blocks] == ["Answers", "Preference"]
    assert (
        sum(
            int(cell.note.split()[0])
            for cell in block(found, "Does the explanation justify the answer given above?")["Yes"][:2]
        )
        == 10
    )


def test_criteria_about_the_item_have_a_block_of_their_own():
    sharp = Criterion(
        "sharp", "Sharp?", (Choice("no", "No", 0.0), Choice("yes", "Yes", 1.0)), per_output=False
    )
    questionnaire = make_published()
    for worker_says in ("yes", "no"):
        for response in submitted(questionnaire).responses.all()[:4]:
            score = {"no": 0.0, "yes": 1.0}[worker_says]
            Rating.objects.create(response=response, criterion="sharp", value=worker_says, score=score)
    definition = replace(VQAX, criteria=(*VQAX.criteria, sharp))
    Batch.objects.update(snapshot=definition.to_snapshot())
    found = block(results(Batch.objects.get()), "Sharp?")
    assert found == {
        "Mean of ratings": (Cell("0.5000", "8 ratings"),) * 3,
        "Mean of item means": (Cell("0.5000", "4 items"),) * 3,
        "95 % interval": (Cell("0.0015 to 0.9985", "few workers: 2, as good as 2.0; three gave 100%"),) * 3,
        "No": (Cell("40.0 %", "4 of 10"),) * 3,
        "Yes": (Cell("40.0 %", "4 of 10"),) * 3,
        "Blank": (Cell("20.0 %", "2 of 10"),) * 3,
    }


def test_a_score_stands_within_its_interval_and_few_workers_are_told():
    questionnaire = make_published()
    for _ in range(2):
        submitted(questionnaire)
    found = results(questionnaire.batch)
    rows = block(found, "Does the explanation justify the answer given above?")
    assert [cell.note for cell in rows["95 % interval"]] == [
        "few workers: 2, as good as 2.0; three gave 100%"
    ] * 6
    assert [cell.note for cell in rows["Difference from the reference"]] == ["10 pairs", ""] * 3
    for mark in found.figures[0].scores.marks:
        assert mark.ends[0] <= mark.x <= mark.ends[1]
        assert ", 95 % interval 0." in mark.title


def test_one_worker_gives_no_interval():
    questionnaire = make_published()
    submitted(questionnaire)
    found = results(questionnaire.batch)
    rows = block(found, "Does the explanation justify the answer given above?")
    assert rows["95 % interval"] == (Cell("–", "too few items or workers", 6),)
    assert rows["Difference of item means, tested"][2] == Cell(
        "–", "not tested, 5 shared items: it rests on one person"
    )
    assert [mark.ends for mark in found.figures[0].scores.marks] == [None] * 6


def test_a_rejection_changes_the_numbers_at_once():
    questionnaire = make_published()
    submitted(questionnaire, n_correct=5)
    bad = submitted(questionnaire, n_correct=0)
    assert results(questionnaire.batch).counts.kept == 2
    Assignment.objects.filter(pk=bad.pk).update(status="Rejected", rejected_at=timezone.now())
    found = results(questionnaire.batch)
    assert (found.counts.kept, found.counts.rejected) == (1, 1)
    notes = [cell.note for cell in block(found, "Answers")["Answer right"]]
    assert notes == ["5 of 10; 95 %: 0 to 100", "5 of 5", "5 of 5"]  # one worker tells nothing of others


def test_where_nothing_is_kept_no_column_of_the_import_is_blamed():
    questionnaire = make_published()
    bad = submitted(questionnaire, n_correct=0)
    Assignment.objects.filter(pk=bad.pk).update(status="Rejected", rejected_at=timezone.now())
    scores = block(results(questionnaire.batch), "e-ViL scores")
    only_right = "right on all 5 items that were rated: enter the whole test set’s"
    assert [cell.note for cell in scores["S_T, answers of the model"]] == [only_right, *[""] * 5]


def test_a_task_score_that_says_only_how_items_were_picked_is_not_shown():
    questionnaire = make_published()
    submitted(questionnaire)
    scores = block(results(questionnaire.batch), "e-ViL scores")
    assert [row[0].text for row in scores.values()] == ["–", scores["S_E, explanations"][0].text, "–"]
    assert scores["S_E, explanations"][0].text != "–"


def test_unchanged_results_are_not_counted_again(monkeypatch):
    questionnaire = make_published()
    submitted(questionnaire)
    first = results(questionnaire.batch)
    monkeypatch.setattr("surveys.results.reports.read_batch", lambda batch: pytest.fail("read again"))
    assert results(questionnaire.batch) == first


def test_a_bar_is_as_long_as_its_shares():
    questionnaire = make_published()
    submitted(questionnaire)
    chart = results(questionnaire.batch).figures[0].shares
    assert chart.legend == ((0, "Yes"), (1, "Weak yes"), (2, "Weak no"), (3, "No"))
    assert [bar.label for bar in chart.bars] == ["model", "ground_truth"]
    for bar in chart.bars:
        assert bar.note == "n = 5"
        assert sum(part.width for part in bar.segments) == pytest.approx(100, abs=0.01)


def test_the_published_study_shows_its_published_numbers(shared):
    batch = load_published(shared / "data/ofax/esnlive_unifiedresults_raw.csv", definition=ESNLIVE)
    found = results(batch)
    assert (found.counts.assignments, found.counts.kept, found.counts.rejected) == (123, 101, 22)
    assert block(found, "Answers")["Answer right"][1].text == "80.2 %"
    means = block(found, "Does the explanation justify the answer given above?")["Mean of ratings"]
    assert [cell.text for cell in means[2:]] == ["0.7923", "0.8313", "0.8036", "0.8589"]
    filtered = block(found, "Does the explanation justify the answer given above?")
    assert [filtered[label][4].note for label in ("Yes", "Weak yes", "Weak no", "No", "Blank")] == [
        "286 of 405", "47 of 405", "22 of 405", "49 of 405", "1 of 405",
    ]  # fmt: skip
    kept, right = found.differences
    assert [cell.text for cell in kept.cells] == [
        "Does the explanation justify the answer given above?", "kept", "−0.04 (−0.12 to 0.04)", "−0.12", "47.8 %",
    ]  # fmt: skip
    assert [cell.text for cell in right.cells[3:]] == ["−0.22", "46.3 %"]
    assert right.cells[4].note == "40 to 53 %"
    assert found.verdict[1] == (
        "Beside each other: whether ofa-x or ground_truth is preferred can't be told (ofa-x won 164, tied 134, "
        "lost 195; won less lost −0.06, −0.19 to 0.06, p = 0.281, few workers: 14, as good as 9.4)."
    )
    assert found.is_compared is True
    preferred = block(found, "Preference")
    assert [cells[2].text for cells in preferred.values()] == [
        "32.8 %", "38.8 %", "25.9 %", "2.5 %", "−0.06 (−0.19 to 0.07)", "47.0 %", "45.9 %",
    ]  # fmt: skip
    net, rate, _ = list(preferred.values())[-3:]
    assert rate[1].note == "164 won, 134 tied, 195 lost; 95 %: 41 to 53"
    assert (net[0].text, net[1].note) == ("", "p = 0.281, 95 %, few workers: 14, as good as 9.4")
    ticked = block(found, "What is wrong with it?")["Confusing sentence: difference, tested"]
    assert [cell.text != "" for cell in ticked] == [False, False, True, False, True, False]
    assert found.families.startswith("Holm's correction: over all options of checklists")
    assert [row.cells[1].text for row in found.agreement] == ["0.179", "0.110"]


def test_the_page_draws_without_scripts(shared):
    batch = load_published(shared / "data/ofax/esnlive_unifiedresults_raw.csv", definition=ESNLIVE)
    page = client_of("Researcher").get(reverse("batch_results", args=[batch.pk])).content.decode()
    assert page.count('<svg class="chart"') == 2
    assert page.count("<title>Yes: ") == 2
