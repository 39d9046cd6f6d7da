"""In which language a page answers, and that it ends with the request."""

import pytest
from django.test import Client, RequestFactory
from django.urls import get_resolver
from django.utils import translation
from pytest_django import Settings

from config.languages import _is_for_workers
from tests.link_people import invite_one
from tests.link_study import make_link_batch, path_of

RUSSIAN = {"accept-language": "ru,en;q=0.5"}


@pytest.fixture
def market(settings: Settings) -> Client:
    settings.MARKETPLACE_HOST = "localhost"
    return Client(headers={"host": "localhost"})


def language_of(response: object) -> str | None:
    return response.headers.get("Content-Language")  # type: ignore[attr-defined]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("given", "language"),
    [
        ({}, "en"),
        ({"accept-language": "ru-RU,ru;q=0.9,en;q=0.8"}, "ru"),
        ({"accept-language": "de,fr;q=0.5"}, "en"),
        ({"accept-language": "ru", "cookie": "language=en"}, "en"),
        ({"accept-language": "en", "cookie": "language=ru"}, "ru"),
        ({"accept-language": "ru", "cookie": "language=xx"}, "ru"),
    ],
)
def test_a_choice_counts_before_the_browser(market: Client, given: dict[str, str], language: str) -> None:
    response = market.get("/sign-in", headers=given)
    assert language_of(response) == language
    assert f'<html lang="{language}" dir="ltr">' in response.content.decode()
    assert {"Accept-Language", "Cookie"} <= set(response.headers["Vary"].split(", "))


@pytest.mark.django_db
def test_a_choice_in_the_address_is_kept_and_leaves_the_address(market: Client) -> None:
    response = market.get("/sign-in?next=%2Fwork&language=ru")
    assert (response.status_code, response.headers["Location"]) == (302, "/sign-in?next=%2Fwork")
    cookie = response.cookies["language"]
    assert (cookie.value, cookie["samesite"], cookie["httponly"]) == ("ru", "Lax", True)
    assert language_of(market.get("/sign-in")) == "ru"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["//evil.example/sign-in?language=ru", "/sign-in?language=xx", "/sign-in?language="]
)
def test_a_choice_leads_nowhere_else(market: Client, path: str) -> None:
    location = market.get(path).headers.get("Location", "")
    assert not location.startswith("//")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("chosen", "asked", "accepted", "language"),
    [
        ("", "", "ru", "ru"),
        ("", "ru", "en", "ru"),
        ("", "en", "ru", "en"),
        ("en", "ru", "ru", "en"),
        ("", "xx", "ru", "ru"),
    ],
)
def test_a_study_asks_for_a_language_where_nobody_chose(
    client: Client, chosen: str, asked: str, accepted: str, language: str
) -> None:
    batch = make_link_batch(page_language=asked)
    if chosen:
        client.cookies["language"] = chosen
    response = client.get(path_of(invite_one(batch, "Ada")), headers={"accept-language": accepted})
    assert (response.status_code, language_of(response)) == (200, language)
    assert translation.get_language() == "en"


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/admin/login/", "/appeals/open/", "/nowhere"])
def test_researchers_pages_stay_english(client: Client, path: str) -> None:
    response = client.get(path, headers=RUSSIAN)
    assert language_of(response) is None
    assert 'lang="ru"' not in response.content.decode()


def test_every_page_for_workers_speaks_and_no_other() -> None:
    """A page for workers is one that is framed, linked or alone: they render without the request."""
    speaking = {pattern.name for pattern in get_resolver("surveys.urls").url_patterns if _speaks(pattern)}
    assert speaking == {
        "appeal", "appeals", "coming", "draft", "hit", "link", "link_consent", "link_draft", "link_finish",
        "link_sign_in", "link_work", "own_data", "own_data_delete", "own_data_download", "panel",
    }  # fmt: skip


def _speaks(pattern: object) -> bool:
    given = {"pk": "1", "code": "abcde-fghjk", "token": "t", "batch": "1", "number": "1", "appeal_pk": "1"}
    route = str(pattern.pattern)  # type: ignore[attr-defined]
    for name, value in given.items():
        for kind in ("int", "str", "slug", "uuid"):
            route = route.replace(f"<{kind}:{name}>", value)
    return _is_for_workers(RequestFactory().get(f"/{route}"))


@pytest.mark.django_db
def test_programs_are_answered_in_english(market: Client) -> None:
    response = market.post("/", data=b"{}", content_type="application/json", headers=RUSSIAN)
    assert language_of(response) is None
