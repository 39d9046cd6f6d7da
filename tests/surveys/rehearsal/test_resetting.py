"""The demo is put back to its beginning only where there is nothing else."""

import pytest
from django.contrib.auth import get_user_model

from surveys.models import Batch
from surveys.rehearsal import resetting
from surveys.rehearsal.demo_studies import STUDIES, demo_batch, demo_survey
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(settings, tmp_path, monkeypatch):
    """A data folder with the files of a demo; the test's database is taken for its own."""
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"
    monkeypatch.setattr(resetting, "_check_places", lambda: None)
    monkeypatch.setattr(resetting.connection, "close", lambda: None)
    for name in ("db.sqlite3", "media/picture", "secret_key", "researcher-password"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    return tmp_path


def test_the_demo_alone_is_deleted_and_its_passwords_stay(folder):
    demo_batch(STUDIES[2], survey=demo_survey(STUDIES[2]))
    get_user_model().objects.create_user("researcher")
    assert resetting.reset(accounts={"researcher"}) is True
    assert sorted(path.name for path in folder.iterdir()) == [
        "demo.lock",
        "researcher-password",
        "secret_key",
    ]
    assert resetting.reset(accounts={"researcher"}) is False


def test_whatever_else_is_there_keeps_everything(folder):
    batch = demo_batch(STUDIES[0], survey=demo_survey(STUDIES[0]))
    Batch.objects.filter(pk=batch.pk).update(endpoint="sandbox")
    factories.make_survey(slug="mine", name="Mine")
    get_user_model().objects.create_user("somebody")
    with pytest.raises(resetting.NotOnlyDemo) as refused:
        resetting.reset(accounts={"researcher"})
    assert str(refused.value) == (
        "Nothing was deleted, as there is more than the demo here: the study Mine; Demo batch, published on MTurk; "
        "the account somebody."
    )
    assert (folder / "db.sqlite3").exists()


def test_a_running_demo_is_not_pulled_from_under_its_feet(folder):
    with resetting.running(), pytest.raises(resetting.NotOnlyDemo, match="The demo runs"):
        resetting.reset(accounts=set())


def test_a_database_server_is_never_the_demos(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    with pytest.raises(resetting.NotOnlyDemo, match="elsewhere"):
        resetting.reset(accounts=set())
