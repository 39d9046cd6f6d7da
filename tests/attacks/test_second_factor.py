"""A password alone opens nothing where a second factor is set up or required; codes are taken once, and not guessed."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from surveys.pages.sign_in import factors
from surveys.urls import urlpatterns

LOGIN, CODE, SET_UP = "/admin/login/", "/sign-in/code/", "/sign-in/second-factor/"
PASSWORD = "right-horse"
KEY = "3132333435363738393031323334353637383930"


@pytest.fixture(autouse=True)
def half_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes change with the clock, which stands still: a test that ran into the next half minute met other codes."""
    now = time.time()
    monkeypatch.setattr("django_otp.oath.time", lambda: now)
    monkeypatch.setattr("django_otp.plugins.otp_totp.models.time", SimpleNamespace(time=lambda: now))


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root", password=PASSWORD)


@pytest.fixture
def app(root: User) -> TOTPDevice:
    return TOTPDevice.objects.create(user=root, name="app", key=KEY)


@pytest.fixture
def required(settings: Any) -> None:
    settings.REQUIRE_SECOND_FACTOR = True


def code(*, steps: int = 0, key: str = KEY) -> str:
    """The code of an app, now or some half minutes from now."""
    return f"{totp(bytes.fromhex(key), drift=steps):06}"


def wrong(*, key: str = KEY) -> str:
    right = {code(steps=steps, key=key) for steps in range(-3, 4)}
    return next(text for n in range(9) if (text := f"{n:06}") not in right)


def with_password(name: str = "root") -> Client:
    client = Client()
    client.post(LOGIN, {"username": name, "password": PASSWORD})
    return client


def opens(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


def way(client: Client, address: str) -> list[str]:
    """Where a visitor is led, to the end."""
    answer = client.get(address, follow=True)
    return [place for place, _ in answer.redirect_chain] + [str(answer.status_code)]


def forget_waiting() -> None:
    for model in (TOTPDevice, StaticDevice):
        model.objects.update(throttling_failure_timestamp=timezone.now() - timedelta(days=1))


def test_a_password_alone_opens_nothing(app: TOTPDevice) -> None:
    client = with_password()
    assert way(client, "/admin/auth/user/") == [
        "/admin/login/?next=/admin/auth/user/", "/sign-in/code/?next=%2Fadmin%2Fauth%2Fuser%2F", "200"
    ]  # fmt: skip
    assert not opens(client)


def test_it_opens_with_the_code(app: TOTPDevice) -> None:
    client = with_password()
    answer = client.post(CODE, {"code": code(), "next": "/admin/auth/user/"})
    assert (answer.status_code, answer["Location"]) == (302, "/admin/auth/user/")
    assert opens(client)


def test_a_code_without_the_password_opens_nothing(app: TOTPDevice) -> None:
    client = Client()
    assert client.post(CODE, {"code": code()})["Location"] == "/admin/"
    assert not opens(client)
    assert TOTPDevice.objects.get().last_t == -1


def test_a_code_is_taken_once(app: TOTPDevice) -> None:
    used = code()
    assert with_password().post(CODE, {"code": used}).status_code == 302
    again = with_password()
    assert again.post(CODE, {"code": used}).status_code == 200
    assert not opens(again)


def test_a_code_before_the_used_one_is_not_taken_either(app: TOTPDevice) -> None:
    assert with_password().post(CODE, {"code": code(steps=1)}).status_code == 302
    assert with_password().post(CODE, {"code": code()}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_of_two_who_send_a_code_at_once_one_is_let_in(app: TOTPDevice) -> None:
    clients, used = [with_password() for _ in range(4)], code()

    def send(client: Client) -> int:
        try:
            return client.post(CODE, {"code": used}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(send, clients))
    assert answers.count(302) == 1


def test_a_hundred_wrong_codes_are_not_all_looked_at(app: TOTPDevice) -> None:
    client = with_password()
    answers = [client.post(CODE, {"code": wrong()}).status_code for _ in range(100)]
    assert (answers[0], set(answers)) == (200, {200, 429})
    assert answers.count(200) == TOTPDevice.objects.get().throttling_failure_count < 10
    app.refresh_from_db()
    app.throttling_failure_count, app.throttling_failure_timestamp = 10, timezone.now()
    app.save()
    assert with_password().post(CODE, {"code": code()}).status_code == 429


def test_guessing_does_not_lock_an_account_for_years(app: TOTPDevice) -> None:
    TOTPDevice.objects.update(throttling_failure_count=40, throttling_failure_timestamp=timezone.now())
    assert factors.wait_of(app.user, code="123456") == 2**12
    TOTPDevice.objects.update(throttling_failure_timestamp=timezone.now() - timedelta(hours=2))
    assert with_password().post(CODE, {"code": code()}).status_code == 302


def test_the_password_counts_for_a_quarter_of_an_hour(app: TOTPDevice) -> None:
    client = with_password()
    User.objects.update(last_login=timezone.now() - timedelta(minutes=16))
    assert client.post(CODE, {"code": code()})["Location"] == "/admin/"
    assert not opens(client)
    assert way(client, "/admin/") == ["/admin/login/?next=/admin/", "200"]


def test_nobody_sets_up_an_app_of_their_own_with_the_password_alone(app: TOTPDevice) -> None:
    client = with_password()
    assert client.get(SET_UP)["Location"] == f"{CODE}?next=%2Fadmin%2F"
    session = client.session
    session["second_factor_key"] = "aa" * 20
    session.save()
    assert client.post(SET_UP, {"code": code(key="aa" * 20)}).status_code == 302
    assert list(TOTPDevice.objects.values_list("key", flat=True)) == [KEY]
    assert not opens(client)


def test_no_page_leads_on_to_another_site(app: TOTPDevice) -> None:
    for elsewhere in ("https://evil.example/", "//evil.example", "javascript:alert(1)", "/\\evil.example"):
        client = with_password()
        assert "evil" not in client.get(f"{CODE}?next={elsewhere}").content.decode()
        forget_waiting()
        TOTPDevice.objects.update(last_t=-1)
        assert client.post(CODE, {"code": code(), "next": elsewhere})["Location"] == "/admin/"


def test_whoever_has_no_factor_is_led_to_setting_one_up_and_nowhere_else(root: User, required: None) -> None:
    client = with_password()
    assert way(client, "/admin/") == [
        "/admin/login/?next=/admin/", "/sign-in/second-factor/?next=%2Fadmin%2F", "200"
    ]  # fmt: skip
    for address in (
        "/admin/",
        "/admin/auth/user/",
        "/admin/password_change/",
        "/import/",
        "/books/",
        "/batches/1/",
    ):
        assert client.get(address)["Location"].startswith(LOGIN)


def test_sessions_from_before_the_setting_are_asked_too(root: User, settings: Any) -> None:
    client = with_password()
    assert opens(client)
    settings.REQUIRE_SECOND_FACTOR = True
    assert not opens(client)


def test_setting_up(root: User, required: None) -> None:
    client = with_password()
    page = client.get(SET_UP).content.decode()
    key = client.session["second_factor_key"]
    assert "qr-card" in page
    assert "no-store" in client.get(SET_UP)["Cache-Control"]
    assert client.session["second_factor_key"] == key
    assert client.post(SET_UP, {"code": wrong(key=key)}).status_code == 200
    assert not TOTPDevice.objects.exists()
    used = code(key=key)
    codes = client.post(SET_UP, {"code": f"{used[:3]} {used[3:]}"}).context["codes"]
    assert len(set(codes)) == 10
    assert opens(client)
    assert "second_factor_key" not in client.session
    again = with_password()
    assert again.post(CODE, {"code": used}).status_code == 200
    forget_waiting()
    assert again.post(CODE, {"code": code(steps=1, key=key)}).status_code == 302


# -- A session that was left open ----------------------------------------------------------------------------------


@pytest.fixture
def left_open(root: User) -> Client:
    """Signed in this morning."""
    client = with_password()
    session = client.session
    session["proven_at"] -= 16 * 60
    session.save()
    return client


def test_an_open_session_sets_no_app_up(left_open: Client) -> None:
    """Whoever sits down there would lock the owner out, with an app of their own."""
    page = left_open.get(SET_UP)
    assert ("qr-card" in page.content.decode(), "second_factor_key" in left_open.session) == (False, False)
    session = left_open.session
    session["second_factor_key"] = KEY
    session.save()
    for sent in ({"code": code()}, {"code": code(), "password": "wrong"}):
        assert left_open.post(SET_UP, sent).status_code == 200
    assert not TOTPDevice.objects.exists()


def test_the_owner_gives_the_password_once_more(left_open: Client) -> None:
    answer = left_open.post(SET_UP, {"password": "wrong-horse", "next": "/books/"})
    assert "This is not the password of your account." in answer.content.decode()
    answer = left_open.post(SET_UP, {"password": PASSWORD, "next": "/books/"})
    assert (answer.status_code, answer["Location"]) == (302, f"{SET_UP}?next=%2Fbooks%2F")
    assert "qr-card" in left_open.get(SET_UP).content.decode()
    key = left_open.session["second_factor_key"]
    assert len(left_open.post(SET_UP, {"code": code(key=key)}).context["codes"]) == 10


def test_that_the_owner_signs_in_elsewhere_opens_nothing_there(left_open: Client, required: None) -> None:
    assert "qr-card" in with_password().get(SET_UP).content.decode()
    assert "qr-card" not in left_open.get(SET_UP).content.decode()


def test_passwords_are_not_guessed_there_either(left_open: Client) -> None:
    answers = [left_open.post(SET_UP, {"password": "wrong"}).status_code for _ in range(11)]
    assert answers == [200] * 10 + [429]
    assert left_open.post(SET_UP, {"password": PASSWORD}).status_code == 429


def test_a_wrong_password_at_the_sign_in_proves_nothing(left_open: Client) -> None:
    left_open.post(LOGIN, {"username": "root", "password": "wrong"})
    assert "qr-card" not in left_open.get(SET_UP).content.decode()


# -- Set up --------------------------------------------------------------------------------------------------------


def test_a_secret_that_was_looked_at_is_nobody_elses(root: User, required: None) -> None:
    """Who knows the password and looks at a QR code must not have the secret that its owner sets up later."""
    stranger, owner = with_password(), with_password()
    keys = {(client.get(SET_UP), client.session["second_factor_key"])[1] for client in (stranger, owner)}
    assert len(keys) == 2


def test_of_two_who_set_an_app_up_at_once_one_has_it(root: User) -> None:
    other = "aa" * 20
    assert factors.enrol(root, key=KEY, code=code()) is not None
    assert factors.enrol(root, key=other, code=code(key=other)) is None
    assert list(TOTPDevice.objects.values_list("key", flat=True)) == [KEY]


def test_recovery_codes_work_once_each_and_new_ones_make_them_void(app: TOTPDevice, root: User) -> None:
    first, second, *_ = factors.new_recovery_codes(root)
    assert with_password().post(CODE, {"code": first.upper()}).status_code == 302
    assert with_password().post(CODE, {"code": first}).status_code == 200
    forget_waiting()
    factors.new_recovery_codes(root)
    assert with_password().post(CODE, {"code": second}).status_code == 200


def test_wrong_codes_of_the_app_do_not_make_recovery_codes_wait(app: TOTPDevice, root: User) -> None:
    recovery, *_ = factors.new_recovery_codes(root)
    client = with_password()
    assert [client.post(CODE, {"code": wrong()}).status_code for _ in range(2)] == [200, 429]
    assert client.post(CODE, {"code": recovery}).status_code == 302


@pytest.mark.parametrize("text", ["", " ", "x" * 500, "\0", "１２３４５６", "-12345", "0x1234"])
def test_what_is_no_code_is_refused_with_a_sentence(app: TOTPDevice, text: str) -> None:
    client = with_password()
    assert client.post(CODE, {"code": text}).status_code == 200
    assert not opens(client)


def test_a_session_alone_neither_removes_the_app_nor_shows_codes(app: TOTPDevice, root: User) -> None:
    client = with_password()
    client.post(CODE, {"code": code()})
    for do in ("remove", "codes"):
        assert client.post(SET_UP, {"do": do}).status_code == 200
        assert client.post(SET_UP, {"do": do, "code": wrong()}).status_code in {200, 429}
    assert (TOTPDevice.objects.count(), StaticDevice.objects.count()) == (1, 0)


def test_removing_the_app_with_a_code_of_it(app: TOTPDevice, required: None) -> None:
    client = with_password()
    client.post(CODE, {"code": code()})
    assert client.post(SET_UP, {"do": "remove", "code": code(steps=1)})["Location"] == SET_UP
    assert way(client, "/admin/")[-2:] == ["/sign-in/second-factor/?next=%2Fadmin%2F", "200"]


def test_nobody_is_asked_where_it_is_neither_set_up_nor_required(root: User) -> None:
    assert opens(with_password())


def test_leaving_forgets_the_password(app: TOTPDevice) -> None:
    client = with_password()
    client.post("/sign-in/leave")
    assert way(client, "/admin/") == ["/admin/login/?next=/admin/", "200"]


def test_the_admin_shows_no_secrets_and_adds_no_phones(root: User) -> None:
    client = with_password()
    assert [
        client.get(f"/admin/{name}/").status_code
        for name in ("otp_totp/totpdevice", "otp_static/staticdevice", "otp_totp/totpdevice/add")
    ] == [404] * 3


def test_commands_ask_for_nothing(app: TOTPDevice, required: None) -> None:
    out = StringIO()
    call_command("create_roles", stdout=out)
    call_command("reset_second_factor", "root", stdout=out)
    assert not TOTPDevice.objects.exists()


def test_pages_of_annotators_are_open_to_whoever_owes_a_factor(app: TOTPDevice) -> None:
    assert with_password().get("/appeals/").status_code == Client().get("/appeals/").status_code == 200


def test_no_page_of_ours_is_read_with_the_password_alone(app: TOTPDevice) -> None:
    """What a stranger is sent to the sign-in for, so is who owes a factor."""
    client, stranger = with_password(), Client()
    for pattern in urlpatterns:
        address = "/" + str(pattern.pattern).replace("<int:pk>", "1").replace("<int:worker_pk>", "1")
        if "<" not in address and not address.startswith("/sign-in/"):
            assert client.get(address).status_code == stranger.get(address).status_code, address


def test_no_step_has_scripts_or_styles_in_its_page(root: User, required: None) -> None:
    """Neither would run under a strict Content-Security-Policy."""
    client = with_password()
    pages = [Client().get(LOGIN), client.get(SET_UP)]
    key = client.session["second_factor_key"]
    pages += [client.post(SET_UP, {"code": code(key=key)}), client.get(SET_UP), with_password().get(CODE)]
    for page in pages:
        text = page.content.decode()
        assert page.status_code == 200
        assert re.findall(r"<script(?![^>]*\ssrc=)|<style|\son[a-z]+=|\sstyle=", text) == []
