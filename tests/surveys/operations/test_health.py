"""/readyz: four parts, each with its state; every one of them taken away."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from django.conf import settings as django_settings
from django.core.cache import caches
from django.db import connection
from django.test import Client
from kombu import Connection

from config.celery import app, tell_beating
from surveys import sync
from surveys.operations import gauges, health
from surveys.operations.processes.stack import beat
from surveys.operations.processes.supervisor import Supervisor
from tests.services_site import Site, a_worker, database_environment

APP = {"host": "127.0.0.1"}


@pytest.fixture(autouse=True)
def _unheard_of() -> Iterator[None]:
    caches["heartbeats"].clear()
    yield
    caches["heartbeats"].clear()


def ask() -> tuple[int, dict[str, Any]]:
    response = Client().get("/readyz", headers=APP)
    return response.status_code, response.json()


def states() -> dict[str, object]:
    return {name: check["state"] for name, check in ask()[1]["checks"].items()}


def seen(name: str, *, ago: float) -> None:
    caches["heartbeats"].set(name, time.time() - ago, timeout=None)


def both_alive() -> None:
    health.mark(health.WORKER)
    health.mark(health.BEAT)


@pytest.mark.django_db
def test_all_four_are_there() -> None:
    both_alive()
    status, answer = ask()
    ages = [answer["checks"][name].pop("age_seconds") for name in ("worker", "beat")]
    assert (status, answer["status"]) == (200, "ready")
    assert answer["checks"] == {name: {"state": "ok"} for name in ("database", "broker", "worker", "beat")}
    assert all(isinstance(age, float) for age in ages)


@pytest.mark.django_db
def test_it_says_which_version_answers(settings: Any) -> None:
    settings.VERSION = "1.2.3"
    assert ask()[1]["version"] == "1.2.3"


@pytest.mark.django_db
def test_nobody_has_started_yet() -> None:
    status, answer = ask()
    assert (status, answer["status"]) == (503, "not ready")
    assert answer["checks"]["beat"] == {"state": "never", "age_seconds": None}
    assert answer["checks"]["worker"] == {"state": "unknown", "age_seconds": None}


@pytest.mark.django_db
def test_a_worker_that_takes_nothing_is_stale() -> None:
    seen("worker", ago=1000)
    seen("beat", ago=1)
    assert (ask()[0], states()["worker"], states()["beat"]) == (503, "stale", "ok")


@pytest.mark.django_db
def test_without_beat_nobody_knows_about_an_idle_worker() -> None:
    seen("worker", ago=1000)
    seen("beat", ago=1000)
    assert (ask()[0], states()["worker"], states()["beat"]) == (503, "unknown", "stale")


@pytest.mark.django_db
@pytest.mark.parametrize(("ago", "state"), [(55, "ok"), (65, "stale")])
def test_four_heartbeats_may_be_missing(settings: Any, ago: float, state: str) -> None:
    settings.HEARTBEAT_SECONDS = 15
    seen("beat", ago=ago)
    assert states()["beat"] == state


@pytest.mark.django_db
def test_a_clock_that_was_set_back_makes_no_negative_age() -> None:
    seen("beat", ago=-3)
    assert health.pulse("beat") == health.Pulse("ok", 0.0)


@pytest.mark.django_db
def test_a_mark_from_the_future_shows_nobody_alive() -> None:
    """The clock jumped ahead and was put right: who was marked then may have died since."""
    seen("beat", ago=-7200)
    seen("worker", ago=-7200)
    assert health.pulse("beat") == health.Pulse("stale", None)
    assert (ask()[0], states()["beat"]) == (503, "stale")
    assert b'heartbeat_age_seconds{process="beat"}' not in gauges.measure()
    both_alive()
    assert states()["beat"] == "ok"


def test_the_database_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise ConnectionError("password=hunter2 at db.internal")

    monkeypatch.setattr(connection, "cursor", refuse)
    both_alive()
    response = Client().get("/readyz", headers=APP)
    assert response.status_code == 503
    assert {name: check["state"] for name, check in response.json()["checks"].items()} == {
        "database": "down",
        "broker": "ok",
        "worker": "ok",
        "beat": "ok",
    }
    assert b"hunter2" not in response.content
    assert b"internal" not in response.content


def nowhere(folder: Path) -> Connection:
    """A connection of the session's kind of broker, to where none is."""
    if django_settings.REDIS_URL:
        return Connection("redis://:hunter2@127.0.0.1:1/0")
    gone = {"data_folder_in": str(folder / "hunter2"), "data_folder_out": str(folder / "hunter2")}
    transport = django_settings.CELERY_BROKER_TRANSPORT
    return Connection("filesystem://localhost", transport=transport, transport_options=gone)


@pytest.fixture
def no_broker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(app, "connection_for_read", lambda: nowhere(tmp_path))


@pytest.mark.django_db
@pytest.mark.usefixtures("no_broker")
def test_the_broker_is_down() -> None:
    both_alive()
    response = Client().get("/readyz", headers=APP)
    assert (response.status_code, response.json()["checks"]["broker"]) == (503, {"state": "down"})
    assert response.json()["checks"]["database"] == {"state": "ok"}
    assert b"hunter2" not in response.content


@pytest.mark.django_db
def test_marks_that_cannot_be_read_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ConnectionError

    monkeypatch.setattr("surveys.operations.health.pulse", refuse)
    assert states() == {"database": "ok", "broker": "ok", "worker": "unknown", "beat": "unknown"}


def test_the_marketplaces_host_has_no_such_addresses(settings: Any) -> None:
    for path in ("/readyz", "/metrics", "/healthz"):
        assert Client().get(path, headers={"host": settings.MARKETPLACE_HOST}).status_code == 404


def test_it_can_only_be_read() -> None:
    assert Client().post("/readyz", headers=APP).status_code == 405


@pytest.mark.usefixtures("eager")
def test_any_task_shows_that_a_worker_is_alive() -> None:
    sync.heartbeat.delay()
    assert health.pulse("worker").state == "ok"


def test_who_sends_the_heartbeat_is_alive() -> None:
    tell_beating()
    assert (health.pulse("beat").state, health.pulse("worker").state) == ("ok", "never")


def answers(site: Site) -> tuple[int, str]:
    try:
        with urlopen(f"{site.app_url}/readyz") as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def until(site: Site, status: int, said: str, *, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found, text = answers(site)
        if found == status and said in text:
            return
        time.sleep(0.2)
    pytest.fail(f"no {status} with {said} within {seconds} s, but {answers(site)}")


@pytest.fixture
def every_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSENT_HEARTBEAT_SECONDS", "1")


@pytest.mark.processes
def test_real_processes_come_and_go(every_second: None, running_site: Site, tmp_path: Path) -> None:
    """gunicorn, a forking worker and beat: ready; the worker killed, then beat: not ready, and it says who."""
    site = running_site
    until(site, 503, '"beat": {"state": "never"')
    with Supervisor([beat(environment=database_environment())], log_dir=tmp_path / "beat") as clock:
        until(site, 200, '"ready"')
        site.supervisor.children["worker"].kill()
        until(site, 503, '"worker": {"state": "stale"')
        with Supervisor([a_worker(tmp_path, environment={})], log_dir=tmp_path / "again"):
            until(site, 200, '"ready"')
            clock.children["beat"].kill()
            until(site, 503, '"beat": {"state": "stale"')
            until(site, 503, '"worker": {"state": "unknown"')
