"""Pictures that come from an address are fetched by the worker; pages wait, and can be left."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from surveys import sync
from surveys.models import Importing, Item, KeptReport, Note, Picture, Survey
from surveys.results import reports
from surveys.studies.importing.pictures import PictureError
from tests.surveys.pages.study.import_pages import (
    make_what_is_asked,
    preview_of,
    researcher,
    said,
    seen,
    staged,
    upload,
)
from tests.surveys.studies.importing_cases import batch_csv, long_csv, png, slot, xai_row

pytestmark = pytest.mark.django_db
PLACE = "https://93.184.215.14/pics"


@pytest.fixture(autouse=True)
def folders(settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"
    monkeypatch.setattr("surveys.sync.make_smaller_pictures.delay", lambda: None)
    return tmp_path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that were fetched, of which one answers with an error and one with nothing."""
    found: list[str] = []

    def fetch(url: str, *, kind: str, until: float) -> bytes | None:
        found.append(url.removeprefix(PLACE))
        if url.endswith("9.png"):
            raise PictureError("The server answers with status 500.")
        return None if url.endswith("8.png") else png()

    monkeypatch.setattr("surveys.studies.importing.fetching.fetch", fetch)
    return found


def test_pictures_of_an_address_are_fetched_by_the_worker_and_whoever_left_is_told(asked: list[str]) -> None:
    client = researcher()
    url = preview_of(client, batch_csv([slot(1), slot(2)]), address=PLACE)
    page = client.get(url)
    assert ("its pictures are being fetched" in page.text, "Confirm" in page.text) == (True, False)
    assert client.get(f"{url}progress").json()["reports"][0]["percent"] == 0
    assert (client.post(url).status_code, asked, Item.objects.count()) == (200, [], 0)
    assert make_what_is_asked() == [True]
    assert (sorted(asked), client.get(f"{url}progress").json()) == (["/1.png", "/2.png"], {"reports": []})
    note = Note.objects.get()
    assert (note.text, note.url) == ("items.csv can be looked at and imported.", url)
    assert client.get(url).context["plan"].n_pictures == 2
    assert Note.objects.filter(seen_at=None).count() == 0
    client.post(url)
    assert (Item.objects.count(), Picture.objects.exclude(file="").count(), len(asked)) == (2, 2, 2)


def test_a_picture_that_cannot_be_fetched_is_an_error_of_its_row(asked: list[str]) -> None:
    client = researcher()
    url = seen(client, preview_of(client, batch_csv([slot(9)]), address=PLACE))
    assert [problem.message for problem in client.get(url).context["plan"].errors] == [
        'The picture "9.png": The server answers with status 500.'
    ]


def test_other_columns_are_looked_at_anew(asked: list[str]) -> None:
    client = researcher()
    rows = [xai_row("a", image="1.png", other="2.png")]
    url = seen(client, preview_of(client, long_csv(rows), address=PLACE, definition_key="xai"))
    page = client.get(url).context["columns_address"]
    roles = ["item_id", "", "question", "explanation", "system", "image"]
    answer = client.post(page, {f"column-{n}": role for n, role in enumerate(roles)})
    seen(client, answer["Location"])
    assert asked == ["/1.png", "/2.png"]


def test_a_large_file_is_looked_at_and_imported_by_the_worker(
    monkeypatch: pytest.MonkeyPatch, asked: list[str]
) -> None:
    client = researcher()
    url = seen(client, preview_of(client, batch_csv([slot(1)]), address=PLACE))
    monkeypatch.setattr("surveys.studies.importing.later.LARGE_FILE", 10)
    client.post(url)
    sync.import_items(Importing.objects.get().pk)
    assert Item.objects.count() == 1


def test_a_look_belongs_to_who_uploaded_it(asked: list[str]) -> None:
    url = preview_of(researcher(), batch_csv([slot(1)]), address=PLACE)
    assert researcher("eve").get(f"{url}progress").status_code == 404


def test_an_upload_that_is_gone_is_no_work_and_no_error(folders: Path, asked: list[str]) -> None:
    client = researcher()
    url = preview_of(client, batch_csv([slot(1)]), address=PLACE)
    client.get(url)
    (folder,) = (folders / "imports").glob("*")
    folder.rename(folder.with_suffix(".gone"))
    assert (make_what_is_asked(), asked, client.get(f"{url}progress").json()) == ([True], [], {"reports": []})
    assert client.get(url)["Location"] == "/import/"


def test_a_private_address_is_refused_before_anything_is_kept(folders: Path) -> None:
    answer = upload(researcher(), batch_csv([slot(1)]), address="http://169.254.169.254/latest/")
    assert (answer.status_code, staged(folders)) == (422, [])


def waiting_for_pictures(client, *names: int) -> Survey:
    client.post(preview_of(client, batch_csv([slot(n) for n in names]), allow_missing="on"))
    return Survey.objects.get()


def test_missing_pictures_are_fetched_by_the_worker(folders: Path, asked: list[str]) -> None:
    client = researcher()
    survey = waiting_for_pictures(client, 1, 8)
    brought = {"attach-survey": survey.pk, "attach-address": PLACE}
    job = client.post(reverse("import_pictures"), brought)["Location"]
    assert "a note tells you when they are here" in client.get(job).text
    assert client.get(f"{job}progress").json()["reports"][0]["percent"] == 0
    assert researcher("eve").get(job).status_code == 404
    assert asked == []
    assert make_what_is_asked() == [True]
    assert (sorted(asked), staged(folders)) == (["/1.png", "/8.png"], [])
    assert Note.objects.get().url == job
    assert said(client.get(job, follow=True))[-1] == "1 pictures attached, 1 still missing."
    assert Note.objects.filter(seen_at=None).count() == 0
    assert client.get(f"{job}progress").json() == {"reports": []}


def test_what_stands_in_the_way_of_missing_pictures_is_said(asked: list[str]) -> None:
    client = researcher()
    survey = waiting_for_pictures(client, 9)
    answer = client.post(
        reverse("import_pictures"), {"attach-survey": survey.pk, "attach-address": PLACE}, follow=True
    )
    make_what_is_asked()
    job = answer.redirect_chain[-1][0]
    assert said(client.get(job, follow=True))[-1].startswith("No picture was attached. ")


def test_a_worker_that_says_how_far_it_is_keeps_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long fetch outlasts the turn of one that is silent: nobody begins it beside the first."""
    row = KeptReport.objects.create(key="pictures:x", asked_version="x", asked_at=timezone.now())
    begun = timezone.now() - timedelta(minutes=3)
    turn = reports._Turn(row.pk, begun)
    turn.row.update(begun_at=begun)
    KeptReport.objects.update(begun_at=begun)
    turn.tell(40)
    assert (KeptReport.objects.get().percent, reports.make(row.pk)) == (40, False)
    KeptReport.objects.update(begun_at=timezone.now())  # another has taken it
    turn.tell(50)
    assert KeptReport.objects.get().percent == 40
