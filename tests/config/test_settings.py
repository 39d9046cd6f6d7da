"""One settings file, driven by the environment."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.formats import date_format

# What signs nobody in but says what a role in a study may, and what signs in by a password.
ROLES, PASSWORD = "surveys.teams.StudyRoles", "django.contrib.auth.backends.ModelBackend"
ASK = """
import json
from django.conf import settings as s
database = s.DATABASES["default"]
print(json.dumps({
    "engine": database["ENGINE"], "name": str(database["NAME"]), "options": sorted(database.get("OPTIONS", {})),
    "broker": s.CELERY_BROKER_URL, "cache": s.CACHES["default"]["BACKEND"], "secure": s.SESSION_COOKIE_SECURE,
    "hosts": s.ALLOWED_HOSTS, "key": len(s.SECRET_KEY), "media": str(s.MEDIA_ROOT),
    "targets": s.MARKETPLACE_NOTIFICATION_TARGETS, "rates": s.MARKETPLACE_RATE_LIMITS,
    "doors": s.AUTHENTICATION_BACKENDS, "factor": s.REQUIRE_SECOND_FACTOR,
}))
"""


def run(folder: Path, *, ask: str = ASK, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment = {
        **clean,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ASSENT_DATA_DIR": str(folder),
        **variables,
    }
    return subprocess.run(
        [sys.executable, "-c", ask],
        env=environment,
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_variables_everything_lies_in_the_data_folder(tmp_path: Path) -> None:
    assert json.loads(run(tmp_path).stdout) == {
        "engine": "django.db.backends.sqlite3",
        "name": str(tmp_path / "db.sqlite3"),
        "options": ["init_command", "timeout", "transaction_mode"],
        "broker": "filesystem://localhost",
        "cache": "django.core.cache.backends.locmem.LocMemCache",
        "secure": False,
        "hosts": ["127.0.0.1", "localhost"],
        "key": 67,
        "media": str(tmp_path / "media"),
        "targets": {},
        "rates": {},
        "doors": [ROLES, PASSWORD],
        "factor": False,
    }


def test_urls_choose_postgresql_and_redis(tmp_path: Path) -> None:
    answer = run(
        tmp_path,
        DATABASE_URL="postgresql://assent:secret@db.example/assent",
        REDIS_URL="redis://redis.example:6379/0",
        ASSENT_APP_URL="https://app.example.org",
        ASSENT_MARKETPLACE_URL="https://work.example.org/",
        ALLOWED_HOSTS="127.0.0.1, 10.0.0.1",
        SECRET_KEY="k" * 50,
        MARKETPLACE_NOTIFICATION_TARGETS="arn:aws:sns:x:1:t=https://lab.example/?a=b, q=q.jsonl",
        MARKETPLACE_RATE_LIMITS="*=5,CreateHIT=0.5",
        ASSENT_REQUIRE_SECOND_FACTOR="1",
    )
    assert json.loads(answer.stdout) == {
        "engine": "django.db.backends.postgresql",
        "name": "assent",
        "options": [],
        "broker": "redis://redis.example:6379/0",
        "cache": "django.core.cache.backends.redis.RedisCache",
        "secure": True,
        "hosts": ["app.example.org", "work.example.org", "127.0.0.1", "10.0.0.1"],
        "key": 50,
        "media": str(tmp_path / "media"),
        "targets": {"arn:aws:sns:x:1:t": "https://lab.example/?a=b", "q": "q.jsonl"},
        "rates": {"*": 5.0, "CreateHIT": 0.5},
        "doors": [ROLES, PASSWORD],
        "factor": True,
    }


HSTS = """
import json
from django.conf import settings as s
print(json.dumps([s.SECURE_HSTS_SECONDS, s.SECURE_HSTS_INCLUDE_SUBDOMAINS, s.SECURE_HSTS_PRELOAD]))
"""


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, [31_536_000, False, False]),
        (
            {"SECURE_HSTS_INCLUDE_SUBDOMAINS": "1", "SECURE_HSTS_PRELOAD": "1"},
            [31_536_000, True, True],
        ),
    ],
)
def test_https_is_insisted_on_for_other_names_only_where_somebody_says_so(
    tmp_path: Path, variables: dict[str, str], expected: list[object]
) -> None:
    https = {
        "ASSENT_APP_URL": "https://app.example.org",
        "ASSENT_MARKETPLACE_URL": "https://work.example.org",
    }
    assert json.loads(run(tmp_path, ask=HSTS, **https, **variables).stdout) == expected


def test_a_generated_secret_key_is_kept_and_private(tmp_path: Path) -> None:
    run(tmp_path)
    key = (tmp_path / "secret_key").read_text()
    run(tmp_path)
    assert (tmp_path / "secret_key").read_text() == key
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"ASSENT_APP_URL": "http://localhost:1", "ASSENT_MARKETPLACE_URL": "http://localhost:2"},
            "ASSENT_APP_URL and ASSENT_MARKETPLACE_URL need two different host names.",
        ),
        ({"ASSENT_SYNC_SECONDS": "soon"}, "ASSENT_SYNC_SECONDS must be a whole number."),
        ({"ASSENT_WAGE_FLOOR": "7,25"}, "ASSENT_WAGE_FLOOR must be a number."),
        (
            {"MARKETPLACE_NOTIFICATION_TARGETS": "queue"},
            "MARKETPLACE_NOTIFICATION_TARGETS must be name=value, with commas between.",
        ),
        ({"MARKETPLACE_RATE_LIMITS": "*=many"}, "MARKETPLACE_RATE_LIMITS must give numbers."),
        (
            {"MARKETPLACE_RATE_LIMITS": "*=5,GetHIT=0"},
            "MARKETPLACE_RATE_LIMITS must give numbers above zero.",
        ),
        ({"MARKETPLACE_RATE_LIMITS": "*=nan"}, "MARKETPLACE_RATE_LIMITS must give numbers above zero."),
    ],
)
def test_nonsense_is_refused_by_name(tmp_path: Path, variables: dict[str, str], message: str) -> None:
    done = run(tmp_path, **variables)
    assert done.returncode == 1
    assert done.stderr.strip().endswith(f"django.core.exceptions.ImproperlyConfigured: {message}")


def test_django_writes_times_as_our_pages_do() -> None:
    assert date_format(datetime(2026, 11, 21, 14, 5, tzinfo=UTC), "DATETIME_FORMAT") == "21 Nov 2026, 14:05"


def test_a_university_signs_in_where_all_three_are_set(tmp_path: Path) -> None:
    three = {
        "ASSENT_OIDC_ISSUER": "https://sso.example",
        "ASSENT_OIDC_CLIENT_ID": "assent",
        "ASSENT_OIDC_CLIENT_SECRET": "between-us",
    }
    university = "surveys.pages.sign_in.provider.UniversityBackend"
    assert json.loads(run(tmp_path, **three).stdout)["doors"] == [ROLES, PASSWORD, university]
    without_id = {**three, "ASSENT_OIDC_CLIENT_ID": ""}
    assert json.loads(run(tmp_path, **without_id).stdout)["doors"] == [ROLES, PASSWORD]
