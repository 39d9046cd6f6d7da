"""A large import is confirmed in a moment; the worker writes it once, and whoever confirmed is told."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from surveys import sync
from surveys.models import Importing, Item, Note, Survey
from surveys.studies.importing import later, uploads
from tests.surveys.pages.pages import enqueued
from tests.surveys.pages.study.import_pages import TWO, preview_of, researcher, seen, staged
from tests.surveys.studies.importing_cases import batch_csv, slot

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folders(settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"
    monkeypatch.setattr(later, "LARGE_FILE", 10)
    monkeypatch.setattr("surveys.sync.make_smaller_pictures.delay", lambda: None)
    return tmp_path


def confirmed(client: Client, items: bytes = batch_csv([slot(1), slot(2)]), **options: object) -> Importing:
    client.post(seen(client, preview_of(client, items, **({"pictures": TWO} | options))))
    return Importing.objects.get()


def test_confirming_asks_the_worker_and_shows_how_far_it_is(django_capture_on_commit_callbacks) -> None:
    client = researcher()
    preview = seen(client, preview_of(client, batch_csv([slot(1), slot(2)]), pictures=TWO))
    with django_capture_on_commit_callbacks() as callbacks:
        answers = [client.post(preview) for _ in range(2)]
    asked = Importing.objects.get()
    job = reverse("import_job", args=[asked.pk])
    assert [answer["Location"] for answer in answers] == [job, job]
    assert enqueued(callbacks) == [("surveys.sync.import_items", (asked.pk,))] * 2
    assert (Survey.objects.count(), "You can leave this page" in client.get(job).text) == (0, True)
    assert client.get(f"{job}progress").json() == {"reports": [{"percent": 0}]}
    assert researcher("bob").get(job).status_code == 404


def test_the_worker_writes_it_once_and_tells(folders: Path) -> None:
    client = researcher()
    asked = confirmed(client)
    assert [later.run(asked.pk), later.run(asked.pk)] == [True, False]
    assert (Item.objects.count(), staged(folders)) == (2, [])
    assert Note.objects.get(about__startswith="import:").text == "Imported 2 items into My Study."
    job = reverse("import_job", args=[asked.pk])
    assert client.get(f"{job}progress").json() == {"reports": []}
    assert client.get(job)["Location"] in ("/import/", "/studies/my-study/", "/studies/my-study/launch/")
    assert Note.objects.filter(about__startswith="import:", seen_at=None).count() == 0


def test_a_worker_that_dies_leaves_nothing_and_another_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = confirmed(researcher())
    real = later._end
    monkeypatch.setattr(later, "_end", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        later.run(asked.pk)
    monkeypatch.setattr(later, "_end", real)
    assert (Survey.objects.count(), Item.objects.count(), later.run(asked.pk)) == (0, 0, False)
    Importing.objects.update(leased_until="2020-01-01T00:00Z")
    sync.import_items(asked.pk)
    assert (Item.objects.count(), Importing.objects.get().n_items) == (2, 2)


def test_two_workers_write_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that slept for longer than its turn wakes up when the other has written."""
    asked = confirmed(researcher())
    real = uploads.checked

    def slept(*args, **values):
        plan = real(*args, **values)
        monkeypatch.setattr(uploads, "checked", real)
        Importing.objects.update(leased_until="2020-01-01T00:00Z")
        monkeypatch.setattr(later, "discard", lambda staged: None)
        assert later.run(asked.pk) is True
        return plan

    monkeypatch.setattr(uploads, "checked", slept)
    later.run(asked.pk)
    assert (
        Survey.objects.count(),
        Item.objects.count(),
        Note.objects.filter(about__startswith="import:").count(),
    ) == (1, 2, 1)


def test_what_is_refused_is_said_and_nothing_written() -> None:
    client = researcher()
    asked = confirmed(client)
    Survey.objects.create(name="My Study", slug="my-study", definition_key="xai")
    later.run(asked.pk)
    asked.refresh_from_db()
    assert (asked.problem != "", Item.objects.count()) == (True, 0)
    assert Note.objects.get(about__startswith="import:").text.startswith("items.csv was not imported. ")
    assert "Nothing was imported:" in client.get(reverse("import_job", args=[asked.pk])).text


def test_an_upload_that_is_gone_is_said(folders: Path) -> None:
    asked = confirmed(researcher())
    for folder in (folders / "imports").glob("*"):
        folder.rename(folder.with_suffix(".gone"))
    later.run(asked.pk)
    assert Importing.objects.get().problem == later.GONE
