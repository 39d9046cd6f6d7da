"""A university signs in whom it names, and nobody else: against a small OpenID Connect server on this machine."""

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice

from surveys.studies import colleagues
from tests.factories import make_survey
from tests.oidc_server import CLIENT, SECRET, University, new_key, serve

LOGIN, THERE, BACK = "/admin/login/", "/sign-in/university/", "/sign-in/university/back"
BACKENDS = [
    "surveys.teams.StudyRoles",
    "django.contrib.auth.backends.ModelBackend",
    "surveys.pages.sign_in.provider.UniversityBackend",
]
KEY, FORGER = new_key(), new_key()
EMAIL = "ada@university.example"


@pytest.fixture
def university(settings: Any) -> Iterator[University]:
    with serve(University(key=KEY)) as university:
        settings.OIDC_ISSUER = university.issuer
        settings.OIDC_RP_CLIENT_ID, settings.OIDC_RP_CLIENT_SECRET = CLIENT, SECRET
        settings.OIDC_IS_ON, settings.OIDC_LABEL = True, "Example University"
        settings.AUTHENTICATION_BACKENDS = BACKENDS
        yield university


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada", email="Ada@University.example", is_staff=True)


def way_back(client: Client, *, target: str = "") -> str:
    """Go to the university, sign in there; return where it sends the browser back to."""
    begun = client.get(THERE, {"next": target} if target else {})
    assert begun.status_code == 302, begun.content
    location = requests.get(begun["Location"], allow_redirects=False, timeout=10).headers["Location"]
    return location.removeprefix("http://testserver")


def opens(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


def refused(client: Client) -> str:
    """Why nobody is signed in."""
    answer = client.get(way_back(client))
    assert answer.status_code == 403
    assert not opens(client)
    return str(answer.context["reason"])


def test_it_signs_in_whom_it_names(university: University, ada: User) -> None:
    client = Client()
    answer = client.get(way_back(client, target="/admin/password_change/"))
    assert (answer.status_code, answer["Location"]) == (302, "/admin/password_change/")
    assert opens(client)
    assert client.session["_auth_user_id"] == str(ada.pk)
    [asked] = university.asked
    assert (asked["response_type"], asked["client_id"], asked["scope"]) == ("code", CLIENT, "openid email")
    assert (len(asked["state"]), len(asked["nonce"]), asked["code_challenge_method"]) == (32, 32, "S256")
    assert User.objects.count() == 1


def test_a_university_that_takes_the_secret_in_the_form(university: University, ada: User) -> None:
    university.is_basic = False
    client = Client()
    client.get(way_back(client))
    assert opens(client)


def test_an_address_from_the_user_info(university: University, ada: User) -> None:
    university.claims = {"email": None, "email_verified": None}
    university.userinfo = {"sub": "1", "email": EMAIL, "email_verified": True}
    client = Client()
    client.get(way_back(client))
    assert opens(client)


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another-client"},
        {"aud": None},
        {"aud": [CLIENT, "another-client"]},
        {"aud": [CLIENT, "another-client"], "azp": "another-client"},
        {"azp": "another-client"},
        {"nonce": "of-another-sign-in"},
        {"nonce": None},
        {"nonce": ""},
        {"exp": 1},
        {"exp": None},
        {"iat": 99_999_999_999},
        {"sub": None},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_this_sign_in_is_refused(
    university: University, ada: User, claims: dict[str, Any]
) -> None:
    university.claims = claims
    assert refused(Client()) == "What Example University sent can't be trusted."


@pytest.mark.parametrize(
    ("algorithm", "key"),
    [("RS256", FORGER), ("HS256", SECRET + " " * 32), ("none", None)],
    ids=["key", "HS256", "none"],
)
def test_a_signature_that_is_not_the_universitys_is_refused(
    university: University, ada: User, algorithm: str, key: Any
) -> None:
    university.algorithm, university.signing_key = algorithm, key
    assert refused(Client()) == "What Example University sent can't be trusted."


def test_nor_is_an_unsigned_one(university: University, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    signed = University.id_token
    monkeypatch.setattr(
        University, "id_token", lambda self, nonce: signed(self, nonce).rpartition(".")[0] + "."
    )
    assert refused(Client()) == "What Example University sent can't be trusted."


@pytest.mark.parametrize("said", [False, None, "true", 1], ids=repr)
def test_an_unverified_address_is_refused(university: University, ada: User, said: Any) -> None:
    university.claims = {"email_verified": said}
    assert (
        refused(Client())
        == "Example University does not say that it has verified an e-mail address of yours."
    )


@pytest.mark.parametrize("email", ["", "ada", None, 7, ["ada@university.example"]], ids=repr)
def test_no_address_is_nobodys(university: University, ada: User, email: Any) -> None:
    """The user info says none either. An account without an address must not be found by an empty one."""
    User.objects.create_user("nameless", email="", is_staff=True)
    university.claims, university.userinfo = {"email": email}, {"sub": "1", "email_verified": True}
    assert "has verified an e-mail address" in refused(Client())


@pytest.mark.parametrize("email", ["\u212aim@university.example", "m\u0131ke@university.example"])
def test_letters_that_only_look_alike_in_capitals(university: University, db: None, email: str) -> None:
    for name in ("kim", "mike"):
        User.objects.create_user(name, email=f"{name}@university.example", is_staff=True)
    university.claims = {"email": email}
    assert "outside ASCII" in refused(Client())


def test_user_info_of_somebody_else_is_refused(university: University, ada: User) -> None:
    university.claims = {"email": None}
    university.userinfo = {"sub": "2", "email": EMAIL, "email_verified": True}
    assert refused(Client()) == "What Example University sent can't be trusted."


def test_strangers_guests_and_closed_accounts_stay_out(university: University, ada: User) -> None:
    university.claims = {"email": "eve@university.example"}
    assert refused(Client()) == (
        "No researcher's account here has the address eve@university.example: "
        "ask whoever runs this installation for one."
    )
    university.claims = {}
    for closed in ({"is_staff": False}, {"is_active": False}):
        User.objects.update(**{"is_staff": True, "is_active": True, **closed})
        assert refused(Client()).startswith("Your account here has no rights")
    assert User.objects.count() == 1


def test_an_address_of_two_accounts_is_refused(university: University, ada: User) -> None:
    User.objects.create_user("ada2", email=EMAIL, is_staff=True)
    assert refused(Client()).startswith("Several accounts here have the address")


def test_whose_account_is_closed_is_signed_out(university: University, ada: User) -> None:
    client = Client()
    client.get(way_back(client))
    User.objects.update(is_active=False)
    assert not opens(client)


def test_accounts_are_made_without_rights_and_only_by_the_setting(
    university: University, db: None, settings: Any
) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    university.claims = {"email": "Eve@University.example"}
    assert refused(Client()).startswith("An account was made for you. It has no rights yet")
    assert refused(Client()).startswith("Your account here has no rights")
    eve = User.objects.get()
    assert (eve.username, eve.email) == ("eve@university.example", "eve@university.example")
    assert (eve.is_staff, eve.is_superuser, eve.is_active) == (False, False, True)
    assert (eve.get_all_permissions(), eve.has_usable_password()) == (set(), False)


def test_a_name_that_is_taken_is_not_taken_over(university: University, db: None, settings: Any) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True
    User.objects.create_user(EMAIL, email="other@university.example", is_staff=True)
    assert "is an account's with another e-mail address" in refused(Client())


def test_a_state_of_another_browser_is_refused(university: University, ada: User) -> None:
    """Else somebody could be signed in as another: https://datatracker.ietf.org/doc/html/rfc6749#section-10.12."""
    for client in (Client(), begun()):
        answer = client.get(way_back(Client()))
        assert (answer.status_code, "not begun in this browser" in answer.context["reason"]) == (403, True)
        assert not opens(client)


def test_a_way_back_is_gone_once(university: University, ada: User) -> None:
    client = Client()
    back = way_back(client)
    assert client.get(back).status_code == 302
    client.logout()
    assert client.get(back).status_code == 403


@pytest.mark.parametrize(
    "query", ["", "?code=x", "?state=x", "?code=x&state=x", "?error=access_denied&state=x"]
)
def test_coming_back_with_nothing(university: University, ada: User, query: str) -> None:
    assert begun().get(BACK + query).status_code == 403


def test_an_error_from_there_signs_nobody_out(university: University, ada: User) -> None:
    client = Client()
    client.get(way_back(client))
    assert client.get(f"{BACK}?error=access_denied").status_code == 403
    assert opens(client)


def test_another_code_with_a_right_state(university: University, ada: User) -> None:
    """A code that was stolen elsewhere is no use: it was asked for with another verifier and nonce."""
    client, victim = Client(), Client()
    mine, theirs = (parse_qs(urlsplit(way_back(one)).query) for one in (client, victim))
    assert client.get(BACK, {"state": mine["state"][0], "code": theirs["code"][0]}).status_code == 403
    assert not opens(client)


def test_a_password_does_not_reach_the_universitys_door(university: University, ada: User) -> None:
    """A sign-in by password with a code in its address must not be one by the university, without state and nonce."""
    university.claims = {"nonce": None}
    code = parse_qs(urlsplit(way_back(Client())).query)["code"][0]
    client = Client()
    answer = client.post(f"{LOGIN}?code={code}&state=x", {"username": "ada", "password": "x"})
    assert (answer.status_code, opens(client)) == (200, False)
    assert code in university.codes


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "http:evil"],
)
def test_no_way_leads_on_to_another_site(university: University, ada: User, elsewhere: str) -> None:
    client = Client()
    answer = client.get(way_back(client, target=elsewhere))
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")


@pytest.mark.parametrize(
    "metadata",
    [{"issuer": "https://evil.example"}, {"jwks_uri": None, "issuer": None}],
    ids=["other", "none"],
)
def test_a_university_that_is_another_is_not_gone_to(
    university: University, ada: User, metadata: dict[str, Any]
) -> None:
    university.metadata = metadata
    answer = Client().get(THERE)
    assert (answer.status_code, "does not answer as it should" in answer.context["reason"]) == (503, True)


def test_a_university_that_is_down_stops_nobody_with_a_password(university: University, ada: User) -> None:
    university.is_down = True
    assert Client().get(THERE).status_code == 503
    ada.set_password("right-horse")
    ada.save()
    client = Client()
    client.post(LOGIN, {"username": "ada", "password": "right-horse"})
    assert opens(client)


def test_what_is_off_is_not_there(db: None) -> None:
    assert [Client().get(address).status_code for address in (THERE, BACK)] == [404, 404]
    assert THERE not in Client().get(LOGIN).content.decode()


def test_the_sign_in_page_offers_it(university: University, db: None) -> None:
    page = Client().get(LOGIN, {"next": "/admin/auth/user/?a=1&b=2"}).content.decode()
    assert f'href="{THERE}?next=/admin/auth/user/%3Fa%3D1%26b%3D2"' in page
    assert "Sign in with Example University" in page


# -- With a second factor -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amr", "counting", "is_in"),
    [
        (None, [], False),
        (["pwd", "mfa"], [], False),
        (["pwd"], ["mfa", "hwk"], False),
        (["pwd", "mfa"], ["mfa", "hwk"], True),
        ("mfa", ["mfa"], False),
        ([["mfa"]], ["mfa"], False),
    ],
)
@pytest.mark.parametrize("has_app", [False, True])
def test_the_universitys_factor_counts_where_the_setting_names_it(
    university: University,
    ada: User,
    settings: Any,
    has_app: bool,
    amr: Any,
    counting: list[str],
    is_in: bool,
) -> None:
    settings.REQUIRE_SECOND_FACTOR, settings.OIDC_SECOND_FACTORS = not has_app, frozenset(counting)
    university.claims = {"amr": amr}
    if has_app:
        TOTPDevice.objects.create(user=ada, name="app")
    client = Client()
    client.get(way_back(client))
    assert opens(client) is is_in
    step = "/sign-in/code/" if has_app else "/sign-in/second-factor/"
    assert client.get(LOGIN)["Location"].startswith("/admin/" if is_in else step)


SET_UP = "/sign-in/second-factor/"


def shows_a_secret(client: Client) -> bool:
    return "qr-card" in client.get(SET_UP).content.decode()


@pytest.mark.parametrize(
    ("age", "is_shown"), [(20, True), (880, True), (920, False), (-3600, False), (None, False)]
)
def test_who_has_no_password_signs_in_there_anew_before_setting_an_app_up(
    university: University, ada: User, age: int | None, is_shown: bool
) -> None:
    """A browser that is still signed in at the university comes back without anybody being asked: `auth_time` tells."""
    User.objects.update(password="!")
    client = Client()
    client.get(way_back(client))
    page = client.get(SET_UP)
    assert 'type="password"' not in page.content.decode()
    university.claims = {"auth_time": None if age is None else int(time.time()) - age}
    begun = client.get(page.context["there"])
    location = requests.get(begun["Location"], allow_redirects=False, timeout=10).headers["Location"]
    assert client.get(location.removeprefix("http://testserver"))["Location"].startswith(SET_UP)
    assert [university.asked[-1][name] for name in ("prompt", "max_age")] == ["login", "900"]
    assert shows_a_secret(client) is is_shown


@pytest.mark.parametrize("time_told", ["now", True, [1], {}, 10**400])
def test_a_time_that_is_none_proves_nothing(university: University, ada: User, time_told: Any) -> None:
    university.claims = {"auth_time": time_told}
    client = Client()
    client.get(way_back(client))
    assert opens(client)
    assert not shows_a_secret(client)


def test_it_counts_for_its_own_person_only(university: University, ada: User, settings: Any) -> None:
    """Who comes back with a factor and is refused leaves nothing in a session that owes one."""
    settings.REQUIRE_SECOND_FACTOR, settings.OIDC_SECOND_FACTORS = True, frozenset({"mfa"})
    root = User.objects.create_superuser("root", password="right-horse")
    client = Client()
    client.post(LOGIN, {"username": "root", "password": "right-horse"})
    university.claims = {"amr": ["mfa"], "email": "eve@university.example"}
    assert client.get(way_back(client)).status_code == 403
    assert not opens(client)
    assert client.session["_auth_user_id"] == str(root.pk)
    university.claims = {"amr": ["mfa"]}
    client.get(way_back(client))
    assert (opens(client), client.session["_auth_user_id"]) == (True, str(ada.pk))
    client.post(LOGIN, {"username": "root", "password": "right-horse"})
    assert not opens(client)


def begun() -> Client:
    """A browser that went there, and did not come back."""
    client = Client()
    client.get(THERE)
    return client


def invited(survey: Any) -> str:
    head = User.objects.create_superuser("head")
    until = timezone.now() + timedelta(days=1)
    return f"/team/{colleagues.invite(survey, name='Ada', role='reader', expires_at=until, by=head)}/"


def test_who_is_invited_to_a_study_gets_an_account_that_opens_that_study(
    university: University, db: None, settings: Any
) -> None:
    survey, other = make_survey(), make_survey()
    link, client = invited(survey), Client()
    answer = client.get(way_back(client, target=link))
    assert (answer.status_code, answer["Location"]) == (302, link)
    assert client.post(link)["Location"] == f"/studies/{survey.slug}/"
    assert [client.get(f"/studies/{one.slug}/").status_code for one in (survey, other)] == [200, 403]
    someone_else = Client()
    assert someone_else.get(way_back(someone_else, target=link)).status_code == 302  # ada, who has one now


@pytest.mark.parametrize("allowed", [True, False])
def test_an_invitation_opens_no_account_that_was_closed_or_whose_address_nobody_verified(
    university: University, db: None, settings: Any, allowed: bool
) -> None:
    settings.INVITED_ACCOUNTS = allowed
    link, client = invited(make_survey()), Client()
    User.objects.create_user("mallory", email=EMAIL, password="claimed" if allowed else None)
    assert client.get(way_back(client, target=link)).status_code == 403
    assert not opens(client)
