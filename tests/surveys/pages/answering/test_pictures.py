"""Pictures under opaque names."""

from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from surveys.models import Item, Picture, Survey
from tests.builders import frame_query, make_questionnaire
from tests.protocols import XAI
from tests.surveys.studies.importing_cases import png

pytestmark = pytest.mark.django_db


@pytest.fixture
def picture(settings, tmp_path: Path) -> Picture:
    settings.MEDIA_ROOT = tmp_path
    survey = Survey.objects.create(name="Study", slug="study", definition_key="evil-vqax")
    item = Item.objects.create(survey=survey, external_id="17.jpg#3r1e", position=1)
    picture = Picture(item=item, name="17.jpg#3r1e.jpg", content_type="image/png")
    picture.file.save("17r1e.png", ContentFile(png()))
    return picture


@pytest.fixture
def client() -> Client:
    return Client(headers={"host": "127.0.0.1"})


def test_a_picture_is_served_to_anyone_for_ever(client: Client, picture: Picture) -> None:
    response = client.get(picture.get_absolute_url())
    assert (response.status_code, b"".join(response.streaming_content)) == (200, png())
    assert {
        name: response[name] for name in response.headers if name not in ("Referrer-Policy", "X-Request-Id")
    } == {
        "Content-Type": "image/png",
        "Content-Length": str(len(png())),
        "Cache-Control": "public, max-age=31536000, immutable",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        "Content-Disposition": "inline",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
    }


def test_neither_address_nor_headers_tell_the_file_name(client: Client, picture: Picture) -> None:
    response = client.get(picture.get_absolute_url())
    response.close()
    assert "r1e" not in picture.get_absolute_url() + str(response.headers)


def test_head_and_post(client: Client, picture: Picture) -> None:
    assert client.head(picture.get_absolute_url()).status_code == 200
    assert client.post(picture.get_absolute_url()).status_code == 405


def test_a_picture_that_is_not_there(client: Client, picture: Picture) -> None:
    assert client.get(reverse("picture", args=["0" * 16])).status_code == 404
    Path(picture.file.path).unlink()
    assert client.get(picture.get_absolute_url()).status_code == 404
    Picture.objects.update(file="")
    assert client.get(picture.get_absolute_url()).status_code == 404


@pytest.fixture
def audio(picture: Picture) -> Picture:
    Picture.objects.update(content_type="audio/mpeg")
    Path(picture.file.path).write_bytes(b"0123456789")
    return picture


@pytest.mark.parametrize(
    ("asked", "status", "data", "told"),
    [
        ("bytes=0-1", 206, b"01", "bytes 0-1/10"),
        ("bytes=8-", 206, b"89", "bytes 8-9/10"),
        ("bytes=5-99", 206, b"56789", "bytes 5-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=-99", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=10-", 416, b"", "bytes */10"),
        ("bytes=-0", 416, b"", "bytes */10"),
        ("bytes=3-1", 200, b"0123456789", None),
        ("bytes=-", 200, b"0123456789", None),
        ("bytes=0-1,3-4", 200, b"0123456789", None),
        ("lines=0-1", 200, b"0123456789", None),
    ],
)
def test_audio_comes_in_parts(
    client: Client, audio: Picture, asked: str, status: int, data: bytes, told: str | None
) -> None:
    response = client.get(audio.get_absolute_url(), headers={"range": asked})
    assert (response.status_code, response.getvalue()) == (status, data)
    assert (response["Content-Type"], response["Accept-Ranges"]) == ("audio/mpeg", "bytes")
    assert (response.get("Content-Range"), response["Content-Length"]) == (told, str(len(data)))


def test_a_picture_comes_whole(client: Client, picture: Picture) -> None:
    response = client.get(picture.get_absolute_url(), headers={"range": "bytes=0-1"})
    assert (response.status_code, response.getvalue()) == (200, png())


def copied(picture: Picture, *, width: int) -> Picture:
    picture.widths = [width]
    picture.file.storage.save(picture.copy_name(width), ContentFile(b"smaller"))
    picture.save()
    return picture


def test_a_smaller_copy_is_served_for_ever_like_the_picture(client: Client, picture: Picture) -> None:
    response = client.get(reverse("picture_copy", args=[copied(picture, width=480).code, 480]))
    assert (response.status_code, b"".join(response.streaming_content)) == (200, b"smaller")
    assert (response["Content-Type"], response["Cache-Control"]) == (
        "image/webp",
        "public, max-age=31536000, immutable",
    )


def test_a_width_nobody_made_is_not_there(client: Client, picture: Picture) -> None:
    assert client.get(reverse("picture_copy", args=[copied(picture, width=480).code, 479])).status_code == 404


def test_a_copy_whose_file_is_gone_is_served_as_the_picture(client: Client, picture: Picture) -> None:
    code = copied(picture, width=480).code
    picture.file.storage.delete(picture.copy_name(480))
    response = client.get(reverse("picture_copy", args=[code, 480]))
    assert (b"".join(response.streaming_content), response["Content-Type"]) == (png(), "image/png")


def test_a_picture_whose_file_is_gone_is_named_as_missing_on_the_page(
    visitor: Client, settings: Settings, tmp_path: Path
) -> None:
    """On record, and gone from the disk: a backup restored without its media, a disk that was exchanged."""
    settings.MEDIA_ROOT = tmp_path
    work = make_questionnaire(n_items=2, definition=XAI)
    gone = Picture.objects.get(item__position=1)
    gone.file.storage.delete(gone.file.name)
    page = visitor.get(f"/hits/{work.pk}/", frame_query(work)).content.decode()
    assert gone.get_absolute_url() not in page
    assert page.count('<p class="missing">') == 1
    assert page.count(" is missing.") == 1
