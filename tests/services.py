"""A pytest plugin: a real PostgreSQL and a real Redis for the session, there before Django reads its settings.

Loaded with `-p tests.services`: a conftest would be too late, as pytest-django imports the settings first.
ASSENT_TEST_DATABASE=sqlite tests the embedded default (SQLite, filesystem broker) instead. What can't start fails.
"""

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from surveys.operations.processes.supervisor import ProcessError, Supervisor
from tests.services_postgres import Postgres
from tests.services_redis import Redis
from tests.services_template import migrated

CHOICE = "ASSENT_TEST_DATABASE"
TRIES = 3
# What a developer's shell may hold and a test must not see; the choice of the database is for pytest's workers too.
OURS = ("ASSENT_", "MARKETPLACE_")
OTHERS = {
    "DATABASE_URL",
    "REDIS_URL",
    "SECRET_KEY",
    "DEBUG",
    "ALLOWED_HOSTS",
    "TRUST_PROXY",
    "SECURE_HSTS_SECONDS",
    "SECURE_HSTS_INCLUDE_SUBDOMAINS",
    "SECURE_HSTS_PRELOAD",
    "TIME_ZONE",
    "LOG_LEVEL",
    "LOG_FORMAT",
    "METRICS_TOKEN",
}


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Start the services; the wrapper runs before pytest-django's own hook, which imports the settings."""
    if not early_config.known_args_namespace.help:
        wants_sqlite = os.environ.get(CHOICE) == "sqlite" or only_hands_out(early_config)
        folder = Path(tempfile.mkdtemp(prefix="assent-test-"))
        early_config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        forget_environment()
        services: Mapping[str, str] = {} if wants_sqlite else start(folder, early_config)
        os.environ.update({**places(folder), **services})
    yield


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave what all tests share, their modules and themselves, to no search for garbage: a tenth of the processor."""
    gc.collect()
    gc.freeze()


def only_hands_out(config: pytest.Config) -> bool:
    """Tell whether this process runs no test itself: with `-n`, its workers do, each with services of its own."""
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    return bool(getattr(config.known_args_namespace, "numprocesses", None)) and not is_worker


def start(folder: Path, config: pytest.Config) -> dict[str, str]:
    """Start PostgreSQL and Redis with their data in `folder` until the session ends; return their addresses.

    A port that is free when it is chosen may be another's when the server asks for it: then on other ports. What
    the last try says is raised as ProcessError.
    """
    folder.chmod(0o755)  # PostgreSQL runs under another account when root runs the tests
    for n in range(1, TRIES):
        with suppress(ProcessError):
            return started(folder / str(n), config)
    return started(folder / str(TRIES), config)


def started(folder: Path, config: pytest.Config) -> dict[str, str]:
    """Start both with their data in `folder`, a new one; ProcessError if one of them does not come up."""
    folder.mkdir(mode=0o755)
    postgres, redis = Postgres(folder / "postgres", template=migrated()), Redis(folder / "redis")
    supervisor = Supervisor([postgres.process(), redis.process()], log_dir=folder / "logs")
    config.add_cleanup(lambda: stop(supervisor))
    with ExitStack() as stack:
        stack.callback(stop, supervisor)
        supervisor.start()
        supervisor.wait_ready()
        stack.pop_all()
    return {"DATABASE_URL": postgres.url, "REDIS_URL": redis.url}


def stop(supervisor: Supervisor) -> None:
    """Stop both. SIGTERM alone would have PostgreSQL wait for the tests' own connections, until it is killed.

    https://www.postgresql.org/docs/current/server-shutdown.html
    """
    if server := supervisor.children.get("postgres"):
        server.send_signal(signal.SIGINT)
    supervisor.stop()


def places(folder: Path) -> dict[str, str]:
    return {"ASSENT_DATA_DIR": str(folder / "data"), "ASSENT_MEDIA_DIR": str(folder / "media")}


def forget_environment() -> None:
    for name in list(os.environ):
        if name != CHOICE and (name.startswith(OURS) or name in OTHERS):
            del os.environ[name]


def pytest_report_header(config: pytest.Config) -> list[str]:
    if only_hands_out(config):
        return ["services: one set for each process"]
    database, broker = os.environ.get("DATABASE_URL", "SQLite"), os.environ.get("REDIS_URL", "filesystem")
    return [f"services: database {database}, broker {broker}"]
