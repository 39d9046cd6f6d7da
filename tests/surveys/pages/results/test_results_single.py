"""Results of surveys with one output per item: criteria by themselves, strata, skips and daggers."""

import re
from datetime import UTC, datetime

import pytest
from django.core.cache import cache
from django.urls import reverse

from surveys.models import Batch, KeptReport, Rating
from surveys.pages.results.cells import Cell
from surveys.pages.results.charts import LEFT, RIGHT
from surveys.protocols.registry import get_definition
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch
from tests.people import client_of
from tests.surveys.pages.pages import text_of
from tests.surveys.pages.results.shown import results
from tests.surveys.results.rated import Rated, rated_batch

pytestmark = pytest.mark.django_db
XAI = {
    "fluency": "5",
    "clarity": "4",
    "convincing": "2",
    "reflecting_decision_process": "1",
    "overall_quality": "1",
}


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    cache.clear()


def vtt(*, subject, system, worker="ann", scores="", **values):
    keys = ("fluency", "relevance", "logical_consistency")
    return Rated(subject, system, worker, dict(zip(keys, scores, strict=False)), **values)


def vtt_study():
    rows = [
        vtt(subject=f"s{n}", system="good", worker=f"w{n}", scores=("5", "5", str(3 + n % 3)))
        for n in range(6)
    ]
    rows += [
        vtt(subject=f"s{n}", system="bad", worker=f"w{n}", scores=(str(1 + n % 2), "4", "3"))
        for n in range(6)
    ]
    rows += [vtt(subject="s7", system="bad", skip_reason="other")]
    return rated_batch(rows, definition=get_definition("vtt"))


def block(found, title):
    return {row.label: row.cells for row in next(b for b in found.blocks if b.title == title).rows}


def test_systems_beside_each_other_with_daggers():
    table = results(vtt_study()).side_by_side

    assert table.criteria == ("Fluency", "Relevance", "Logical consistency")
    assert [(row.system, row.is_against) for row in table.rows] == [("bad", False), ("good", True)]
    assert [cell.text for cell in table.rows[0].cells] == ["1.50† ± 0.55", "4.00 ± 0.00", "3.00† ± 0.00"]
    assert [cell.note for cell in table.rows[1].cells] == ["n = 6"] * 3
    assert table.rows[0].cells[0].note == "n = 6, 1 skipped, p < 0.001, few workers: 6, as good as 6.0"
    assert table.note.startswith("† differs from good, p < 0.05. Two-sided t test on item means")


def test_skips_are_counted_with_their_reasons():
    skipped = block(results(vtt_study()), "Skipped")

    assert skipped == {
        "Skipped": (Cell("1", "of 7"), Cell("0", "of 6")),
        "Another reason": (Cell("1"), Cell("0")),
    }


def test_a_survey_without_answers_or_rejections_shows_its_rows_once():
    found = results(vtt_study())

    assert found.selections == ("Kept (not rejected or left out)",)
    assert found.columns == ("bad", "good")
    assert found.counts.skipped == 1


def test_means_stand_on_the_scale_of_their_criterion():
    figure = results(vtt_study()).figures[1]

    assert [mark.text for mark in figure.scores.marks] == ["4.00", "5.00"]
    assert [score for _, score, _ in figure.scores.ticks] == ["1", "2", "3", "4", "5"]
    assert figure.scores.marks[1].x == RIGHT
    assert figure.scores.marks[0].x == LEFT + 0.75 * (RIGHT - LEFT)


def test_the_best_level_is_the_first_colour_whatever_the_order_of_the_choices():
    legends = [results(vtt_study()).figures[0].shares.legend, results(xai_study()).figures[0].shares.legend]

    assert [(level, label[0]) for level, label in legends[0]] == [
        (0, "5"),
        (1, "4"),
        (5, "3"),
        (2, "2"),
        (3, "1"),
    ]
    assert [(level, label[0]) for level, label in legends[1]] == [
        (0, "5"),
        (1, "4"),
        (5, "3"),
        (2, "2"),
        (3, "1"),
    ]


def xai_study():
    """Every criterion has a mean of its own; nothing comes near 2.6, the mean of the five."""
    rows = [Rated(f"i{n}", "llava", worker, XAI) for n in range(3) for worker in ("ann", "bob")]
    return rated_batch(
        rows, definition=get_definition("xai"), model_correct={"i0/llava": True, "i1/llava": False}
    )


def test_strata_stand_side_by_side():
    found = results(xai_study())

    assert found.selections == (
        "Kept (not rejected or left out)",
        "Model right",
        "Model wrong",
        "Model not graded",
    )
    means = block(found, "Clarity")["Mean of ratings"]
    assert means == (Cell("4.00", "6 ratings"), *(Cell("4.00", "2 ratings"),) * 3)
    assert [bar.label for bar in found.figures[0].shares.bars] == [
        "llava", "llava, model right", "llava, model wrong", "llava, not graded",
    ]  # fmt: skip


def test_the_share_of_good_ratings():
    found = results(xai_study())

    assert block(found, "Clarity")["4 or more"][0] == Cell("100.0 %", "6 of 6")
    assert block(found, "Convincing")["4 or more"][0] == Cell("0.0 %", "0 of 6")


def test_no_number_on_the_page_is_an_average_over_the_criteria():
    batch = xai_study()
    batch.published_at = datetime(2026, 1, 1, 9, tzinfo=UTC)
    batch.save()
    batch.survey.name = "Study"
    batch.survey.save()
    results(batch)
    KeptReport.objects.update(made_at=batch.published_at)
    page = client_of("Researcher").get(reverse("batch_results", args=[batch.pk]))

    assert page.content.decode().count('<svg class="chart"') == 10
    assert not re.search(r"\b(2\.60*|13(\.0+)?)\b", text_of(page))


def test_changed_answers_change_the_numbers():
    batch = vtt_study()
    first = results(batch)
    rating = Rating.objects.filter(criterion="fluency", value="5").first()
    Rating.objects.filter(pk=rating.pk).update(value="1", score=1.0)
    assert results(batch) == first
    assignment = rating.response.assignment
    assignment.saved_at = assignment.submitted_at
    assignment.save()

    assert results(batch) != first


def test_effect_sizes_stand_beside_each_tested_difference_with_their_intervals():
    """Fluency: each item of bad is 1 or 2 beside 5: 3.5 less; no rating of it is higher, so nothing tells a spread."""
    found = results(vtt_study())
    assert found.against == "good"
    rows = {row.cells[0].text: row for row in found.differences}
    assert [row.label for row in found.differences] == ["bad"] * 3
    comparison = make_report(read_batch(Batch.objects.get())).comparison
    fluency = comparison.difference("bad", "fluency")
    label, kept, difference, standardised, superiority = rows["Fluency"].cells
    assert (label.text, kept.text) == ("Fluency", "kept")
    assert difference.text.startswith("−3.5† (−4.")
    low, high = fluency.standardised_interval.low, fluency.standardised_interval.high
    assert standardised.text == f"{fluency.standardised:.2f}".replace("-", "−")
    assert low < fluency.standardised < high
    assert standardised.note != ""
    assert (superiority.text, superiority.note) == ("0.0 %", "")
