"""The whole site as processes: gunicorn, a Celery worker with two processes, and beat."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3
from django.core.management import call_command
from pytest_django import Settings

from surveys.operations.processes.stack import addresses, beat, free_port, web
from surveys.rehearsal.stage import Control
from tests.load.site import LoadSite
from tests.services_site import a_worker, database_environment, settle, supervise

SYNC_SECONDS = 6


@pytest.fixture
def load_site(
    transactional_db: None, collected_static: None, settings: Settings, tmp_path: Path
) -> Iterator[LoadSite]:
    """Everything that runs where Assent is in use, on the test's database and broker."""
    call_command("loaddata", "marketplace_demo", verbosity=0)
    port, token = free_port(), secrets.token_urlsafe(16)
    site = settle(settings, port=port)
    environment = {
        **addresses(port),
        **database_environment(),
        "MARKETPLACE_CONTROL_TOKEN": token,
        "ASSENT_SYNC_SECONDS": str(SYNC_SECONDS),
    }
    processes = [
        web(port=port, environment=environment),
        a_worker(tmp_path, environment=environment),
        beat(environment=environment),
    ]
    with supervise(processes, folder=tmp_path) as supervisor:
        control = Control(site.marketplace_url, token, urllib3.PoolManager())
        yield LoadSite(site.app_url, site.marketplace_url, control, supervisor)
