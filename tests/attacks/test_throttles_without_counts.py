"""Redis is flushed, or away, while somebody guesses: throttles begin anew, or let nobody in; they never let all in."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.cache.backends.redis import RedisCache
from django.test import Client
from django.urls import reverse
from redis.exceptions import ConnectionError as RedisConnectionError

from annotators.crowds.links.addresses import CODE_ALPHABET
from surveys.answering.throttling import NotCounting, Throttle
from surveys.api import tokens
from surveys.models import Batch
from tests.link_people import invite_one
from tests.link_study import path_of

AWAY = {
    "BACKEND": "django.core.cache.backends.redis.RedisCache",
    "LOCATION": "redis://127.0.0.1:1",  # tcpmux: nothing listens there
    "OPTIONS": {"socket_connect_timeout": 1},
}
NO_CODE = "-".join(4 * [5 * CODE_ALPHABET[0]])  # well written, and nobody's
Door = Callable[[str], int]


@pytest.fixture(params=["link", "staff"])
def door(request: pytest.FixtureRequest, link_batch: Batch) -> Door:
    """What a door answers to a guess; "right" is the right one, and opens with 302 or 303."""
    invited = invite_one(link_batch, "Ada")
    User.objects.create_superuser("root", password="right-horse")

    def by_link(guess: str) -> int:
        code = invited.access_code if guess == "right" else guess
        address = reverse("link_sign_in", args=[link_batch.pk])
        return Client().post(address, {"name": "Ada", "access_code": code}).status_code

    def by_password(guess: str) -> int:
        password = "right-horse" if guess == "right" else guess
        return Client().post("/admin/login/", {"username": "root", "password": password}).status_code

    return {"link": by_link, "staff": by_password}[request.param]


def is_open(status: int) -> bool:
    return status in (302, 303)


@pytest.mark.django_db
def test_flushed_counts_begin_anew(door: Door) -> None:
    for _ in range(2):
        answers = [door("wrong") for _ in range(12)]
        assert (answers[0] == 429, answers[-1], door("right")) == (False, 429, 429)
        cache.clear()
    assert is_open(door("right"))


@pytest.mark.django_db
def test_counts_flushed_at_every_moment_let_no_wrong_guess_in(door: Door) -> None:
    for _ in range(12):
        assert not is_open(door("wrong"))
        cache.clear()
    assert is_open(door("right"))


@pytest.mark.django_db
def test_while_nobody_can_count_nobody_gets_in(door: Door, settings: Any) -> None:
    settings.CACHES = {**settings.CACHES, "default": AWAY}
    assert [door(guess) for guess in ("wrong", "right", "wrong")] == [503] * 3


@pytest.mark.django_db
def test_nobody_is_told_of_attempts_that_were_not_made(link_batch: Batch, settings: Any) -> None:
    """Neither is any guess looked at: an appeal's code, a password once more, a token's requests."""
    invited = invite_one(link_batch, "Ada")
    root = User.objects.create_superuser("root", password="right-horse")
    _, token = tokens.make(root, name="nightly", expires_at=None, is_read_only=True)
    inside = Client()
    inside.force_login(root)
    settings.CACHES = {**settings.CACHES, "default": AWAY}
    link = reverse("link_sign_in", args=[link_batch.pk])
    right = {"password": "right-horse"}
    answers = [
        (Client().post("/admin/login/", {"username": "root", **right}), "Nobody can sign in right now"),
        (
            Client().post(link, {"name": "Ada", "access_code": invited.access_code}),
            "Nobody can sign in right",
        ),
        (
            Client().get(reverse("appeal", args=[NO_CODE])),
            "No code can be looked at right now",
        ),
        (inside.post(reverse("second_factor"), right), "Nobody can sign in right now"),
        (Client().get("/api/v1/studies", headers={"Authorization": f"Bearer {token}"}), ":unavailable"),
    ]
    told = [
        (answer.status_code, answer["Retry-After"], text in answer.content.decode())
        for answer, text in answers
    ]
    assert told == [(503, "60", True)] * 5
    assert not any("Too many" in answer.content.decode() for answer, _ in answers)


@pytest.mark.django_db
def test_who_has_a_link_works_on_meanwhile(link_batch: Batch, settings: Any) -> None:
    path = path_of(invite_one(link_batch, "Ada"))
    settings.CACHES = {**settings.CACHES, "default": AWAY}
    assert Client().get(path).status_code == 200
    assert Client().post(path, {"number": ""}).status_code == 303


def test_a_count_that_is_flushed_while_it_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between Redis's "it is there" and the increment it was flushed: the guess is counted as the first."""
    throttle, added = Throttle("test", limit=1, seconds=60), cache.add
    cache.clear()
    answers = iter([False])
    monkeypatch.setattr(cache, "add", lambda *args, **named: next(answers, None) or added(*args, **named))
    throttle.count()
    assert throttle.is_closed()


def test_a_cache_that_goes_away_while_it_is_asked(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.CACHES = {**settings.CACHES, "default": AWAY}

    def broken(*args: Any, **named: Any) -> None:
        raise RedisConnectionError("reset by peer")

    monkeypatch.setattr(RedisCache, "get", broken)
    with pytest.raises(NotCounting):
        Throttle("test", limit=1, seconds=60).is_closed()
