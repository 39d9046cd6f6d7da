"""The site as tests run it: where it answers, and the processes it consists of."""

from dataclasses import dataclass
from pathlib import Path

import redis
from django.conf import settings as django_settings
from django.db import connection
from pytest_django import Settings

from config.celery import app
from surveys.operations.processes.stack import worker
from surveys.operations.processes.supervisor import Process, Supervisor


@dataclass(frozen=True)
class Site:
    """Where the app and the embedded marketplace answer; `supervisor` where they run as processes of their own."""

    app_url: str
    marketplace_url: str
    supervisor: Supervisor | None = None


def settle(settings: Settings, *, port: int) -> Site:
    """Point this process's settings at the app and the marketplace on `port`."""
    site = Site(f"http://127.0.0.1:{port}", f"http://localhost:{port}")
    settings.APP_URL, settings.MARKETPLACE_URL = site.app_url, site.marketplace_url
    settings.APP_HOST, settings.MARKETPLACE_HOST = "127.0.0.1", "localhost"
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "testserver"]
    settings.CSRF_TRUSTED_ORIGINS = [site.app_url, site.marketplace_url]
    settings.MARKETPLACE_OPEN_SIGNUP = True
    embedded = {"endpoint_url": site.marketplace_url, "submit_origins": [site.marketplace_url]}
    endpoints = django_settings.MTURK_ENDPOINTS
    settings.MTURK_ENDPOINTS = {**endpoints, "embedded": {**endpoints["embedded"], **embedded}}
    settings.FRAME_ANCESTORS = [site.marketplace_url]
    return site


def supervise(processes: list[Process], *, folder: Path) -> Supervisor:
    """Return a supervisor of `processes`, for a broker that remembers no other test."""
    if django_settings.REDIS_URL:
        redis.Redis.from_url(django_settings.REDIS_URL).flushdb()
    else:
        app.control.purge()
    return Supervisor(processes, log_dir=folder / "logs")


def a_worker(folder: Path, *, environment: dict[str, str]) -> Process:
    return worker(environment={**environment, **database_environment()}, state_dir=folder, pool="prefork")


def database_environment() -> dict[str, str]:
    """Return what points another process at the test's database instead of the one it was made beside."""
    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return {"DATABASE_URL": f"sqlite:///{values['NAME']}"}
    return {
        "DATABASE_URL": f"postgresql://{values['USER']}@{values['HOST']}:{values['PORT']}/{values['NAME']}"
    }
