import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError

from surveys.models import AuditEntry
from surveys.protocols.registry import get_definition
from tests.factories import make_batch, make_hit, make_item, make_questionnaire, make_survey, submitted
from tests.surveys.results.published import load_published

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch(published_file):
    return load_published(published_file, definition=get_definition("evil-esnlive"), n=2)


def test_every_layout_by_default(batch, tmp_path):
    call_command("export_batch", batch.name, out=tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "legacy_processed.csv",
        "legacy_processed_filtered.csv",
        "processed.csv",
        "processed_filtered.csv",
        "raw.csv",
        "summary.json",
        "table.csv",
        "tidy.csv",
    ]


def test_two_models_without_a_ground_truth_have_every_layout_but_the_published_ones(tmp_path):
    survey = make_survey()
    item = make_item(survey, systems=("one", "other"))
    batch = make_batch(survey)
    submitted(make_questionnaire(batch, items=[item], hit=make_hit()), n_correct=1)
    call_command("export_batch", batch.name, out=tmp_path)

    names = [
        "processed.csv",
        "processed_filtered.csv",
        "responses.csv",
        "summary.json",
        "table.csv",
        "tidy.csv",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_a_batch_by_number_and_one_layout(batch, tmp_path):
    call_command("export_batch", str(batch.pk), out=tmp_path, layout=["tidy"])

    assert [path.name for path in tmp_path.iterdir()] == ["tidy.csv"]


def naming(batch, folder):
    worker = batch.responses.first().worker.worker_id
    return [path.name for path in folder.iterdir() if worker in path.read_text()]


def test_no_file_names_workers_unless_asked(batch, tmp_path):
    call_command("export_batch", batch.name, out=tmp_path)

    assert naming(batch, tmp_path) == []
    assert AuditEntry.objects.count() == 0


def test_who_asks_for_worker_ids_is_on_record(batch, tmp_path, monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "carla")
    call_command("export_batch", batch.name, out=tmp_path, worker_ids=True, reason="A bonus.")

    assert naming(batch, tmp_path) == ["raw.csv"]
    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.outcome, entry.batch, entry.actor) == ("download", "raw", batch, None)
    assert (entry.reason, entry.details) == (
        "A bonus.",
        {"file": "raw.csv", "rows": 2, "account": "carla"},
    )


@pytest.mark.parametrize("reason", ["", "  "])
def test_nobody_gets_worker_ids_without_a_reason(batch, tmp_path, reason):
    with pytest.raises(CommandError, match="--worker-ids needs --reason"):
        call_command("export_batch", batch.name, out=tmp_path, worker_ids=True, reason=reason)

    assert (list(tmp_path.iterdir()), AuditEntry.objects.count()) == ([], 0)


def test_asking_for_ids_where_no_file_has_any_is_nothing_to_record(batch, tmp_path):
    call_command("export_batch", batch.name, out=tmp_path, layout=["tidy"], worker_ids=True, reason="None.")

    assert AuditEntry.objects.count() == 0


def test_what_cant_be_recorded_is_not_written(batch, tmp_path, monkeypatch):
    def fails(*args, **kwargs):
        raise DatabaseError

    monkeypatch.setattr("surveys.audit.record", fails)
    with pytest.raises(DatabaseError):
        call_command("export_batch", batch.name, out=tmp_path, worker_ids=True, reason="A bonus.")

    assert list(tmp_path.iterdir()) == []


def test_a_batch_that_is_not_there(tmp_path):
    with pytest.raises(CommandError) as caught:
        call_command("export_batch", "nowhere", out=tmp_path)

    assert str(caught.value) == "There is no batch 'nowhere'."
