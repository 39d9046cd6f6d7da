"""What all tests share: the published studies, a browser, and the site on two host names."""

import functools
import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.template.context import Context
from django.test import override_settings
from django.utils.safestring import SafeString
from hypothesis import HealthCheck
from playwright.sync_api import BrowserContext, ConsoleMessage, expect
from pytest_django import DjangoDbBlocker, Settings
from pytest_django.live_server_helper import LiveServer
from pytest_playwright.pytest_playwright import CreateContextCallback

from surveys.operations.processes.stack import addresses, free_port, web
from surveys.operations.processes.supervisor import Supervisor
from tests.services_browser import FLAGS, chromium
from tests.services_live import cut_off, refuse_open_pages, wait_until_answered
from tests.services_quick import leave_out_waiting, take_back_space
from tests.services_site import Site, a_worker, database_environment, settle, supervise
from tests.services_template import migrated_file

# Playwright's event loop runs in the test's thread, where Django would refuse the ORM.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
expect.set_options(timeout=20_000)  # ms, for a machine that has other things to do
# How long drawing takes says something about the machine: Hypothesis makes its tables of Unicode at the first text.
hypothesis.settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis.settings.load_profile("untimed")

STORAGES = django_settings.STORAGES
PLAIN_STATIC = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}

# Files that take long by what they do, the longest first: one of them begun last would run on alone.
LONG = (
    "faults/test_faults_points",
    "benchmarks/",
    "test_rehearse_types",
    "faults/test_faults_services",
    "test_demo",
    "upgrade/",
    "test_rehearse",
    "load/",
    "faults/",
    "test_services",
    "test_backups_versions",
    "test_reconciling",
    "sync/test_sync",
    "browser/",
    "attacks/test_hostile_staff_input",
    "metrics/test_properties",
    "simulating/test_working",
    "config/test_settings",
    "results/test_raw",
    "attacks/test_content_security",
    "config/test_imports",
    "results/test_answers_behind",
    "batches/test_batch_fuzz",
    "review/test_evidence_published",
    "results/test_correlation",
    "results/test_paper",
    "results/test_sharing",
    "study/test_whole_study",
    "api/test_document_storm",
    "api/test_fuzz",
    "results/test_frames_database",
    "results/test_parts",
)
# Fixtures that start processes, of the site or a browser: tests with one of these are `make test-processes`.
OF_PROCESSES = {"running_site", "celery_worker_process", "load_site", "browser"}
# Fixtures over HTTP, and with transactions that are committed: tests with one of these are `make test-integration`.
OF_INTEGRATION = {"live_server", "transactional_db"}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Run one process more than there are cores, up to four: each now and then waits for what it has started."""
    given = "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ  # xdist reads it
    return None if given else min(4, (os.cpu_count() or 1) + 1)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what starts processes by a fixture; tests that start some themselves have the marker in their file.

    Of the others, mark what goes over HTTP, commits, or is in a file that takes long.
    """
    fixtures = set(getattr(item, "fixturenames", ()))
    if fixtures & OF_PROCESSES:
        item.add_marker("processes")
    elif item.get_closest_marker("processes") is None:
        database = item.get_closest_marker("django_db")
        commits = database is not None and database.kwargs.get("transaction", False)
        if commits or fixtures & OF_INTEGRATION or any(name in item.nodeid for name in LONG):
            item.add_marker("integration")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long; pytest-randomly has mixed the files before."""
    items.sort(key=lambda item: next((n for n, name in enumerate(LONG) if name in item.nodeid), len(LONG)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Function) -> Generator[None]:
    """Take the database away from nobody who is being answered, and let nobody reach into the next test."""
    browser = item.funcargs.get("browser")
    if browser:
        cut_off(browser)
    wait_until_answered()
    try:
        yield
    finally:
        if browser:
            refuse_open_pages(browser)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Test SQLite as it runs: in a file, so that every thread and the live server have their own connection."""
    database = django_settings.DATABASES["default"]
    if database["ENGINE"] == "django.db.backends.sqlite3":
        name = tmp_path_factory.mktemp("database") / "test.sqlite3"
        database["TEST"]["NAME"] = str(shutil.copyfile(migrated_file(), name))


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Take the database as it is: it came migrated, and goes with its server or folder."""
    return True


@pytest.fixture(scope="session", autouse=True)
def plain_static() -> Iterator[None]:
    """Serve static files by their own names, so that no test waits for collectstatic."""
    Path(django_settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)
    with override_settings(STORAGES=STORAGES | PLAIN_STATIC):
        yield


@pytest.fixture(autouse=True)
def no_earlier_paces() -> None:
    """A database that is taken back gives out the same keys again; what a process keeps by them is another test's."""
    from marketplace.site.pace import KEPT

    KEPT.clear()


@pytest.fixture(scope="session", autouse=True)
def kept_parts_are_as_if_rendered_anew() -> Iterator[None]:
    """Whatever page a test asks for: what was rendered for somebody else says nothing of them, and nothing old."""
    from config.kept_parts import Kept

    kept = Kept.render

    @functools.wraps(kept)
    def render(self: Kept, context: Context) -> SafeString:
        anew, shown = self.nodelist.render(context), kept(self, context)
        assert shown == anew
        return shown

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kept, "render", render)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_idle_waiting() -> Iterator[None]:
    """Leave out what only takes time."""
    with pytest.MonkeyPatch.context() as patch:
        leave_out_waiting(patch)
        yield


@pytest.fixture(scope="module", autouse=True)
def no_dead_rows(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Leave the next file no tables that are large with rows that are gone; the rows of `made_once` went before."""
    yield
    with django_db_blocker.unblock():
        take_back_space()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of published studies beside the project. It is not part of it."""
    folder = django_settings.BASE_DIR.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the published studies (../shared) are not on this machine")
    return folder


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_type_launch_args, "executable_path": str(chromium()), "args": FLAGS}


@pytest.fixture
def violations() -> Iterator[list[str]]:
    """What browsers have reported against a page's own Content-Security-Policy. There may be nothing."""
    found: list[str] = []
    yield found
    assert found == []


@pytest.fixture
def new_context(new_context: CreateContextCallback, violations: list[str]) -> CreateContextCallback:
    """Make windows whose reports are read, in frames and on every page of theirs."""

    def note(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            violations.append(message.text)

    def watched(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.on("console", note)
        return context

    return watched


@pytest.fixture
def site(live_server: LiveServer, settings: Settings) -> Site:
    """The site on the live server, in this process: the app on 127.0.0.1, the marketplace on localhost."""
    return settle(settings, port=live_server.thread.port)


@pytest.fixture(scope="session")
def collected_static(plain_static: None) -> None:
    """Static files under their hashed names, as the processes of `running_site` serve them."""
    with override_settings(STORAGES=STORAGES):
        call_command("collectstatic", interactive=False, verbosity=0)


@pytest.fixture
def celery_worker_process(transactional_db: None, tmp_path: Path) -> Iterator[Supervisor]:
    """A real Celery worker with forked processes, on the test's database and broker."""
    with supervise([a_worker(tmp_path, environment={})], folder=tmp_path) as supervisor:
        yield supervisor


@pytest.fixture
def running_site(
    transactional_db: None, collected_static: None, settings: Settings, tmp_path: Path
) -> Iterator[Site]:
    """The site as real processes, gunicorn and a Celery worker, on the test's database and broker."""
    port = free_port()
    site = settle(settings, port=port)
    environment = {**addresses(port), **database_environment(), "MARKETPLACE_OPEN_SIGNUP": "1"}
    processes = [
        web(port=port, environment=environment, workers=1),
        a_worker(tmp_path, environment=environment),
    ]
    with supervise(processes, folder=tmp_path) as supervisor:
        yield Site(site.app_url, site.marketplace_url, supervisor)
