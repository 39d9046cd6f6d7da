"""The two doors, on the same answers."""

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from surveys.models import Batch, Response
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch
from surveys.results.frames.mturk_csv import read_mturk_csv
from surveys.results.frames.pseudonyms import Pseudonyms
from tests.factories import make_item

pytestmark = pytest.mark.django_db

NOT_IN_THE_FILE = ("batch", "active_seconds", "ofa-x.shown_position", "ground_truth.shown_position")


def in_order(table):
    ordered = table.sort_values(["assignment_id", "position"]).reset_index(drop=True)
    return ordered[sorted(ordered.columns)].drop(columns=[c for c in NOT_IN_THE_FILE if c in ordered])


def test_both_doors_give_the_same_frame(study, published_file):
    pseudonyms = Pseudonyms("key")
    file = read_mturk_csv(published_file, system="ofa-x", pseudonyms=pseudonyms)
    database = read_batch(study, pseudonyms=pseudonyms)

    # Decisions are rows of their own here, and the published ones were not loaded; no file of MTurk knows surplus work.
    assert_frame_equal(
        in_order(database.responses).drop(columns=["decision", "surplus"]),
        in_order(file.responses).drop(columns=["decision", "surplus"]),
    )
    assert database.systems == file.systems


def test_both_doors_give_the_same_numbers(study, published_file):
    file = make_report(read_mturk_csv(published_file, system="ofa-x")).as_data()

    assert make_report(read_batch(study)).as_data() == file


def test_a_drawn_design_is_in_the_report(study):
    assert "design" not in make_report(read_batch(study)).as_data()
    study.design = {"version": 1, "drawn": False, "seed": 7, "hits": 60}
    design = make_report(read_batch(study)).as_data()["design"]
    assert design.startswith(
        "HITs as the file has them: all items show the same systems. Seed 7. Each person sees"
    )
    assert design.endswith(f"do it. {' '.join(study.definition.changes)}")


def test_what_only_the_database_knows(batch):
    rows = read_batch(batch).responses

    assert rows["ofa-x.shown_position"].unique().tolist() == [2]
    assert rows["ground_truth.shown_position"].unique().tolist() == [1]
    assert rows["active_seconds"].unique().tolist() == [30.0]


def test_queries_do_not_grow_with_the_batch(batch, django_assert_num_queries):
    batch = Batch.objects.select_related("survey").get(pk=batch.pk)

    with django_assert_num_queries(7):
        read_batch(batch)


def test_an_empty_batch_has_a_report(batch):
    empty = Batch.objects.create(
        survey=batch.survey,
        name="empty",
        title="t",
        description="d",
        reward=1,
        auto_approval_delay=batch.lifetime,
    )

    frame = read_batch(empty)

    assert frame.responses.empty
    assert frame.tidy().empty
    assert make_report(frame).as_data()["counts"]["assignments"] == 0


def test_work_the_marketplace_does_not_have_yet_is_left_out(batch):
    first = Response.objects.filter(batch=batch).order_by("pk").first()
    assignment = first.assignment
    assignment.status = "Accepted"
    assignment.save()

    assert assignment.assignment_id not in set(read_batch(batch).responses["assignment_id"])


def test_a_skip_is_kept_apart_from_the_scores(batch):
    kept = Response.objects.filter(batch=batch, assignment__status="Submitted").order_by("pk").first()
    before = make_report(read_batch(batch)).as_data()["selections"]["kept"]["responses"]
    Response.objects.filter(pk=kept.pk).update(skip_reason="picture missing")

    report = make_report(read_batch(batch)).as_data()

    assert report["counts"]["skipped"] == 1
    assert report["selections"]["kept"]["responses"] == before - 1


def test_an_item_without_gold_is_not_graded(batch):
    response = Response.objects.filter(batch=batch).order_by("pk").first()
    response.item.gold = ""
    response.item.save()

    rows = read_batch(batch).responses

    assert rows.loc[rows["item_id"] == response.item.external_id, "answer_correct"].isna().all()
    assert rows["answer_correct"].notna().any()


def test_items_of_other_batches_are_not_read(batch):
    make_item(batch.survey, position=900, systems=("stranger", "ground_truth"))

    assert read_batch(batch).systems == ("ofa-x", "ground_truth")


def test_types_are_those_of_the_file(study, published_file):
    file = read_mturk_csv(published_file, system="ofa-x").responses
    database = read_batch(study).responses

    assert isinstance(database, pd.DataFrame)
    assert database.dtypes.sort_index().to_dict() == file.dtypes.sort_index().to_dict()
