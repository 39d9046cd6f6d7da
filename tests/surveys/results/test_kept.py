"""A report is made once for each state of its data, by a worker, and stays until the next one is there."""

import json
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotators.models import Assignment
from surveys import sync
from surveys.models import Batch, KeptReport
from surveys.results import kept, reports
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch, read_scores
from surveys.results.statistics.metrics import summarise_metrics
from tests.factories import make_published, submitted
from tests.protocols import VQAX
from tests.surveys.results.published import load_published
from tests.surveys.results.rated import Rated, rated_batch


def batch_of(*, n: int = 2) -> Batch:
    questionnaire = make_published()
    for _ in range(n):
        submitted(questionnaire)
    return Batch.objects.get(pk=questionnaire.batch_id)


def asked(batch: Batch) -> KeptReport:
    """Ask for the report of a batch as it is now."""
    key, version = kept.report_key(batch), kept.report_version(batch)
    reports.kept(key, version=version)
    kept.ask(key, version=version)
    return KeptReport.objects.get(key=key)


def look(batch: Batch) -> reports.Kept:
    return reports.kept(kept.report_key(batch), version=kept.report_version(batch))


@pytest.mark.django_db
def test_what_is_kept_is_the_report_to_the_bit(shared: Path) -> None:
    batch = load_published(shared / "data/ofax/vqax_results_raw.csv", definition=VQAX, n=100)
    assert reports.make(asked(batch).pk) is True
    found, expected = look(batch), make_report(read_batch(batch))
    assert (found.is_current, found.percent, found.error) == (True, 0, "")
    assert found.value == expected
    assert json.dumps(found.value.as_data()) == json.dumps(expected.as_data())


@pytest.mark.django_db
def test_metrics_and_several_batches_are_kept_alike() -> None:
    rows = [Rated(s, "cst", w, {"clarity": "4", "trust": "3"}) for s in "ab" for w in "xy"]
    batches = [rated_batch(rows, name=name) for name in ("one", "two")]
    keys = {
        kept.metrics_key(batches[0]): summarise_metrics(read_batch(batches[0]), read_scores(batches[:1])),
        kept.across_key(batches): reports.compare_studies(
            [reports.Study(b.name, read_batch(b)) for b in batches]
        ),
    }
    for key, expected in keys.items():
        reports.kept(key, version="1")
        kept.ask(key, version="1")
        assert reports.make(KeptReport.objects.get(key=key).pk)
        assert reports.kept(key, version="1").value == expected


@pytest.mark.django_db
def test_an_old_report_stays_until_the_new_one_is_there() -> None:
    batch = batch_of()
    reports.make(asked(batch).pk)
    before = look(batch)
    submitted(batch.questionnaires.get())
    after = look(batch)
    assert (after.is_current, after.made_at, after.value) == (False, before.made_at, before.value)
    assert reports.make(asked(batch).pk)
    assert look(batch).is_current
    assert look(batch).value.summary.counts.assignments == 3


@pytest.mark.django_db
def test_two_who_ask_make_one_job_and_the_task_twice_makes_one_report() -> None:
    batch = batch_of()
    key, version = kept.report_key(batch), kept.report_version(batch)
    reports.kept(key, version=version)
    assert [kept.ask(key, version=version) for _ in range(3)] == [True, False, False]
    pk = KeptReport.objects.get(key=key).pk
    assert [reports.make(pk), reports.make(pk)] == [True, False]


@pytest.mark.django_db
def test_while_one_worker_is_at_it_another_leaves_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    row, seen = asked(batch_of()), []
    monkeypatch.setattr(reports, "reach", lambda name: seen.append((name, reports.make(row.pk))))
    assert reports.make(row.pk)
    assert seen == [("report.begun", False), ("report.made", False)]


@pytest.mark.django_db
@pytest.mark.parametrize("at", ["report.begun", "report.made"])
def test_a_worker_that_dies_leaves_the_old_one_and_another_repeats_it(
    monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    batch = batch_of()
    reports.make(asked(batch).pk)
    before = look(batch).value
    submitted(batch.questionnaires.get())
    row = asked(batch)

    def die(name: str) -> None:
        if name == at:
            raise KeyboardInterrupt

    monkeypatch.setattr(reports, "reach", die)
    with pytest.raises(KeyboardInterrupt):
        reports.make(row.pk)
    monkeypatch.undo()
    assert look(batch).value == before
    assert (kept.due(), reports.make(row.pk)) == ([], False)
    past = timezone.now() - kept.LEASE - timedelta(seconds=1)
    KeptReport.objects.filter(pk=row.pk).update(begun_at=past, asked_at=past)
    assert kept.due() == [row.pk]
    assert reports.make(row.pk)
    assert look(batch).value.summary.counts.assignments == 3


@pytest.mark.django_db
def test_who_lost_the_lease_does_not_write_over_what_came_after(monkeypatch: pytest.MonkeyPatch) -> None:
    row = asked(batch_of())

    def overtake(name: str) -> None:
        if name == "report.made":
            monkeypatch.undo()
            KeptReport.objects.filter(pk=row.pk).update(begun_at=timezone.now() - kept.LEASE * 2)
            assert reports.make(row.pk)

    monkeypatch.setattr(reports, "reach", overtake)
    assert reports.make(row.pk) is False


@pytest.mark.django_db(transaction=True)
def test_who_computes_long_and_says_nothing_keeps_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    row, others = asked(batch_of()), list[bool]()
    monkeypatch.setattr(reports, "HEARD", timedelta(seconds=0.05))

    def compute(about: str, tell: Callable[[int], object]) -> tuple[str, int]:
        tell(40)
        long_ago = KeptReport.objects.get(pk=row.pk).begun_at
        for _ in range(600):
            if heard := KeptReport.objects.filter(pk=row.pk, begun_at__gt=long_ago + timedelta(seconds=0.2)):
                others.append(heard.get().percent == 40 and reports.make(row.pk))
                break
            time.sleep(0.05)
        return "1", 7

    monkeypatch.setitem(reports.MAKERS, "report", compute)
    assert (reports.make(row.pk), others) == (True, [False])
    row.refresh_from_db()
    assert (row.version, row.content, row.begun_at, row.percent) == ("1", "7", None, 0)


@pytest.mark.django_db
def test_what_can_not_be_made_says_why_and_is_tried_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = batch_of()
    row = asked(batch)

    def fail(*args: object) -> None:
        raise ValueError("no room")

    monkeypatch.setitem(reports.MAKERS, "report", fail)
    with pytest.raises(ValueError, match="no room"):
        reports.make(row.pk)
    assert (look(batch).error, look(batch).value) == ("no room", None)
    monkeypatch.undo()
    past = timezone.now() - kept.LEASE * 2
    KeptReport.objects.update(begun_at=past, asked_at=past)
    assert kept.due() == [row.pk]
    assert reports.make(row.pk)
    assert look(batch).error == ""


@pytest.mark.django_db
def test_what_another_release_kept_in_another_form_counts_as_nothing() -> None:
    batch = batch_of()
    reports.make(asked(batch).pk)
    KeptReport.objects.update(content='{"study": 3}')
    found = look(batch)
    assert (found.value, found.made_at, found.is_current) == (None, None, False)


@pytest.mark.django_db
def test_an_open_batch_is_refreshed_in_the_background_after_a_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    batch, sent = batch_of(), []
    monkeypatch.setattr(sync.make_report, "delay", sent.append)
    long_ago = timezone.now() - timedelta(hours=1)

    def swept() -> list[int]:
        kept.due()
        KeptReport.objects.exclude(asked_version="").update(asked_at=long_ago)
        return kept.due()

    (pk,) = swept()
    assert reports.make(pk)
    submitted(batch.questionnaires.get())
    assert swept() == []
    KeptReport.objects.update(made_at=long_ago)
    assert swept() == [pk]
    assert reports.make(pk)
    KeptReport.objects.update(made_at=long_ago)
    assert swept() == []
    Batch.objects.update(status=Batch.Status.STOPPED)
    submitted(batch.questionnaires.get())
    assert swept() == []


@pytest.mark.django_db
def test_every_change_of_the_data_is_another_version() -> None:
    batch = batch_of()
    versions = [kept.report_version(batch)]
    first = Assignment.objects.order_by("pk")[0]
    for change in ({"saved_at": timezone.now()}, {"status": "Rejected", "rejected_at": timezone.now()}):
        Assignment.objects.filter(pk=first.pk).update(**change)
        versions.append(kept.report_version(batch))
    submitted(batch.questionnaires.get())
    versions.append(kept.report_version(batch))
    assert len(set(versions)) == 4
    assert kept.report_version(batch) == versions[-1]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("values", "constraint"),
    [
        ({"made_at": timezone.now()}, "made_report_has_content"),
        ({"content": "{}"}, "made_report_has_content"),
        ({"begun_at": timezone.now()}, "only_what_is_asked_is_begun"),
        ({"asked_version": "1"}, "only_what_is_asked_is_begun"),
        ({"percent": 101}, "report_percent_at_most_100"),
    ],
)
def test_the_database_keeps_a_report_whole(values: dict, constraint: str) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        KeptReport.objects.create(key="report:1", **values)


@pytest.mark.django_db(transaction=True)
def test_many_who_ask_at_once_make_one_job() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite lets one writer in at a time")
    batch, results = batch_of(), []
    key, version = kept.report_key(batch), kept.report_version(batch)
    start = threading.Barrier(4)

    def request() -> None:
        start.wait()
        reports.kept(key, version=version)
        results.append(kept.ask(key, version=version))
        connection.close()

    threads = [threading.Thread(target=request) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False, False, False, True]
