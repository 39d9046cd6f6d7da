"""Pages are shorter on the way where their length tells nobody anything."""

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from config.settings import STORAGES
from surveys.models import Batch
from tests.factories import make_published, submitted
from tests.people import client_of
from tests.surveys.pages.hit_pages import open_page

pytestmark = pytest.mark.django_db
ANY = {"HTTP_ACCEPT_ENCODING": "gzip, deflate, br"}


@pytest.fixture
def batch() -> Batch:
    questionnaire = make_published()
    submitted(questionnaire)
    return questionnaire.batch


def encoding(client: Client, path: str, **headers: str) -> str:
    answer: Any = client.get(path, **ANY, **headers)
    assert answer.status_code == 200
    return answer.get("Content-Encoding", "")


def test_a_researchers_page_is_the_same_and_shorter(batch: Batch) -> None:
    client, path = client_of("Researcher"), batch.get_absolute_url()
    plain: Any = client.get(path)
    short: Any = client.get(path, **ANY, HTTP_SEC_FETCH_SITE="same-origin")
    token = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*"')
    assert token.sub(b"", gzip.decompress(short.content)) == token.sub(b"", plain.content)
    assert "Content-Encoding" not in plain
    assert short["Content-Length"] == str(len(short.content))
    assert len(short.content) < len(plain.content) / 2
    assert "Accept-Encoding" in short["Vary"]


@pytest.mark.parametrize(
    ("site", "expected"),
    [("same-origin", "gzip"), ("none", "gzip"), ("same-site", ""), ("cross-site", ""), ("", "")],
)
def test_what_a_cookie_opens_is_compressed_only_for_its_own_site(
    batch: Batch, site: str, expected: str
) -> None:
    """Else another site asks with its guess in the address, and looks at the length (BREACH)."""
    headers = {"HTTP_SEC_FETCH_SITE": site} if site else {}
    assert encoding(client_of("Researcher"), batch.get_absolute_url(), **headers) == expected


def test_the_length_of_a_page_varies(batch: Batch) -> None:
    client, path = client_of("Researcher"), reverse("admin:surveys_batch_changelist")
    lengths = {len(client.get(path, **ANY, HTTP_SEC_FETCH_SITE="none").content) for _ in range(20)}
    assert len(lengths) > 5


def test_a_hit_that_its_address_opens_is_compressed() -> None:
    """In a frame of another site, where browsers keep cookies back."""
    client = Client(**ANY, HTTP_SEC_FETCH_SITE="cross-site")  # type: ignore[arg-type]
    answer = open_page(client, make_published())
    assert answer["Content-Encoding"] == "gzip"
    assert b"<form" in gzip.decompress(answer.content)


def test_the_list_of_hits_is_compressed(settings: Settings) -> None:
    assert encoding(Client(), "/", HTTP_HOST=settings.MARKETPLACE_HOST) == "gzip"


@pytest.mark.parametrize("layout", ["raw", "tidy"])
def test_files_are_not(batch: Batch, layout: str) -> None:
    """They are sent as they are made."""
    path = reverse("batch_download", args=[batch.pk, layout])
    assert encoding(client_of("Researcher"), path, HTTP_SEC_FETCH_SITE="same-origin") == ""


def test_static_files_are_compressed_once(settings: Settings, tmp_path: Path) -> None:
    """In a folder of their own: where every client of the next tests would look, each would read them all."""
    settings.STATIC_ROOT, settings.STORAGES = tmp_path, STORAGES
    call_command("collectstatic", interactive=False, verbosity=0)
    styles = [path for path in tmp_path.rglob("*.css") if path.stat().st_size > 2000]
    assert styles
    assert [path.name for path in styles if not path.with_name(f"{path.name}.gz").exists()] == []
