"""Data of an older version in a folder, and our commands run on them as processes, as whoever upgrades runs them."""

import os
import subprocess
import sys
import uuid
import zipfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg2
from django.conf import settings

from tests.upgrade.doors import APP, MARKETPLACE

IMPORTS = "import json; from pathlib import Path; from tests.upgrade.tell import tell"
DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Installation:
    """A data folder, and a database. `key` is the SECRET_KEY under which the data were made."""

    folder: Path
    key: str
    database_url: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """Ours, but for the tests' own database, broker and folders."""
        places = {"ASSENT_DATA_DIR": str(self.folder), "ASSENT_MEDIA_DIR": "", "REDIS_URL": ""}
        places |= {"ASSENT_APP_URL": f"http://{APP}", "ASSENT_MARKETPLACE_URL": f"http://{MARKETPLACE}"}
        return {**os.environ, **places, "DATABASE_URL": self.database_url, "SECRET_KEY": self.key}

    def manage(self, *arguments: Any) -> str:
        """Run a command; return what it printed. Fails with what it said if it fails."""
        command = [sys.executable, "manage.py", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=settings.BASE_DIR, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def tell(self, *, keys: Path) -> Path:
        """Have today's code tell what it finds and what the keys in a file open; return the folder with it."""
        told = self.folder / "told"
        told.mkdir()
        ask = f"tell(Path({str(told)!r}), keys=json.loads(Path({str(keys)!r}).read_text()))"
        self.manage("shell", "--no-imports", "-c", f"{IMPORTS}; {ask}")
        return told


def copied(version: str, *, key: str, folder: Path) -> Installation:
    """Return an installation with a copy of the version's SQLite database and media folder."""
    with zipfile.ZipFile(DATA / version / "site.zip") as site:
        site.extractall(folder)
    return Installation(folder, key)


def empty(*, key: str, folder: Path) -> Installation:
    """Return an installation with an empty database, on PostgreSQL where the tests run on it, migrated."""
    installation = Installation(folder, key, new_database())
    installation.manage("migrate", "--noinput")
    return installation


def new_database() -> str:
    """Return the address of an empty database beside the tests' own; "" for SQLite's default."""
    server = settings.DATABASES["default"]
    if server["ENGINE"] == "django.db.backends.sqlite3":
        return ""
    name, place = (
        f"upgrade_{uuid.uuid4().hex}",
        {"host": server["HOST"], "port": server["PORT"], "user": server["USER"]},
    )
    with closing(psycopg2.connect(dbname="postgres", **place)) as connection:
        connection.autocommit = True
        connection.cursor().execute(f"CREATE DATABASE {name}")
    return f"postgresql://{place['user']}@{place['host']}:{place['port']}/{name}"
