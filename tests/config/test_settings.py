"""One settings file, driven by the environment."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.utils.formats import date_format

from surveys.operations.system_checks import check_variables

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
        cwd=django_settings.BASE_DIR,
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


BOOLEAN = "1 or 0 (or true or false, yes or no, on or off)"
SITE = "an address without a path, such as https://assent.example.org"
HOSTS = "names of hosts without http:// and port, with commas between"
MAILS = "e-mail addresses, with commas between"
RATES = "name=number, with commas between, each number above 0"


@pytest.mark.parametrize(
    ("name", "value", "takes"),
    [
        ("ASSENT_REQUIRE_SECOND_FACTOR", "enabled", BOOLEAN),
        ("TRUST_PROXY", "2", BOOLEAN),
        ("TRUST_PROXY", "ja", BOOLEAN),
        ("ASSENT_SYNC_SECONDS", "soon", "a whole number from 1 to 86400"),
        ("ASSENT_SYNC_SECONDS", "0", "a whole number from 1 to 86400"),
        ("ASSENT_SYNC_SECONDS", "-5", "a whole number from 1 to 86400"),
        ("ASSENT_HEARTBEAT_SECONDS", "0", "a whole number from 1 to 3600"),
        ("ASSENT_UPLOAD_MAX_MB", "0", "a whole number from 1 to 1000000"),
        ("ASSENT_DISK_FREE_PERCENT", "500", "a whole number from 0 to 99"),
        ("ASSENT_KEEP_WORKER_IDS_DAYS", "-1", "a whole number from 0 to 36500"),
        ("ASSENT_WAGE_FLOOR", "7,25", "a number that is not below 0, such as 7.25"),
        ("ASSENT_WAGE_FLOOR", "NaN", "a number that is not below 0, such as 7.25"),
        ("ASSENT_WAGE_FLOOR", "Infinity", "a number that is not below 0, such as 7.25"),
        ("ASSENT_APP_URL", "https://host/assent", SITE),
        ("ASSENT_APP_URL", "host.example", SITE),
        ("ASSENT_MARKETPLACE_URL", "https://host:port", SITE),
        ("ASSENT_ALARM_RECIPIENTS", "not an address", MAILS),
        ("MARKETPLACE_WEBHOOK_HOSTS", "http://foo.org/", HOSTS),
        ("MARKETPLACE_WEBHOOK_HOSTS", "foo.org:8080", HOSTS),
        ("LOG_FORMAT", "xml", "one of plain, json"),
        (
            "LOG_LEVEL",
            "loud",
            "one of CRITICAL, FATAL, ERROR, WARN, WARNING, INFO, DEBUG, NOTSET",
        ),
        ("TIME_ZONE", "Europe/Nowhere", "the name of a time zone, such as Europe/Berlin"),
        ("TIME_ZONE", "Europe", "the name of a time zone, such as Europe/Berlin"),
        ("TIME_ZONE", "/etc/passwd", "the name of a time zone, such as Europe/Berlin"),
        ("MARKETPLACE_RATE_LIMITS", "*=many", RATES),
        ("MARKETPLACE_RATE_LIMITS", "*=5,GetHIT=0", RATES),
        ("MARKETPLACE_RATE_LIMITS", "*=nan", RATES),
    ],
)
def test_nonsense_is_refused_by_name(tmp_path: Path, name: str, value: str, takes: str) -> None:
    done = run(tmp_path, **{name: value})
    message = f"{name} is {value!r}; it takes {takes}."
    assert done.returncode == 1
    assert done.stderr.strip().endswith(f"django.core.exceptions.ImproperlyConfigured: {message}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REDIS_URL", "localhost:6379"),
        ("REDIS_URL", "http://:hunter2@localhost"),
        ("DATABASE_URL", "mysql://assent:hunter2@db.example/assent"),
        ("DATABASE_URL", "postgresql://assent:hun/ter2@db.example:99999/assent"),
        ("ASSENT_APP_URL", "https://assent:hunter2@app.example"),
        ("MARKETPLACE_NOTIFICATION_TARGETS", "arn:a=https://bot:hunter2@hooks.example,queue"),
    ],
)
def test_what_may_hold_a_password_is_refused_without_repeating_it(
    tmp_path: Path, name: str, value: str
) -> None:
    done = run(tmp_path, **{name: value})
    assert f"ImproperlyConfigured: {name} takes " in done.stderr.strip().splitlines()[-1]
    assert value not in done.stderr


def test_a_database_that_is_only_named_is_refused_by_the_variables_name(tmp_path: Path) -> None:
    assert "ImproperlyConfigured: DATABASE_URL takes " in run(tmp_path, DATABASE_URL="postgres").stderr


def test_two_addresses_need_two_names(tmp_path: Path) -> None:
    same = {"ASSENT_APP_URL": "http://localhost:1", "ASSENT_MARKETPLACE_URL": "http://localhost:2"}
    message = "ASSENT_APP_URL and ASSENT_MARKETPLACE_URL need two different host names."
    assert run(tmp_path, **same).stderr.strip().endswith(message)


SAID = """
import json
from django.conf import settings as s
print(json.dumps([s.REQUIRE_SECOND_FACTOR, s.LOG_LEVEL, s.LOG_FORMAT, s.ALARM_RECIPIENTS, s.MARKETPLACE_WEBHOOK_HOSTS]))
"""


@pytest.mark.parametrize(
    ("word", "is_on"), [("YES", True), ("y", True), ("On", True), ("F", False), ("off", False)]
)
def test_words_may_be_written_in_any_case(tmp_path: Path, word: str, is_on: bool) -> None:
    answer = run(
        tmp_path,
        ask=SAID,
        ASSENT_REQUIRE_SECOND_FACTOR=word,
        LOG_LEVEL="debug",
        LOG_FORMAT="JSON",
        ASSENT_ALARM_RECIPIENTS="Ada <ada@example.org>, lab@localhost",
        MARKETPLACE_WEBHOOK_HOSTS="Lab.example, 10.0.0.1, ::1",
    )
    people, hosts = ["Ada <ada@example.org>", "lab@localhost"], ["lab.example", "10.0.0.1", "::1"]
    assert json.loads(answer.stdout) == [is_on, "DEBUG", "json", people, hosts]


UNKNOWN = "import json; from django.conf import settings; print(json.dumps(settings.UNKNOWN_VARIABLES))"


def test_a_command_says_it_in_one_line(tmp_path: Path) -> None:
    script = "import sys, manage; sys.argv = ['manage.py', 'check']; manage.main()"
    done = run(tmp_path, ask=script, TRUST_PROXY="ja")
    assert (done.returncode, done.stderr) == (1, f"TRUST_PROXY is 'ja'; it takes {BOOLEAN}.\n")


def test_a_name_that_nobody_reads_is_told_with_the_one_that_was_meant(tmp_path: Path) -> None:
    answer = run(
        tmp_path,
        ask=UNKNOWN,
        ASSENT_REQUIRE_2FA="1",
        ASSENT_OPEN_SIGNUP="1",
        MARKETPLACE_XYZZY="",
        ASSENT_TEST_DATABASE="sqlite",
        ASSENT_FAILPOINTS="",
        ASSENT_TOKEN="t",
    )
    assert json.loads(answer.stdout) == {
        "ASSENT_OPEN_SIGNUP": "MARKETPLACE_OPEN_SIGNUP",
        "ASSENT_REQUIRE_2FA": "ASSENT_REQUIRE_SECOND_FACTOR",
        "MARKETPLACE_XYZZY": "",
    }


def test_a_name_that_nobody_reads_is_a_warning_of_check(settings: Any) -> None:
    settings.UNKNOWN_VARIABLES = {"ASSENT_REQUIRE_2FA": "ASSENT_REQUIRE_SECOND_FACTOR", "ASSENT_X": ""}
    assert [(warning.id, warning.msg) for warning in check_variables(None)] == [
        (
            "surveys.W005",
            "ASSENT_REQUIRE_2FA is set, and there is no such variable. Is ASSENT_REQUIRE_SECOND_FACTOR meant?",
        ),
        ("surveys.W005", "ASSENT_X is set, and there is no such variable."),
    ]


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
