"""Tokens: made for a proof, shown once, known by their hash, and good for nothing when they should not be."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django_otp.oath import TOTP

from surveys.api import tokens
from surveys.models import ApiToken, Survey
from surveys.pages.sign_in import factors
from tests.factories import make_survey
from tests.people import client_of
from tests.surveys.api.asking import Asking, person_of, problem, token_of

pytestmark = pytest.mark.django_db
PASSWORD = "a-Long-one-4"
NEW = {"name": "nightly", "days": "30"}


@pytest.fixture
def ada() -> User:
    user = person_of("Researcher")
    user.set_password(PASSWORD)
    user.save()
    return user


@pytest.fixture
def adas(ada: User) -> Client:
    client = Client()
    client.force_login(ada)
    return client


def shown(page: Any) -> str:
    found = re.search(r"assent_[\w-]{43}", page.content.decode())
    return found[0] if found else ""


def test_a_token_is_shown_once_and_only_its_hash_is_kept(ada: User, adas: Client) -> None:
    token = shown(adas.post("/tokens/", NEW | {"password": PASSWORD}))
    row = ApiToken.objects.get()
    assert (row.user, row.name, row.is_read_only, row.start) == (ada, "nightly", False, token[:12])
    assert token not in str(ApiToken.objects.values())
    assert shown(adas.get("/tokens/")) == ""
    assert Asking(token).get("/studies").status_code == 200


@pytest.mark.parametrize("proof", [{}, {"password": "wrong"}])
def test_a_session_alone_makes_none(adas: Client, proof: dict[str, str]) -> None:
    page = adas.post("/tokens/", NEW | proof)
    assert (page.status_code, shown(page), ApiToken.objects.count()) == (422, "", 0)


def test_where_there_is_a_second_factor_its_code_is_asked_and_not_the_password(ada: User) -> None:
    key = factors.new_key()
    code = TOTP(bytes.fromhex(key)).token()
    device = factors.enrol(ada, key=key, code=f"{code:06}")
    client = Client()
    client.force_login(ada)
    session = client.session
    session["otp_device_id"] = device.persistent_id if device else ""
    session.save()
    assert client.post("/tokens/", NEW | {"password": PASSWORD}).status_code == 422
    recovery = factors.new_recovery_codes(ada)[0]
    assert client.post("/tokens/", {"name": "", "days": "30", "code": recovery}).status_code == 422
    assert shown(client.post("/tokens/", NEW | {"code": recovery})) != ""
    assert shown(client.post("/tokens/", NEW | {"code": recovery})) == ""


def test_whoever_is_no_staff_has_none() -> None:
    client = Client()
    client.force_login(User.objects.create_user("guest"))
    assert [client.get("/tokens/").status_code, client.post("/tokens/1/revoke").status_code] == [302, 302]


def test_one_revokes_ones_own_alone(ada: User, adas: Client) -> None:
    token = token_of(ada)
    pk = ApiToken.objects.get().pk
    client_of("Researcher").post(f"/tokens/{pk}/revoke")
    assert Asking(token).get("/studies").status_code == 200
    adas.post(f"/tokens/{pk}/revoke")
    assert problem(Asking(token).get("/studies")) == (401, "not-signed-in")


@pytest.mark.parametrize("change", [{"is_active": False}, {"is_staff": False}])
def test_who_has_left_opens_nothing(ada: User, change: dict[str, bool]) -> None:
    token = token_of(ada)
    User.objects.update(**change)
    assert problem(Asking(token).get("/studies")) == (401, "not-signed-in")


def test_an_expired_token_opens_nothing(ada: User) -> None:
    now = timezone.now()
    late, early = (token_of(ada, expires_at=now + timedelta(hours=hours)) for hours in (-1, 1))
    assert [Asking(one).get("/studies").status_code for one in (late, early)] == [401, 200]


def test_a_token_that_only_reads_writes_nothing(ada: User) -> None:
    script = Asking(token_of(ada, is_read_only=True))
    refused = script.post("/studies", {"name": "Mine", "survey_type": "xai"})
    assert (problem(refused), Survey.objects.count()) == ((403, "not-allowed"), 0)
    assert script.get("/studies").status_code == 200


def test_neither_a_cookie_nor_an_address_opens_anything(ada: User, adas: Client) -> None:
    token = token_of(ada)
    assert problem(adas.get("/api/v1/studies")) == (401, "not-signed-in")
    assert problem(Client().get("/api/v1/studies", {"token": token, "access_token": token}))[0] == 401
    basic = Client(headers={"authorization": f"Basic {token}"})
    answer = basic.get("/api/v1/studies")
    assert (problem(answer)[0], answer["WWW-Authenticate"]) == (401, 'Bearer realm="Assent"')


def test_answers_set_no_cookie_and_are_in_no_cache(ada: User) -> None:
    answer = Asking(token_of(ada)).get("/studies")
    assert (dict(answer.cookies), answer["Cache-Control"]) == ({}, "no-store")


def test_who_asks_too_often_waits_and_others_do_not(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "A_MINUTE", tokens.Throttle("api:test", limit=2, seconds=60))
    first, other = Asking(token_of(ada)), Asking(token_of(ada))
    assert [first.get("/studies").status_code for _ in range(2)] == [200, 200]
    refused = first.get("/studies")
    assert (problem(refused), refused["Retry-After"]) == ((429, "too-many"), "60")
    assert other.get("/studies").status_code == 200


def test_its_last_use_is_told_to_its_owner(ada: User, adas: Client) -> None:
    token = token_of(ada)
    make_survey()
    Asking(token).get("/studies")
    assert "never" not in adas.get("/tokens/").content.decode().partition("<table")[2]
