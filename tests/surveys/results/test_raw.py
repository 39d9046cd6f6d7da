import csv
import io
from datetime import timedelta

import pytest
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import Batch, Item, Rating
from surveys.results.files import raw
from surveys.results.files.input_sheet import _widened
from surveys.results.files.layouts import LAYOUTS
from surveys.results.files.pairs import LayoutError
from surveys.results.files.raw import Rate, approval_rates, count_raw, raw_lines
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch
from surveys.results.frames.mturk_csv import frame_from_csv
from surveys.results.frames.pseudonyms import Pseudonyms
from tests.factories import make_batch, make_hit, make_item, make_questionnaire, make_survey, submitted

pytestmark = pytest.mark.django_db

# Ours differ: another batch number, and the worker's record with us instead of with the authors.
OURS = ("RequesterAnnotation", "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate")


def written(batch, **options):
    stream = io.StringIO(newline="")
    stream.writelines(raw_lines(batch, **options))
    return stream.getvalue()


def lines_by_assignment(text):
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    place = header.index("AssignmentId")
    skipped = {header.index(name) for name in OURS}
    cells = {row[place]: [c for n, c in enumerate(row) if n not in skipped] for row in rows}
    return header, cells


def test_a_published_file_comes_out_as_it_went_in(study, published_file):
    published = published_file.read_bytes().decode()

    assert lines_by_assignment(written(study, worker_ids=True)) == lines_by_assignment(published)


def test_pseudonyms_stand_for_worker_ids_unless_they_are_asked_for(study):
    header, *rows = csv.reader(io.StringIO(written(study), newline=""))
    _, *asked_for = csv.reader(io.StringIO(written(study, worker_ids=True), newline=""))
    place = header.index("WorkerId")
    names = Pseudonyms()
    assert [row[place] for row in rows] == [f"pseudonym:{names(row[place])}" for row in asked_for]
    assert [row[:place] + row[place + 1 :] for row in rows] == [
        row[:place] + row[place + 1 :] for row in asked_for
    ]


def test_read_again_it_has_the_pseudonyms_of_the_database(study):
    frame = frame_from_csv(written(study).encode(), study="s")
    assert set(frame.responses["worker"]) == set(read_batch(study).responses["worker"])


def test_what_a_worker_typed_about_themselves_goes_with_their_name(study):
    assignment = Assignment.objects.select_related("worker").first()
    worker = assignment.worker.worker_id
    Assignment.objects.filter(pk=assignment.pk).update(comment=f"Mail me: {worker}")
    assert worker not in written(study)
    assert f"Mail me: pseudonym:{Pseudonyms()(worker)}" in written(study)
    assert f"Mail me: {worker}" in written(study, worker_ids=True)


def test_the_bytes_are_those_of_mturk(study):
    text = written(study)
    header, *rows = text.split("\r\n")
    cells = list(csv.reader(io.StringIO(text, newline="")))

    assert len(rows) == 123
    assert not text.endswith("\n")
    assert header.endswith('"Answer.taskAnswers","Approve","Reject"')
    assert all(line.startswith('"') and line.endswith('"') for line in rows)
    assert {len(cells[0]) - len(row) for row in cells[1:]} == {2}


def test_read_again_it_gives_the_scores_of_the_database(study):
    again = frame_from_csv(written(study).encode(), study=str(study.survey), system="ofa-x")

    assert make_report(again).as_data() == make_report(read_batch(study)).as_data()


def test_blank_ratings_stay_blank(batch):
    Rating.objects.filter(response__batch=batch, criterion__in=["justifies", "preference"]).delete()

    again = frame_from_csv(written(batch).encode(), study="s", system="ofa-x").responses

    assert again["ofa-x.justifies"].isna().all()
    assert again["ofa-x.preference"].isna().all()


def test_items_that_came_in_the_long_layout_get_the_columns_of_ofax(batch):
    before = make_report(read_batch(batch)).as_data()
    for item in Item.objects.filter(survey=batch.survey):
        item.payload = {
            "question": item.payload["columns"]["statement"],
            "header": [],
            "columns": {},
            "row": {},
        }
        item.save()

    text = written(batch)

    header = next(csv.reader(io.StringIO(text)))
    assert [name for name in header if name.startswith("Input.") and name.endswith("_0")] == [
        "Input.id_0",
        "Input.statement_0",
        "Input.answer_0",
        "Input.output_answer_0",
        "Input.output_explanation_0",
        "Input.explanation_0",
        "Input.other_answer1_0",
        "Input.other_answer2_0",
        "Input.img_name_0",
    ]
    again = frame_from_csv(text.encode(), study=str(batch.survey), system="ofa-x")
    assert make_report(again).as_data() == before


def test_a_cell_with_spaces_around_is_written_as_it_was_and_still_matches(batch):
    item = Item.objects.filter(survey=batch.survey).order_by("position").first()
    item.payload["columns"]["answer"] = f" {item.gold} "
    item.save()

    again = frame_from_csv(written(batch).encode(), study=str(batch.survey), system="ofa-x")

    assert make_report(again).as_data() == make_report(read_batch(batch)).as_data()


def test_formulas_are_left_as_they_are(batch):
    Assignment.objects.filter(hit__questionnaire__batch=batch).update(comment="=1+1")

    assert '""feedback"":""=1+1""' in written(batch)


def test_times_are_pacific(batch):
    first = Assignment.objects.filter(hit__questionnaire__batch=batch).order_by("pk").first()
    _, cells = lines_by_assignment(written(batch))

    assert "Thu Nov 10 18:10:15 PST 2022" in cells[first.assignment_id]
    Assignment.objects.filter(pk=first.pk).update(accepted_at="2022-07-01T12:00:00Z")
    assert '"Fri Jul 01 05:00:00 PDT 2022"' in written(batch)


def test_a_batch_without_pairs_has_no_raw_file(batch):
    empty = Batch.objects.create(
        survey=batch.survey,
        name="empty",
        title="t",
        description="d",
        reward=1,
        auto_approval_delay=batch.lifetime,
    )

    with pytest.raises(LayoutError):
        raw_lines(empty)


@pytest.mark.parametrize(("n_parts", "n_queries"), [(1, 19), (2, 28), (3, 37)])
def test_queries_grow_by_a_few_with_what_is_held_at_once(
    batch, django_assert_num_queries, monkeypatch, n_parts, n_queries
):
    """Not with its assignments or items."""
    monkeypatch.setattr(raw, "AT_ONCE", -(-count_raw(batch) // n_parts))
    batch = Batch.objects.select_related("survey").get(pk=batch.pk)

    with django_assert_num_queries(n_queries):
        LAYOUTS["raw"].write(batch, io.StringIO())


def test_the_header_has_a_column_for_the_most_wrong_answers_of_items_of_ours():
    """Where the first of them that came without a file has fewer, and one that came with a file has as many."""
    survey = make_survey()
    of_a_file = {"header": ["id_0", "answer_0"], "columns": {"id": "x", "answer": "yes"}}
    items = [
        make_item(survey, position=1, payload=of_a_file),
        make_item(survey, position=2, choices=("no", "yes")),
        make_item(survey, position=3),
    ]
    questionnaire = make_questionnaire(make_batch(survey), items=items, hit=make_hit())
    submitted(questionnaire)
    header, row = csv.reader(io.StringIO(written(questionnaire.batch), newline=""))
    cells = dict(zip(header, row, strict=False))
    names = ["other_answer1_1", "other_answer1_2", "other_answer2_1", "other_answer2_2"]
    assert [cells[f"Input.{name}"] for name in names] == ["no", "maybe", "", "no"]


@pytest.mark.parametrize("at_once", [1, 7])
def test_how_much_is_held_at_once_changes_no_byte(study, monkeypatch, at_once):
    expected = written(study)
    monkeypatch.setattr(raw, "AT_ONCE", at_once)
    assert written(study) == expected


def test_the_header_is_there_before_anything_else_is_read(batch, django_assert_max_num_queries):
    with django_assert_max_num_queries(8):
        header = next(raw.raw_lines(batch))
    assert header == written(batch).partition("\r\n")[0]


def test_rows_are_counted_without_writing_them(study):
    assert count_raw(study) == len(list(csv.reader(io.StringIO(written(study), newline="")))) - 1


@pytest.mark.parametrize(
    ("rate", "text"), [(Rate(109, 119), "92% (109/119)"), (Rate(0, 0), "0% (0/0)"), (Rate(1, 8), "13% (1/8)")]
)
def test_rates_are_printed_as_mturk_does(rate, text):
    assert str(rate) == text


def test_rates_look_back_seven_and_thirty_days(batch):
    worker = Assignment.objects.filter(status="Approved").order_by("pk").first().worker
    mine = Assignment.objects.filter(worker=worker)
    total, rejected = mine.exclude(status="Submitted").count(), mine.filter(status="Rejected").count()
    recent = mine.filter(status="Approved").order_by("pk").first()
    Assignment.objects.filter(pk=recent.pk).update(approved_at=timezone.now() - timedelta(days=10))

    rates = approval_rates("embedded")[worker.worker_id]

    assert rates.lifetime == Rate(total - rejected, total)
    assert rates.last_30_days == Rate(1, 1)
    assert rates.last_7_days == Rate(0, 0)


@pytest.mark.parametrize(
    ("n", "names"),
    [
        (2, ["index", "index_0", "index_1", "id_0", "id_1"]),
        (3, ["index", "index_0", "index_1", "index_2", "id_0", "id_1", "id_2"]),
        (1, ["index", "index_0", "id_0"]),
    ],
)
def test_a_header_follows_the_length_of_the_hits(n, names):
    assert _widened(("index", "index_0", "index_1", "id_0", "id_1"), n=n) == names
