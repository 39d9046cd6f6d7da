"""A sample on a page: drawn as the command draws it, downloaded, imported at once; its drawer's alone."""

from html import unescape
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from surveys import sync
from surveys.models import KeptReport, Survey
from surveys.results import kept
from tests.surveys.pages.pages import text_of
from tests.surveys.pages.study.import_pages import researcher
from tests.surveys.studies.test_sampling import predictions, two_sets

pytestmark = pytest.mark.django_db
ASKED = {"n": 10, "items_per_hit": 5, "seed": "1", "system": ""}


@pytest.fixture(autouse=True)
def folders(settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "data"


def posted(client: Client, path: str, *, earlier: tuple[Path, ...] = (), **asked: object):
    files = {"predictions": SimpleUploadedFile(Path(path).name, Path(path).read_bytes())}
    before = [SimpleUploadedFile(file.name, file.read_bytes()) for file in earlier]
    response = client.post(
        reverse("draw_sample"), ASKED | asked | files | ({"earlier": before} if before else {})
    )
    for row in KeptReport.objects.exclude(asked_version=""):
        sync.make_report(row.pk)
    return response


def test_the_page_gives_the_files_of_the_command(tmp_path: Path) -> None:
    made, client = str(predictions(tmp_path)), researcher()
    call_command("draw_sample", made, n=10, out=tmp_path / "out")
    response = posted(client, made)
    assert response.status_code == 302
    text = text_of(client.get(response["Location"]))
    assert "Who was eligible" in text
    for name in ("vqa.csv", "eligibility.csv"):
        file = client.get(f"{response['Location']}{name}")
        assert b"".join(file.streaming_content) == (tmp_path / "out" / name).read_bytes()


def test_earlier_samples_count_for_the_data_set_they_are_called_by(tmp_path: Path) -> None:
    (tmp_path / "vqa.csv").write_text("id_0,id_1\n1,2\n")
    (tmp_path / "vcr.csv").write_text("id_0\n3\n")
    client = researcher()
    earlier = (tmp_path / "vqa.csv", tmp_path / "vcr.csv")
    response = posted(client, two_sets(tmp_path), earlier=earlier, n=5)
    found = client.get(response["Location"]).context["sample"].lines
    assert [(line.name, line.overlap, line.possible) for line in found] == [("vcr", 1, 1), ("vqa", 2, 2)]


def test_a_sample_is_imported_through_the_preview(tmp_path: Path) -> None:
    client = researcher()
    page = posted(client, str(predictions(tmp_path)))["Location"]
    wish = {
        "filename": "vqa.csv", "name": "Drawn", "definition_key": "evil-vqax", "system": "ofa-x", "allow_missing": "on",
    }  # fmt: skip
    preview = client.post(page, wish)
    assert preview.status_code == 302
    assert "vqa.csv" in text_of(client.get(preview["Location"]))
    client.post(preview["Location"], {"accept_warnings": "on"})
    assert Survey.objects.get().items.count() == 10


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"n": 12}, "12 items don’t fill HITs of 5."),
        ({"n": 40}, "vqa: 40 items are wanted, 35 of 40 are eligible."),
        ({"system": "x"}, "There are no rows of this system."),
    ],
)
def test_what_can_not_be_drawn_is_told_where_it_would_be_and_not_tried_again(
    tmp_path: Path, asked: dict, message: str
) -> None:
    client = researcher()
    page = posted(client, str(predictions(tmp_path)), **asked)["Location"]
    assert message in unescape(text_of(client.get(page))).replace("'", "’")
    assert client.get(f"{page}progress/").json() == {"reports": []}
    assert KeptReport.objects.get().asked_version == ""
    assert client.get(f"{page}vqa.csv").status_code == 404


def test_a_number_that_is_none_is_told_on_the_form(tmp_path: Path) -> None:
    response = posted(researcher(), str(predictions(tmp_path)), n=0)
    assert response.status_code == 422
    assert "greater than or equal to 1" in text_of(response)
    assert not (tmp_path / "data" / "samples").exists()


def test_the_request_draws_nothing_and_the_page_says_how_far_it_is(tmp_path: Path, monkeypatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr("surveys.pages.study.samples.enqueue", lambda task, pk: sent.append(pk))
    client = researcher()
    files = {"predictions": SimpleUploadedFile("p.csv", Path(predictions(tmp_path)).read_bytes())}
    page = client.post(reverse("draw_sample"), ASKED | files)["Location"]
    key = KeptReport.objects.get().key
    assert "The sample is being drawn" in text_of(client.get(page))
    assert client.get(f"{page}progress/").json() == {"reports": [{"key": key, "percent": 0, "error": ""}]}
    assert client.get(f"{page}vqa.csv").status_code == 404
    sync.make_report(sent[0])
    assert client.get(f"{page}progress/").json() == {"reports": []}
    assert "Who was eligible" in text_of(client.get(page))
    [folder] = (tmp_path / "data" / "samples").iterdir()
    assert sorted(path.name for path in folder.iterdir()) == [
        "asked.json", "eligibility.csv", "facts.json", "vqa.csv"
    ]  # fmt: skip


def test_a_worker_that_died_leaves_a_sample_to_the_next_one(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("surveys.pages.study.samples.enqueue", lambda task, pk: None)
    client = researcher()
    files = {"predictions": SimpleUploadedFile("p.csv", Path(predictions(tmp_path)).read_bytes())}
    page = client.post(reverse("draw_sample"), ASKED | files)["Location"]
    long_ago = timezone.now() - kept.LEASE * 2
    KeptReport.objects.update(asked_at=long_ago, begun_at=long_ago, percent=40)
    assert kept.due() == [KeptReport.objects.get().pk]
    sync.make_report(KeptReport.objects.get().pk)
    assert "Who was eligible" in text_of(client.get(page))


def test_a_file_too_large_is_for_the_command(settings, tmp_path: Path) -> None:
    settings.UPLOAD_MAX_BYTES = 100
    response = posted(researcher(), str(predictions(tmp_path)))
    assert response.status_code == 422
    assert "at most 0 MB are allowed here" in text_of(response)


def test_a_sample_is_its_drawers_and_has_no_other_files(tmp_path: Path) -> None:
    client = researcher()
    page = posted(client, str(predictions(tmp_path)))["Location"]
    for other in ("facts.json", "..%2Ffacts.json", "vqa.csv.part"):
        assert client.get(f"{page}{other}").status_code == 404
    eve = researcher("eve")
    assert (eve.get(page).status_code, eve.get(f"{page}vqa.csv").status_code) == (404, 404)


@pytest.mark.parametrize("name", ["erklärung", "a\0b"])
def test_a_header_that_is_no_text_is_told(name: str) -> None:
    client = researcher()
    file = SimpleUploadedFile("p.csv", f"item,gold,answer,explanation,{name}\n1,a,a,b\n".encode("latin-1"))
    address = client.post(reverse("draw_sample"), ASKED | {"predictions": file})["Location"]
    sync.make_report(KeptReport.objects.get(key__startswith="sample:").pk)
    assert "row 0, column 5: the text is not UTF-8, or holds a NUL character." in text_of(client.get(address))


@pytest.mark.parametrize("name", ["é" * 120 + ".csv", "0", "predictions"])
def test_files_may_have_any_name(tmp_path: Path, name: str) -> None:
    data = Path(str(predictions(tmp_path))).read_bytes()
    files = {
        "predictions": SimpleUploadedFile(name, data),
        "earlier": [SimpleUploadedFile("0", b"id_0\n1\n")],
    }
    client = researcher()
    address = client.post(reverse("draw_sample"), ASKED | files)["Location"]
    sync.make_report(KeptReport.objects.get(key__startswith="sample:").pk)
    assert "Who was eligible" in text_of(client.get(address))
