"""A study's consent text in its settings: versions, translations, and who may write it."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from surveys.models import ConsentText, Survey
from tests import factories

TEXTS = list[tuple[int, str, dict[str, str]]]


@pytest.fixture
def survey(db: None) -> Survey:
    return factories.make_survey(slug="cats", is_shared=True)


def save(client: Client, **fields: str) -> int:
    return client.post("/studies/cats/settings/consent", fields).status_code


def texts() -> TEXTS:
    return list(ConsentText.objects.order_by("version").values_list("version", "text", "translations"))


def test_a_text_is_written_and_shown_with_its_versions(admin_client: Client, survey: Survey) -> None:
    assert save(admin_client, text="We keep <b>this</b>.", text_ru="Храним.") == 302
    assert save(admin_client, text="We keep that.") == 302
    assert texts() == [(1, "We keep <b>this</b>.", {"ru": "Храним."}), (2, "We keep that.", {})]
    page = admin_client.get("/studies/cats/settings/").content.decode()
    assert "Version 2 is in force" in page
    assert "We keep &lt;b&gt;this&lt;/b&gt;." in page
    assert "<b>this</b>" not in page


def test_saved_twice_is_one_version(admin_client: Client, survey: Survey) -> None:
    assert [save(admin_client, text="Once.") for _ in range(2)] == [302, 302]
    assert texts() == [(1, "Once.", {})]


def test_a_translation_of_nothing_is_refused(admin_client: Client, survey: Survey) -> None:
    assert save(admin_client, text=" ", text_ru="Храним.") == 422
    assert texts() == []


def test_who_may_only_look_writes_nothing(client: Client, survey: Survey) -> None:
    client.force_login(User.objects.create_user("eve", is_staff=True))
    assert save(client, text="Mine.") in {403, 404}
    assert texts() == []
