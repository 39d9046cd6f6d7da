"""Wrong guesses are counted for each key, for a while."""

import time

import pytest
from django.core.cache import cache

from surveys.answering.throttling import Throttle


@pytest.fixture(autouse=True)
def no_guesses():
    cache.clear()


def test_after_as_many_guesses_it_is_closed_for_that_key_alone():
    throttle = Throttle("door", limit=2, seconds=60)
    throttle.count("ann")
    assert throttle.is_closed("ann") is False
    throttle.count("ann")
    assert throttle.is_closed("ann") is True
    assert throttle.is_closed("bob") is False
    assert Throttle("window", limit=2, seconds=60).is_closed("ann") is False


def test_it_opens_again(monkeypatch, settings):
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    throttle = Throttle("door", limit=1, seconds=60)
    throttle.count()
    assert throttle.is_closed() is True
    now = time.time
    monkeypatch.setattr("django.core.cache.backends.locmem.time.time", lambda: now() + 61)
    assert throttle.is_closed() is False


def test_a_count_that_runs_out_meanwhile_begins_anew(monkeypatch):
    throttle = Throttle("door", limit=2, seconds=60)
    throttle.count()

    def gone(entry: str) -> None:
        cache.delete(entry)
        raise ValueError

    monkeypatch.setattr(cache, "incr", gone)
    throttle.count()
    assert throttle.is_closed() is False


def test_keys_are_kept_by_their_hash_whatever_is_in_them():
    throttle = Throttle("door", limit=1, seconds=60)
    throttle.count("a b\x00\ud800" + "x" * 500)
    assert throttle.is_closed("a b\x00\ud800" + "x" * 500) is True
