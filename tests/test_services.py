"""The services of the test session are real, and the fixtures that run the site work."""

import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener, urlopen

import psycopg2
import pytest
import redis
from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.signals import request_finished, request_started
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from playwright.sync_api import Browser

from config.celery import app
from surveys.operations.processes.stack import free_port
from surveys.operations.processes.supervisor import ProcessError, Supervisor
from tests import services, services_browser, services_postgres, services_redis, services_template
from tests.services_live import refuse_open_pages, wait_until_answered
from tests.services_site import Site

on_sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
needs_services = pytest.mark.skipif(on_sqlite, reason="ASSENT_TEST_DATABASE=sqlite: there are no services")


@needs_services
@pytest.mark.django_db
def test_the_database_is_postgresql() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        assert int(cursor.fetchone()[0].split(".")[0]) >= 14


@needs_services
def test_the_broker_is_a_redis_server() -> None:
    server = redis.Redis.from_url(settings.REDIS_URL)
    assert server.info("server")["tcp_port"] == int(settings.REDIS_URL.rsplit(":", 1)[1].split("/")[0])
    assert settings.REDIS_URL == settings.CELERY_BROKER_URL


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that is open to the account PostgreSQL runs under when root runs the tests.

    Not pytest's own: what all of those lie in is closed again by each session that begins, and two run in the gate.
    """
    with tempfile.TemporaryDirectory(prefix="assent-services-", ignore_cleanup_errors=True) as name:
        place = Path(name)
        place.chmod(0o755)
        yield place


@pytest.fixture
def session() -> Iterator[SimpleNamespace]:
    """What `services.start` asks of pytest's config, for a session that ends with the test."""
    with ExitStack() as stack:
        yield SimpleNamespace(add_cleanup=stack.callback)


@needs_services
@pytest.mark.parametrize("server", ["redis", "postgres"])
def test_a_port_that_is_taken_meanwhile_is_left_to_whoever_has_it(
    server: str, folder: Path, session: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The port another server of that kind answers on, ours of this session, is offered first."""
    taken = {
        "redis": int(settings.REDIS_URL.rsplit(":", 1)[1].split("/")[0]),
        "postgres": int(connection.settings_dict["PORT"]),
    }[server]
    ports = iter([taken])
    kind = {"redis": services_redis, "postgres": services_postgres}[server]
    monkeypatch.setattr(kind, "free_port", lambda: next(ports, None) or free_port())
    places = services.start(folder, session)
    url = places["REDIS_URL" if server == "redis" else "DATABASE_URL"]
    assert f":{taken}/" not in url
    assert redis.Redis.from_url(places["REDIS_URL"]).ping()
    psycopg2.connect(places["DATABASE_URL"].removesuffix("assent") + "postgres").close()


@needs_services
@pytest.mark.django_db
def test_the_database_comes_with_every_migration_and_permission() -> None:
    plan = MigrationExecutor(connection).migration_plan(MigrationLoader(connection).graph.leaf_nodes())
    assert plan == []
    models = [model._meta for model in apps.get_models()]
    assert Permission.objects.count() == sum(
        len(model.default_permissions) + len(model.permissions) for model in models
    )


def test_so_does_the_file_that_is_copied() -> None:
    with closing(sqlite3.connect(f"file:{services_template.migrated_file()}?immutable=1", uri=True)) as file:
        applied = set(file.execute("SELECT app, name FROM django_migrations"))
    assert applied == set(MigrationLoader(None).disk_migrations)


def test_a_migrated_database_is_made_anew_after_each_change(tmp_path: Path) -> None:
    """Of a migration's content, its name, the number of them, and the server."""
    one, other = tmp_path / "0001_initial.py", tmp_path / "0002_more.py"
    one.write_text("a = 1")
    other.write_text("b = 1")
    keys = {services_template.key([one], server="17.10"), services_template.key([one], server="18.1")}
    keys.add(services_template.key([one, other], server="17.10"))
    keys.add(services_template.key([other], server="17.10"))
    one.write_text("a = 2")
    keys.add(services_template.key([one], server="17.10"))
    assert len(keys) == 5


def test_it_depends_on_our_migrations_applications_and_requirements() -> None:
    names = {str(path.relative_to(settings.BASE_DIR)) for path in services_template.what_it_depends_on()}
    assert names > {"config/settings.py", "requirements-dev.txt", "marketplace/migrations/0001_initial.py"}
    assert {path.parent.parent.name for path in services_template.what_it_depends_on()} > {
        "annotators", "marketplace", "surveys"
    }  # fmt: skip


@needs_services
def test_a_server_that_never_comes_up_says_why(
    folder: Path, session: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = int(settings.REDIS_URL.rsplit(":", 1)[1].split("/")[0])
    monkeypatch.setattr(services_redis, "free_port", lambda: taken)
    with pytest.raises(ProcessError, match="redis ended with exit code 1"):
        services.start(folder, session)


def test_data_lie_outside_the_project() -> None:
    assert not settings.DATA_DIR.is_relative_to(settings.BASE_DIR)
    assert not settings.MEDIA_ROOT.is_relative_to(settings.BASE_DIR)


@pytest.mark.processes
def test_a_session_removes_what_it_made(folder: Path) -> None:
    """A session inside the session, because its end can't be seen from within."""
    inner = folder / "test_inner.py"
    inner.write_text("import os\ndef test_it(): print('PLACE', os.environ['ASSENT_DATA_DIR'])\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", f"--rootdir={settings.BASE_DIR}",
         "-c", str(settings.BASE_DIR / "pyproject.toml"), str(inner)],
        env={**os.environ, "TMPDIR": str(folder)},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert "1 passed" in done.stdout
    place = next(line.split()[1] for line in done.stdout.splitlines() if "PLACE" in line)
    assert not Path(place).parent.exists()


@pytest.mark.processes
@pytest.mark.parametrize(("chosen", "engine"), [("sqlite", "sqlite3"), ("", "postgresql")])
def test_the_workers_of_a_session_use_the_chosen_database(folder: Path, chosen: str, engine: str) -> None:
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    inner = folder / "test_inner.py"
    inner.write_text(
        "from django.conf import settings\n"
        f"def test_it(): assert settings.DATABASES['default']['ENGINE'].endswith('{engine}')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider", f"--rootdir={settings.BASE_DIR}",
         "-c", str(settings.BASE_DIR / "pyproject.toml"), str(inner)],
        env={**outside, "TMPDIR": str(folder), "ASSENT_TEST_DATABASE": chosen},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert "1 passed" in done.stdout, done.stdout


def test_a_machine_without_chromium_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(services_browser, "PLACES", ())
    monkeypatch.setattr(services_browser, "install", lambda: None)
    monkeypatch.setattr(services_browser, "driver_trouble", lambda: "")
    with pytest.raises(RuntimeError, match="The browser tests need Chromium"):
        services_browser.chromium()


def test_two_that_lack_a_browser_install_it_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    browser, installed = tmp_path / "chromium", []

    def install() -> None:
        installed.append(1)
        time.sleep(0.2)
        browser.touch()

    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(services_browser, "NAMES", ())
    monkeypatch.setattr(services_browser, "PLACES", (browser,))
    monkeypatch.setattr(services_browser, "install", install)
    monkeypatch.setattr(services_browser, "driver_trouble", lambda: "")
    with ThreadPoolExecutor(2) as both:
        found = [one.result() for one in [both.submit(services_browser.chromium) for _ in range(2)]]
    assert (found, len(installed)) == ([browser, browser], 1)


def test_a_driver_that_does_not_run_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services_browser, "install", lambda: None)
    monkeypatch.setattr(services_browser, "driver_trouble", lambda: "libatomic.so.1 is missing")
    with pytest.raises(RuntimeError, match=r"driver to run: libatomic\.so\.1 is missing$"):
        services_browser.chromium()


@pytest.mark.processes
def test_a_real_worker_answers(celery_worker_process: Supervisor) -> None:
    replies = app.control.inspect(timeout=10, limit=1).ping()
    assert list(replies.values()) == [{"ok": "pong"}]


@pytest.mark.processes
def test_a_real_worker_has_two_forked_processes(celery_worker_process: Supervisor) -> None:
    (stats,) = app.control.inspect(timeout=10, limit=1).stats().values()
    pool = stats["pool"]
    assert pool["implementation"] == "celery.concurrency.prefork:TaskPool"
    assert (pool["max-concurrency"], len(set(pool["processes"]))) == (2, 2)


@pytest.mark.processes
def test_the_running_site_shares_the_test_database(running_site: Site) -> None:
    get_user_model().objects.create_superuser("researcher", password="known-to-this-test")
    browser = build_opener(HTTPCookieProcessor())
    page = browser.open(f"{running_site.app_url}/admin/login/").read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page).group(1)
    fields = {"username": "researcher", "password": "known-to-this-test", "csrfmiddlewaretoken": token}
    answer = browser.open(f"{running_site.app_url}/admin/login/?next=/healthz", urlencode(fields).encode())
    assert (answer.url, answer.read()) == (f"{running_site.app_url}/healthz", b"ok")


def test_the_site_answers_on_two_host_names(site: Site) -> None:
    assert urlopen(f"{site.app_url}/healthz").status == 200
    assert urlopen(f"{site.marketplace_url}/").status == 200
    with pytest.raises(HTTPError, match="404"):
        urlopen(f"{site.marketplace_url}/healthz")


def test_a_page_left_open_is_refused_and_closed(browser: Browser) -> None:
    browser.new_context().new_page()
    with pytest.raises(AssertionError, match="new_context"):
        refuse_open_pages(browser)
    refuse_open_pages(browser)


def test_what_is_still_being_answered_is_waited_for() -> None:
    begun = threading.Event()

    def answer() -> None:
        request_started.send(sender=None)
        begun.set()
        time.sleep(0.3)
        request_finished.send(sender=None)
        answered.append("")

    answered: list[str] = []
    server = threading.Thread(target=answer)
    server.start()
    begun.wait()
    wait_until_answered()
    server.join(timeout=0.1)
    assert answered == [""]
