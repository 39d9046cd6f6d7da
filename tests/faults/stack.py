"""A site of its own for the crash tests: PostgreSQL, Redis, web, worker and beat, each of which can die alone."""

import dataclasses
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import dj_database_url
import redis
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.db.utils import ConnectionHandler
from django.test import override_settings

from surveys.operations.processes.stack import addresses, beat, free_port, web, worker
from surveys.operations.processes.supervisor import Process, Supervisor
from tests.services_postgres import Postgres
from tests.services_redis import Redis
from tests.services_template import DATABASE, migrated

CONTROL_TOKEN = "for-rehearsals-only"
SYNC_SECONDS = 1
PATIENCE_SECONDS = 90
POLL_SECONDS = 0.08


class Stack:
    """The services by name, each under a supervisor of its own. `points` is the folder of failpoints."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.points = folder / "points"
        self.points.mkdir()
        self.postgres = Postgres(folder / "postgres", template=migrated())
        self.redis = Redis(folder / "redis")
        self.database_url = self.postgres.url_of(DATABASE)
        self.port = free_port()
        self.app_url, self.marketplace_url = addresses(self.port).values()
        self.supervisors: dict[str, Supervisor] = {}
        self.striking = threading.Lock()  # held while several services are killed as one

    def environment(self, **more: str) -> dict[str, str]:
        return {
            **addresses(self.port),
            "ASSENT_DATA_DIR": str(self.folder / "data"),
            "ASSENT_STATIC_DIR": str(settings.STATIC_ROOT),
            "ASSENT_FAILPOINTS": str(self.points),
            "ASSENT_SYNC_SECONDS": str(SYNC_SECONDS),
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis.url,
            "SECRET_KEY": settings.SECRET_KEY,
            "MARKETPLACE_CONTROL_TOKEN": CONTROL_TOKEN,
            **more,
        }

    def start(self) -> None:
        """Start the two services, put money into the requester's account; then start ours."""
        self.add(careful(self.postgres.process()))
        self.add(self.redis.process())
        with database(self.database_url):
            call_command("loaddata", "marketplace_demo", verbosity=0)
        self.add(web(port=self.port, environment=self.environment()))
        self.add(self.worker())
        self.add(beat(environment=self.environment()))

    def add(self, process: Process, *, name: str = "") -> None:
        process = dataclasses.replace(process, name=name or process.name)
        supervisor = Supervisor([process], log_dir=self.folder / "logs", grace_seconds=0)
        self.supervisors[process.name] = supervisor
        supervisor.start()
        supervisor.wait_ready()

    def replace(self, process: Process) -> None:
        """Run this one instead of the one of the same name."""
        self.kill(process.name)
        self.add(process)

    def remove(self, name: str) -> None:
        self.supervisors.pop(name).stop()

    def worker(self, **environment: str) -> Process:
        return worker(environment=self.environment(**environment), state_dir=self.folder, pool="prefork")

    def stop(self) -> None:
        for supervisor in reversed(self.supervisors.values()):
            supervisor.stop()

    def kill(self, name: str, *, by: signal.Signals = signal.SIGKILL) -> None:
        """End every process of a service at once."""
        child = self.supervisors[name].children[name]
        os.killpg(child.pid, by)
        child.wait()

    @contextmanager
    def suspended(self, name: str) -> Iterator[None]:
        """Keep a service from doing anything meanwhile."""
        child = self.supervisors[name].children[name]
        os.killpg(child.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(child.pid, signal.SIGCONT)

    def is_running(self, name: str) -> bool:
        return self.supervisors[name].children[name].poll() is None

    def revive(self) -> None:
        """Start what has died; a worker or web server whose child died does so itself.

        To be called by the main thread: on Linux what a thread has started ends with that thread.
        """
        with self.striking:
            dead = [name for name in self.supervisors if not self.is_running(name)]
        for name in dead:
            (self.folder / f"{name}-ready").unlink(missing_ok=True)
            self.supervisors[name].start()
            self.supervisors[name].wait_ready()

    def broker(self) -> "redis.Redis":
        return redis.Redis.from_url(self.redis.url)

    def story(self) -> str:
        """Say what each service last wrote, and what the broker holds: all that is left of it afterwards."""
        broker = self.broker()
        try:
            sizes = [f"{key!r}: {_length(broker, key)}" for key in broker.scan_iter()]
        except redis.RedisError as error:
            sizes = [repr(error)]
        ends = [f"{name}:\n{one.last_lines(name)}" for name, one in self.supervisors.items()]
        return "\n".join([f"Broker: {', '.join(sizes)}", *ends])


def _length(broker: "redis.Redis", key: bytes) -> str:
    """Return how many messages wait in a queue, or are not acknowledged yet; nothing of what is neither."""
    count = {b"list": broker.llen, b"hash": broker.hlen}.get(cast("bytes", broker.type(key)))
    return str(count(cast("str", key))) if count else "-"


def careful(postgres: Process) -> Process:
    """Have what is committed survive the server's own crash, which the other tests' server does without."""
    return dataclasses.replace(postgres, command=[*postgres.command, "-c", "synchronous_commit=on"])


@contextmanager
def database(url: str) -> Iterator[None]:
    """Point this process's ORM at another database."""
    before = connections["default"]
    handler = ConnectionHandler({"default": {**dj_database_url.parse(url), "CONN_MAX_AGE": None}})
    connections["default"] = handler["default"]
    try:
        yield
    finally:
        connections["default"].close()
        connections["default"] = before


@contextmanager
def at(stack: Stack) -> Iterator[None]:
    """Have this process speak of the stack's addresses and read its database."""
    ours = {"APP_URL": stack.app_url, "MARKETPLACE_URL": stack.marketplace_url, "REDIS_URL": stack.redis.url}
    with override_settings(**ours), database(stack.database_url):
        yield


def wait_until(is_so: Callable[[], bool], *, what: Callable[[], str]) -> float:
    """Return after how many seconds it was so; AssertionError says what was waited for."""
    started = time.monotonic()
    while not is_so():
        assert time.monotonic() - started < PATIENCE_SECONDS, f"Waited {PATIENCE_SECONDS} s: {what()}"
        time.sleep(POLL_SECONDS)
    return time.monotonic() - started
