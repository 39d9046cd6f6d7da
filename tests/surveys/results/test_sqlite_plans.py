"""On SQLite, which plans without statistics: what is written part by part, and counts of a batch, read no more."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from surveys.models import Batch
from surveys.results.files import raw
from surveys.results.frames import database
from surveys.review.progress import with_counts
from tests.factories import make_published, submitted

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        connection.vendor != "sqlite", reason="plans of SQLite; PostgreSQL's are in tests/marketplace/api"
    ),
]
BY_BATCH = re.compile(
    r"(?:surveys_response|surveys_questionnaire|U\d) USING \S+ \S+ \((?:batch_id|worker_id)="
)


@pytest.fixture
def batch(db: None) -> Batch:
    questionnaire = make_published()
    for n in range(3):
        submitted(questionnaire, worker=f"AWORKER{n}", n_correct=5)
    return questionnaire.batch


def plan(sql: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}".replace("%", "%%"))
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


def test_a_part_is_read_by_its_assignments(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PART", 1)
    parts = database.read_parts(batch)
    next(parts)
    with CaptureQueriesContext(connection) as captured:
        next(parts)
    plans = [plan(row["sql"]) for row in captured]
    assert len(plans) >= 4
    assert [found for found in plans if BY_BATCH.search(found)] == []


def test_a_raw_file_reads_no_other_work_of_its_workers(batch: Batch) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert len(list(raw.raw_lines(batch))) > 1
    responses = [plan(row["sql"]) for row in captured if 'FROM "surveys_response"' in row["sql"]]
    assert responses
    assert [found for found in responses if "(worker_id=" in found] == []


def test_batches_are_counted_from_their_questionnaires(batch: Batch) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert with_counts(Batch.objects.all()).get().n_undecided == 3
    (counted,) = (plan(row["sql"]) for row in captured)
    assert "CORRELATED LIST SUBQUERY" not in counted
