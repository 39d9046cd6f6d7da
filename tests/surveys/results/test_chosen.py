"""A choice of answers: the same ones in the database and in a frame, and its own words in an address."""

from datetime import UTC, date, datetime

import pytest

from annotators.models import Assignment
from surveys.models import Batch, Inclusion
from surveys.results.chosen import Chosen, of_frame, read_chosen, responses
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch
from tests.factories import make_published, submitted
from tests.surveys.results.rated import Rated, rated_batch

CHOICES = [
    Chosen(),
    Chosen(rows="all"),
    Chosen(rows="filtered"),
    Chosen(stratum="true"),
    Chosen(rows="all", systems=("a", "b"), stratum="unknown"),
    Chosen(since=date(2026, 1, 2), until=date(2026, 1, 3), most=40),
]


@pytest.mark.parametrize("chosen", CHOICES)
def test_an_address_says_it_whole(chosen: Chosen) -> None:
    assert read_chosen(chosen.as_query()) == chosen


def test_what_is_usual_is_not_in_the_address() -> None:
    assert Chosen().as_query() == ""


def study() -> Batch:
    """x gives half of the kept answers; z's are rejected, and y's on s3 are left out."""
    rows = [
        *(Rated(f"s{n}", "a", "x", {"clarity": "5", "trust": "5"}) for n in range(4)),
        *(Rated(f"s{n}", "b", "y", {"clarity": "2", "trust": "5"}) for n in range(4)),
        Rated("s0", "a", "w", {"clarity": "1", "trust": "1"}),
        Rated("s1", "a", "z", {"clarity": "3", "trust": "3"}, status="Rejected"),
    ]
    batch = rated_batch(rows, model_correct={"s0/a": True, "s1/a": False, "s0/b": True})
    left_out = Assignment.objects.get(worker__worker_id="y", responses__item__subject="s3")
    Inclusion.objects.create(
        assignment=left_out, is_included=False, reason="No.", decided_at=left_out.submitted_at
    )
    days = Assignment.objects.filter(worker__worker_id="y")
    noon = datetime(2026, 1, 2, 12, tzinfo=UTC)
    days.update(accepted_at=noon, submitted_at=noon)
    return batch


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("chosen", "n"),
    [
        (Chosen(), 8),
        (Chosen(rows="all"), 10),
        (Chosen(systems=("a",)), 5),
        (Chosen(stratum="true"), 3),
        (Chosen(rows="all", stratum="false"), 2),
        (Chosen(stratum="unknown", systems=("b",)), 2),
        (Chosen(until=date(2026, 1, 2), since=date(2026, 1, 2)), 3),
        (Chosen(until=date(2026, 1, 1)), 0),
        (Chosen(most=50), 8),
        (Chosen(most=49), 4),
        (Chosen(most=10), 0),
    ],
)
def test_as_many_are_counted_as_are_listed(chosen: Chosen, n: int) -> None:
    batch = study()
    report = make_report(of_frame(read_batch(batch), chosen, batches=[batch]))
    assert (
        responses([batch], chosen).count(),
        report.summary.counts.responses,
        report.summary.kept.responses,
    ) == (n,) * 3


@pytest.mark.django_db
def test_of_pairs_right_answers_stay_and_the_reference_beside_its_model() -> None:
    questionnaire = make_published()
    submitted(questionnaire, n_correct=3)
    submitted(questionnaire, n_correct=5)
    batch, chosen = questionnaire.batch, Chosen(rows="filtered", systems=("model",))
    report = make_report(of_frame(read_batch(batch), chosen, batches=[batch]))
    assert responses([batch], chosen).count() == report.summary.kept.responses == 8
    assert list(report.systems.values()) == ["model", "reference"]


@pytest.mark.django_db
def test_a_chosen_part_has_the_numbers_of_a_study_of_that_part() -> None:
    batch = study()
    of_b = make_report(of_frame(read_batch(batch), Chosen(systems=("b",)), batches=[batch]))
    rows = [Rated(f"s{n}", "b", "y", {"clarity": "2", "trust": "5"}) for n in range(3)]
    alone = make_report(read_batch(rated_batch(rows)))
    assert of_b.summary.kept.system("b").criteria == alone.summary.kept.system("b").criteria
