"""What an import does not take: forms, files, addresses, other people; and what is left of one that failed."""

import os
import time
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from surveys.models import Item, Picture, Survey
from surveys.studies.importing.pictures import PictureError
from tests.surveys.pages.study.import_pages import TWO, preview_of, researcher, staged, upload
from tests.surveys.studies.importing_cases import archive, batch_csv, png, slot

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folders(settings, tmp_path: Path) -> Path:
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"
    return tmp_path


FORM_CASES = {
    "no name": ({"name": ""}, {"name": ["Give the new survey a name."]}),
    "a name of signs": ({"name": "!?"}, {"name": ["Give the new survey a name."]}),
    "a name that is taken": (
        {"name": "Taken"},
        {"name": ["This name is taken. Take another one, or choose the survey above if it is there."]},
    ),
    "no type": ({"definition_key": ""}, {"definition_key": ["Choose the type of the new survey."]}),
    "a system": ({"system": "ofa x"}, {"system": ["Use letters, digits, - and _ only."]}),
    "both": ({"address": "https://example.org/"}, {"address": ["Give a ZIP or an address, not both."]}),
}


@pytest.mark.parametrize("case", FORM_CASES)
def test_the_form_says_what_is_wrong(case: str, folders: Path) -> None:
    Survey.objects.create(name="Taken", slug="taken", definition_key="evil-vqax")
    data, errors = FORM_CASES[case]
    response = upload(researcher(), batch_csv([slot(1)]), pictures=TWO, **data)
    assert (response.status_code, response.context["form"].errors) == (422, errors)
    assert staged(folders) == []


def test_an_empty_file_and_a_large_one(settings) -> None:
    client = researcher()
    assert upload(client, b"").context["form"].errors == {"items": ["The file is empty (0 bytes)."]}
    settings.UPLOAD_MAX_BYTES = 2**20
    large = upload(client, b"x" * (2**20 + 1)).context["form"].errors
    assert large == {"items": ["The file has 1,048,577 bytes; at most 1 MB are allowed."]}


def test_a_large_archive(settings) -> None:
    settings.IMAGE_ARCHIVE_MAX_BYTES = 2**20
    pictures = {"1.png": os.urandom(2**20)}
    response = upload(researcher(), batch_csv([slot(1)]), pictures=pictures)
    size = len(archive(pictures))
    message = f"The file has {size:,} bytes; at most 1 MB are allowed."
    assert response.context["form"].errors == {"archive": [message]}


def test_a_private_address_is_refused(folders: Path) -> None:
    response = upload(researcher(), batch_csv([slot(1)]), address="http://169.254.169.254/latest/")
    assert response.context["form"].errors == {
        "address": ["The host 169.254.169.254 is inside a private network."]
    }
    assert staged(folders) == []


def test_fetched_pictures_are_kept_for_the_confirmation(monkeypatch) -> None:
    asked = []

    def fetch(url: str, *, kind: str, until: float) -> bytes:
        asked.append(url)
        if url.endswith("2.png"):
            raise PictureError("The server answers with status 500.")
        return png()

    monkeypatch.setattr("surveys.studies.importing.fetching.fetch", fetch)
    client = researcher()
    url = preview_of(client, batch_csv([slot(1)]), address="https://93.184.215.14/pics")
    client.post(url)
    assert (asked, Picture.objects.get().width) == (["https://93.184.215.14/pics/1.png"], 3)
    url = preview_of(client, batch_csv([slot(2)]), address="https://93.184.215.14/", name="Two")
    assert [p.message for p in client.get(url).context["plan"].errors] == [
        'The picture "2.png": The server answers with status 500.'
    ]


def test_only_researchers_who_may_import() -> None:
    client = researcher("eve", permission="view_item")
    assert [client.get(reverse("import_items")).status_code, upload(client, b"x").status_code] == [403, 403]
    assert client.post(reverse("import_pictures")).status_code == 403
    for visitor in (researcher("bob", is_staff=False), Client(headers={"host": "127.0.0.1"})):
        response = visitor.get(reverse("import_items"))
        assert (response.status_code, response["Location"]) == (302, "/admin/login/?next=/import/")


def test_a_preview_belongs_to_who_uploaded_it() -> None:
    url = preview_of(researcher("ada"), batch_csv([slot(1)]), pictures=TWO)
    other = researcher("eve")
    assert [other.get(url).status_code, other.post(url).status_code] == [404, 404]
    assert other.get(url.replace("import/", "import/x")).status_code == 404
    assert Item.objects.count() == 0


def test_a_folder_that_goes_while_old_ones_are_looked_for(folders: Path) -> None:
    (folders / "imports").mkdir()
    (folders / "imports/gone").symlink_to(folders / "nowhere")
    preview_of(researcher(), batch_csv([slot(1)]), pictures=TWO)
    assert len(staged(folders)) == 2


def test_what_nobody_confirms_goes_after_a_day(folders: Path) -> None:
    client = researcher()
    url = preview_of(client, batch_csv([slot(1)]), pictures=TWO)
    (old,) = (folders / "imports").glob("*")
    yesterday = time.time() - 24 * 60 * 60 - 1
    os.utime(old, (yesterday, yesterday))
    preview_of(client, batch_csv([slot(2)]), pictures=TWO)
    assert not old.exists()
    assert len(staged(folders)) == 1
    assert client.get(url)["Location"] == reverse("import_items")


def test_a_failed_import_can_be_tried_again(monkeypatch, folders: Path) -> None:
    client = researcher()
    url = preview_of(client, batch_csv([slot(1)]), pictures=TWO)

    def fail(*args: object, **kwargs: object) -> None:
        raise MemoryError

    with monkeypatch.context() as broken:
        broken.setattr("surveys.studies.importing.uploads.write_items", fail)
        with pytest.raises(MemoryError):
            client.post(url)
    assert client.post(url).status_code == 302
    assert Item.objects.count() == 1
