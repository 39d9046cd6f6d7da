"""A file of a large batch that needs all of it is prepared by the worker; what starts at once is sent as before."""

import io
import os
import time
from pathlib import Path

import pytest
from django.urls import reverse

from surveys import sync
from surveys.models import Batch, Note
from surveys.results.files import prepared
from surveys.results.files.layouts import LAYOUTS
from surveys.studies.kept_a_day import KEPT_SECONDS
from tests.factories import make_published, submitted
from tests.people import client_of
from tests.surveys.pages.study.import_pages import make_what_is_asked

pytestmark = pytest.mark.django_db
OF_ALL = {"legacy", "legacy_filtered", "summary", "table", "metrics", "correlations", "correlations_within"}


@pytest.fixture(autouse=True)
def data(settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(prepared, "LARGE", 4)
    return tmp_path


@pytest.fixture
def batch() -> Batch:
    questionnaire = make_published(name="Cats")
    submitted(questionnaire)
    return questionnaire.batch


def test_files_that_need_all_of_a_large_batch_take_long(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert batch.responses.count() == 5
    assert {name for name, layout in LAYOUTS.items() if prepared.takes_long(batch, layout)} == OF_ALL
    monkeypatch.setattr(prepared, "LARGE", 5)
    assert [name for name, layout in LAYOUTS.items() if prepared.takes_long(batch, layout)] == []


def test_a_file_that_takes_long_is_prepared_kept_and_told(batch: Batch, data: Path) -> None:
    client = client_of("Assistant")
    page, address = (reverse(n, args=[batch.pk, "summary"]) for n in ("prepared_file", "batch_download"))
    assert client.get(address)["Location"] == page
    waiting = client.get(page)
    assert ("a note tells you when it is ready" in waiting.text, waiting.context["is_ready"]) == (True, False)
    assert client.get(f"{page}progress").json()["reports"][0]["percent"] == 0
    assert (make_what_is_asked(), client.get(f"{page}progress").json()) == ([True], {"reports": []})
    note = Note.objects.get()
    assert (note.text, note.url) == ("summary.json of Cats is ready.", page)
    ready = client.get(page)
    assert (f'href="{address}" download' in ready.text, Note.objects.filter(seen_at=None).count()) == (
        True,
        0,
    )
    expected = io.StringIO(newline="")
    LAYOUTS["summary"].write(batch, expected)
    sent = client.get(address)
    assert b"".join(sent.streaming_content) == expected.getvalue().encode()
    assert sent["Content-Disposition"] == 'attachment; filename="cats-summary.json"'
    assert make_what_is_asked() == []


def test_what_has_changed_since_is_prepared_anew(batch: Batch) -> None:
    client, address = client_of("Assistant"), reverse("batch_download", args=[batch.pk, "summary"])
    client.get(address)
    make_what_is_asked()
    assert client.get(address).status_code == 200
    submitted(batch.questionnaires.get(), worker="ANOTHER")
    assert (client.get(address).status_code, make_what_is_asked()) == (302, [True])
    assert client.get(address).status_code == 200


def test_a_file_is_kept_for_a_day(batch: Batch, data: Path) -> None:
    client, address = client_of("Assistant"), reverse("batch_download", args=[batch.pk, "summary"])
    client.get(address)
    make_what_is_asked()
    (path,) = (data / "prepared").glob("*")
    sync.tidy()
    assert path.exists()
    yesterday = time.time() - KEPT_SECONDS - 60
    os.utime(path, (yesterday, yesterday))
    sync.tidy()
    assert (path.exists(), client.get(address).status_code, make_what_is_asked()) == (False, 302, [True])
    assert client.get(address).status_code == 200


def test_pages_of_files_lead_to_where_each_is(batch: Batch) -> None:
    client = client_of("Assistant")
    for page in (
        reverse("batch_files", args=[batch.pk]),
        reverse("study_files", args=[batch.survey.slug]),
    ):
        text = client.get(page).text
        assert f'href="{reverse("prepared_file", args=[batch.pk, "summary"])}"' in text
        assert f'href="{reverse("batch_download", args=[batch.pk, "tidy"])}" download' in text
        assert reverse("batch_download", args=[batch.pk, "summary"]) not in text


def test_what_starts_at_once_is_sent_at_once(batch: Batch) -> None:
    client = client_of("Assistant")
    assert client.get(reverse("batch_download", args=[batch.pk, "tidy"])).streaming
    page = client.get(reverse("prepared_file", args=[batch.pk, "tidy"]))
    assert page["Location"] == reverse("batch_download", args=[batch.pk, "tidy"])
    assert client.get(reverse("prepared_file", args=[batch.pk, "raw"])).status_code == 403
    assert client.get(reverse("prepared_file", args=[batch.pk, "none"])).status_code == 404
