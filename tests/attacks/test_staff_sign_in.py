"""Guessing a researcher's password is held up, for a name and for an address; nobody else is."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

PAGE = "/admin/login/"


@pytest.fixture(autouse=True)
def root(db: None) -> User:
    return User.objects.create_superuser("root", password="right-horse")


def sign_in(
    name: str = "root", password: str = "wrong", *, address: str = "192.0.2.1", **headers: str
) -> int:
    client = Client(REMOTE_ADDR=address, headers=headers)
    return client.post(PAGE, {"username": name, "password": password}).status_code


def test_a_hundred_wrong_passwords_are_not_all_answered() -> None:
    answers = [sign_in() for _ in range(100)]
    assert (answers[:10], set(answers[10:])) == ([200] * 10, {429})
    assert sign_in(password="right-horse") == 429
    assert sign_in("ROOT", "right-horse") == 429


def test_who_guesses_keeps_nobody_out_who_signs_in_from_elsewhere() -> None:
    for _ in range(20):
        sign_in()
    assert sign_in(password="right-horse", address="192.0.2.2") == 302


def test_guessing_one_password_for_many_names_is_held_up() -> None:
    assert {sign_in(f"name{n}") for n in range(50)} == {200}
    assert sign_in(password="right-horse") == 429


def test_guessing_from_everywhere_is_held_up() -> None:
    for n in range(100):
        sign_in(address=f"198.51.100.{n}")
    assert sign_in(password="right-horse", address="192.0.2.2") == 429


def test_a_proxy_that_does_not_tell_who_comes_locks_nobody_else_out(settings) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    proto = {"x-forwarded-proto": "https"}
    assert {sign_in(f"name{n}", **proto) for n in range(60)} == {200}
    assert sign_in(password="right-horse", **proto) == 302


def test_the_right_password_is_not_counted() -> None:
    assert {sign_in(password="right-horse") for _ in range(12)} == {302}
