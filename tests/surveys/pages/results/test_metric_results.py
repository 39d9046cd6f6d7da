"""Automatic metrics on the results page and in the files."""

import csv
import io

import pytest
from django.test import Client

from metrics import METRICS
from surveys.models import MetricScore, Output, Questionnaire
from surveys.results.files.layouts import batch_writers, layouts_for
from surveys.studies import scoring
from tests.factories import make_published, submitted
from tests.policy_data import NEVER
from tests.surveys.pages.pages import text_of, url
from tests.surveys.pages.results.shown import metric_results

pytestmark = pytest.mark.django_db
TEXT = "the red bus waits at the stop while two people with umbrellas hurry"
NAMES = ["text_f1", "captioning_meteor", "one_minus_ned"]


@pytest.fixture
def study() -> Questionnaire:
    """Twelve items, rated by two; what the model says resembles the ground truth more and more."""
    questionnaire = make_published(n_items=12, items_per_hit=12, review_policy=NEVER)
    words = TEXT.split()
    for output in Output.objects.select_related("item"):
        n = output.item.position if output.system == "model" else len(words)
        Output.objects.filter(pk=output.pk).update(text=" ".join(words[:n]))
    for worker in ("A1", "A2"):
        submitted(questionnaire, worker=worker)
    return questionnaire


def written(questionnaire: Questionnaire, name: str) -> list[dict[str, str]]:
    stream = io.StringIO(newline="")
    (write,) = batch_writers(questionnaire.batch, names=[name]).values()
    write(stream)
    return list(csv.DictReader(io.StringIO(stream.getvalue())))


def test_before_anything_is_scored_there_is_neither_page_nor_file(
    admin_client: Client, study: Questionnaire
) -> None:
    assert metric_results(study.batch) is None
    assert {"metrics", "correlations", "correlations_within"} & set(layouts_for(study.batch)) == set()
    page = admin_client.get(url("batch_results", study.batch))
    assert 'id="of-metrics"' not in page.content.decode()
    assert "Automatic metrics have not scored the outputs of this study yet" in text_of(page)


def test_nobody_waits_for_metrics_that_have_nothing_to_compare_with(
    admin_client: Client, study: Questionnaire, settings
) -> None:
    settings.METRICS_IN_USE = []
    assert "Automatic metrics" not in text_of(admin_client.get(url("batch_results", study.batch)))


def test_the_page_shows_means_a_map_and_a_plot_of_each_pair(
    admin_client: Client, study: Questionnaire
) -> None:
    scoring.score_next(study.batch.survey)
    page = admin_client.get(url("batch_results", study.batch))
    shown = metric_results(study.batch)
    assert shown.systems == ("model",)
    assert [row.label for row in shown.means] == ["captioning_meteor", "one_minus_ned", "text_f1"]
    mean = sum(MetricScore.objects.filter(metric="text_f1").values_list("value", flat=True)) / 12
    assert shown.means[2].cells[0].text == f"{mean:.4f}"
    assert [(row.label, row.cells[0].text, row.cells[0].note) for row in shown.ratings] == [
        ("Does the explanation justify the answer given above?", "0.6667", "n = 12")
    ]
    assert (len(shown.plots), len(shown.plots[0].dots)) == (3, 12)
    assert "Automatic metrics" in text_of(page)
    assert page.content.decode().count("one dot is one output") == 3


def test_the_numbers_follow_new_scores(study: Questionnaire) -> None:
    scoring.score_next(study.batch.survey)
    before = metric_results(study.batch).means
    Output.objects.filter(system="model").update(text="the red bus")
    scoring.score_next(study.batch.survey)
    assert metric_results(study.batch).means != before


def test_one_line_an_output_with_its_metrics_and_mean_ratings(study: Questionnaire) -> None:
    scoring.score_next(study.batch.survey)
    rows = written(study, "metrics")
    assert len(rows) == 24
    models = [row for row in rows if row["system"] == "model"]
    for output, row in zip(Output.objects.filter(system="model").order_by("pk"), models, strict=True):
        truth = output.item.outputs.get(system="ground_truth").text
        assert row["item_id"] == output.item.subject
        for name in NAMES:
            assert float(row[name]) == pytest.approx(METRICS[name].score(output.text, [truth]))
        assert float(row["mean_justifies"]) == pytest.approx(2 / 3)
    assert {row["text_f1"] for row in rows if row["system"] == "ground_truth"} == {""}
    assert "text_f1 1 document" in models[0]["versions"]


def test_one_line_a_coefficient_with_its_interval_or_why_there_is_none(study: Questionnaire) -> None:
    scoring.score_next(study.batch.survey)
    rows = written(study, "correlations")
    assert len(rows) == 3 * 2 * 3
    assert {row["note"] for row in rows} == {
        "The mean rating is the same for all.",
        "Only 1 system; it takes 3.",
    }
    assert {(row["value"], row["low"]) for row in rows} == {("", "")}


def test_where_two_systems_were_scored_there_is_a_file_of_each_by_itself(study: Questionnaire) -> None:
    scoring.score_next(study.batch.survey)
    assert "correlations_within" not in layouts_for(study.batch)
    scored = MetricScore.objects.filter(metric="text_f1").first()
    other = Output.objects.filter(item=scored.output.item, system="ground_truth").get()
    MetricScore.objects.create(
        output=other, metric="text_f1", value=0.5, version="1", scored_at=scored.scored_at
    )
    assert {row["level"] for row in written(study, "correlations")} == {"item", "system"}
    rows = written(study, "correlations_within")
    assert [row["coefficient"] for row in rows] == ["pearson", "spearman", "kendall"]
    assert {(row["level"], row["note"]) for row in rows} == {
        ("within", "No system has 10 outputs that differ; it takes 2.")
    }
