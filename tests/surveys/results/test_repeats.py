"""What was asked twice, in the results: within raters alone, told in every file, the same read back."""

import csv
import io

import pytest
from django.utils import timezone

from surveys.models import Batch, MetricScore, Output, Questionnaire
from surveys.results.files.layouts import LAYOUTS
from surveys.results.files.raw import raw_lines
from surveys.results.files.report import make_report
from surveys.results.frames.csv_table import read_table
from surveys.results.frames.database import read_batch, read_scores
from surveys.results.frames.mturk_csv import frame_from_csv
from surveys.results.frames.responses import frame_from_responses
from surveys.results.statistics.metrics import summarise_metrics
from tests.factories import make_draft, make_survey, open_batch, submitted
from tests.made_once import made_once

pytestmark = pytest.mark.django_db


def a_batch() -> Batch:
    """Two HITs of four items and one of two, two and one of them asked twice; three people each."""
    draft = make_draft(
        make_survey(n_items=10),
        items_per_hit=4,
        repeats_per_hit=2,
        review_policy={"rules": [], "reject_at": 2},
    )
    for one in open_batch(draft):
        for worker in ("ANN", "BOB", "CAT"):
            _submit(one, worker)
    return Batch.objects.get(pk=draft.pk)


def _submit(questionnaire: Questionnaire, worker: str) -> None:
    """Bob says "no" of the model wherever he is asked a second time."""
    assignment = submitted(questionnaire, worker=worker)
    if worker == "BOB":
        for response in assignment.responses.filter(is_repeat=True):
            response.ratings.filter(output__system="model", criterion="justifies").update(
                value="no", score=0.0
            )


batch = made_once(a_batch)


def column_of(batch: Batch, layout: str, name: str) -> list[str]:
    stream = io.StringIO(newline="")
    LAYOUTS[layout].write(batch, stream)
    return [row[name] for row in csv.DictReader(io.StringIO(stream.getvalue(), newline=""))]


def test_no_score_counts_a_repeat(batch):
    frame = read_batch(batch)
    assert (len(frame.responses), len(frame.repeats)) == (30, 15)
    selections = make_report(frame).summary.selections
    assert {selection.responses for selection in selections} == {30}
    assert not frame.responses.duplicated(["worker", "item_id"]).any()


def test_means_beside_metrics_are_those_of_the_report(batch):
    for output in Output.objects.filter(item__survey=batch.survey):
        MetricScore.objects.create(
            output=output, metric="bleu", value=0.5, version="1", scored_at=timezone.now()
        )
    frame = read_batch(batch)
    of_report = {
        (system.system, criterion.key): criterion.score.item_mean
        for system in make_report(frame).summary.kept.systems
        for criterion in system.criteria
        if criterion.score
    }
    beside = summarise_metrics(frame, read_scores([batch])).ratings
    assert {(rating.system, rating.criterion): rating.mean for rating in beside} == of_report
    mean = sum(map(float, column_of(batch, "metrics", "mean_justifies"))) / 20
    assert mean == pytest.approx(sum(of_report[system, "justifies"] for system in frame.systems) / 2)


def test_within_raters_there_is_agreement_with_an_interval(batch):
    report = make_report(read_batch(batch))
    found = {entry.system: entry for entry in report.agreement}
    assert (found["model"].within.repeats, found["model"].within.workers) == (15, 3)
    assert found["model"].within.percent == pytest.approx(10 / 15)
    assert found["model"].within.percent_interval is not None
    unanimous = found["ground_truth"].within
    units = min(unanimous.percent_interval.support.items, unanimous.percent_interval.support.effective)
    assert (unanimous.percent, unanimous.percent_interval.high) == (1.0, 1.0)
    assert unanimous.percent_interval.low == pytest.approx(0.05 ** (1 / units))
    assert {entry.ratings for entry in report.agreement} == {30}


def test_where_nothing_was_asked_twice_nothing_is_said():
    survey = make_survey(n_items=4)
    plain = make_draft(survey, items_per_hit=4, review_policy={"rules": [], "reject_at": 2})
    (one,) = open_batch(plain)
    submitted(one)
    report = make_report(read_batch(plain))
    assert [entry.within for entry in report.agreement] == [None, None]
    for layout in ("processed", "tidy", "responses"):
        stream = io.StringIO(newline="")
        LAYOUTS[layout].write(plain, stream)
        assert "is_repeat" not in stream.getvalue()
    stream = io.StringIO(newline="")
    stream.writelines(raw_lines(plain))
    assert "repeat_of" not in stream.getvalue()


@pytest.mark.parametrize(
    ("layout", "n_rows", "n_repeats"), [("processed", 45, 15), ("processed_filtered", 39, 9)]
)
def test_processed_files_tell_which_row_is_the_repeat(batch, layout, n_rows, n_repeats):
    """Of six questions everybody answers the last one, a repeat, wrongly."""
    told = column_of(batch, layout, "is_repeat")
    assert (len(told), told.count("True")) == (n_rows, n_repeats)


def test_tidy_files_tell_it_of_each_rating(batch):
    told = column_of(batch, "tidy", "is_repeat")
    assert told.count("True") * 2 == told.count("False")


def test_files_as_ofax_published_have_no_repeats(batch):
    assert len(column_of(batch, "legacy", "assignment_id")) == 30


@pytest.mark.parametrize("source", ["raw", "responses"])
def test_read_back_from_a_raw_file_the_numbers_are_the_same(batch, source):
    stream = io.StringIO(newline="")
    LAYOUTS[source].write(batch, stream)
    data, ours = stream.getvalue().encode(), read_batch(batch)
    frame = (
        frame_from_csv(data, study=str(batch.survey))
        if source == "raw"
        else frame_from_responses(read_table(data), study=str(batch.survey))
    )
    columns = ["assignment_id", "worker", "item_id", "position", "answer", "gold", "model.justifies"]
    for mine, theirs in ((ours.responses, frame.responses), (ours.repeats, frame.repeats)):
        assert mine[columns].fillna("").to_dict("records") == theirs[columns].fillna("").to_dict("records")
    mine, theirs = (make_report(one).as_data() for one in (ours, frame))
    keys = ("counts", "agreement", "selections", "comparison", "choices", "systems")
    assert {key: mine[key] for key in keys} == {key: theirs[key] for key in keys}
    assert mine["agreement"]["model"]["justifies"]["within"]["repeats"] == 15
