"""A server of its own for one rehearsal, and the marketplace's control API on it.

An empty data folder, a free port, and the processes of the app; workers from a seed, a clock that can be moved, the
ledger.
"""

import hashlib
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import FrameType
from typing import Any

import urllib3
from django.conf import settings
from django.core.management import call_command

from surveys.operations.processes.forked import FORKING, as_copies
from surveys.operations.processes.stack import WORKER_READY, addresses, free_port, stack
from surveys.operations.processes.supervisor import STOP_SIGNALS, Supervisor, ending_with_us

FUNDS = "marketplace_demo"
# What would make the stage reach into the data of whoever calls it.
OUTSIDE = (
    "DATABASE_URL",
    "REDIS_URL",
    "ASSENT_MEDIA_DIR",
    "ALLOWED_HOSTS",
    "TRUST_PROXY",
    "SECRET_KEY",
    "DEBUG",
)
SYNC_SECONDS = 10
STATE = "state"


def environment(folder: Path, *, seed: int) -> dict[str, str]:
    """Return the whole environment of a rehearsal that keeps its data in `folder`.

    The secret key follows from the seed, so that workers have the same pseudonyms again; it guards nothing but a few
    minutes of simulated data on loopback.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in OUTSIDE}
    return {
        **inherited,
        **addresses(free_port()),
        "ASSENT_DATA_DIR": str(folder),
        "SECRET_KEY": hashlib.sha256(f"rehearsal:{seed}".encode()).hexdigest(),
        "ASSENT_SYNC_SECONDS": str(SYNC_SECONDS),
        "MARKETPLACE_CONTROL_TOKEN": secrets.token_urlsafe(24),
        "LOG_LEVEL": "WARNING",
        "NO_PROXY": "127.0.0.1,localhost",
        "ASSENT_WORKER_READY_FILE": str(folder / STATE / WORKER_READY),
        **FORKING,
    }


def run_there(arguments: Sequence[str], *, folder: Path, seed: int) -> int:
    """Run a management command with its data in `folder`. Returns its exit code.

    A request to stop is passed on, once, as Ctrl-C; the command then stops what it started.
    """
    with _stop_requests() as pass_on:
        child = subprocess.Popen(
            [sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments],
            env=environment(folder, seed=seed),
            start_new_session=True,
            preexec_fn=ending_with_us(),
        )
        pass_on.append(lambda: child.send_signal(signal.SIGINT))
        return child.wait()


@contextmanager
def _stop_requests() -> Iterator[list[Callable[[], None]]]:
    """Yield a list; what is in it is called, and taken out, when this process is asked to stop."""
    actions: list[Callable[[], None]] = []

    def stop(number: int, frame: FrameType | None) -> None:
        while actions:
            actions.pop()()

    before = {number: signal.signal(number, stop) for number in STOP_SIGNALS}
    try:
        yield actions
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def running() -> Iterator[Supervisor]:
    """Prepare this process's own data folder and keep web, worker and beat running.

    On Linux web and worker are copies of this process, which has loaded most of the site already.
    """
    call_command("migrate", verbosity=0)
    call_command("loaddata", FUNDS, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    port = int(settings.APP_URL.rsplit(":", 1)[1])
    processes = stack(port=port, environment={}, state_dir=settings.DATA_DIR / STATE)
    with Supervisor(as_copies(processes, environment={}), log_dir=settings.DATA_DIR / "logs") as supervisor:
        yield supervisor


class ControlError(Exception):
    """The control API refused; the message is its own."""


@dataclass(frozen=True, slots=True)
class Control:
    url: str
    token: str
    pool: urllib3.PoolManager

    def workers(self, *, count: int, seed: int) -> list[tuple[str, str]]:
        """Return the first `count` (worker id, access code) of a seed, made where they did not exist."""
        made = self._call("POST", "workers", {"count": count, "seed": seed})
        return [(worker["worker_id"], worker["access_code"]) for worker in made]

    def advance(self, *, seconds: int) -> None:
        """Let time pass on the marketplace: what was abandoned runs out."""
        self._call("POST", "advance", {"seconds": seconds})

    def charged(self) -> Decimal:
        """Return the dollars charged to all requesters, fees included. ControlError if the books don't balance."""
        ledger = self._call("GET", "ledger")
        problems = [problem for row in ledger["requesters"] for problem in row["problems"]]
        if problems or not ledger["is_sound"]:
            raise ControlError(f"The marketplace's ledger is not sound: {' '.join(problems)}")
        return sum((Decimal(row["charged"]) for row in ledger["requesters"]), Decimal(0))

    def _call(self, method: str, name: str, data: dict[str, Any] | None = None) -> Any:
        response = self.pool.request(
            method,
            f"{self.url}/control/{name}",
            body=json.dumps(data).encode() if data is not None else None,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        if response.status != 200:
            raise ControlError(f"{method} /control/{name}: {response.status} {response.data[:300].decode()}")
        return json.loads(response.data)
