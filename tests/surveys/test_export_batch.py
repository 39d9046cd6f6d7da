import pytest
from django.core.management import CommandError, call_command

from surveys.definitions import get_definition
from tests.factories import make_batch, make_hit, make_item, make_questionnaire, make_survey, submitted
from tests.surveys.published import load_published

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


def test_only_the_raw_file_names_workers(batch, tmp_path):
    call_command("export_batch", batch.name, out=tmp_path)

    worker = batch.responses.first().worker.worker_id
    assert [path.name for path in tmp_path.iterdir() if worker in path.read_text()] == ["raw.csv"]


def test_a_batch_that_is_not_there(tmp_path):
    with pytest.raises(CommandError) as caught:
        call_command("export_batch", "nowhere", out=tmp_path)

    assert str(caught.value) == "There is no batch 'nowhere'."
