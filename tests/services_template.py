"""The data folder of a PostgreSQL whose test database is migrated, and a SQLite database that is: to be copied.

Migrating takes a process longer than a hundred tests. Each is made once for a state of the migrations, when it is first
wanted, and kept between runs, in pytest's cache.
"""

import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from surveys.operations.processes.supervisor import Supervisor
from tests.services_postgres import Postgres, server_version

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".pytest_cache" / "migrated"
DATABASE = "test_assent"
SQLITE = "db.sqlite3"


def migrated(cache: Path = CACHE) -> Path:
    """Return the folder, made where no process has made it yet; CalledProcessError if migrating fails."""
    return _kept(cache, key(what_it_depends_on(), server=server_version()), make=_make)


def migrated_file(cache: Path = CACHE) -> Path:
    """Return a SQLite database that is migrated, to be copied: nobody writes to it. Made and kept as the folder is."""
    name = key(what_it_depends_on(), server=sqlite3.sqlite_version, kind="sqlite")
    return _kept(cache, name, make=_make_file) / SQLITE


def _kept(cache: Path, name: str, *, make: Callable[[Path], None]) -> Path:
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / name
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            for older in cache.glob(f"{name.partition('-')[0]}-*"):
                shutil.rmtree(older)
            make(folder)
    return folder


def what_it_depends_on() -> list[Path]:
    """Return our migrations, the applications that are installed, and the versions of those that are not ours."""
    ours = sorted(ROOT.glob("*/migrations/*.py"))
    return [*ours, ROOT / "config" / "settings.py", ROOT / "requirements-dev.txt"]


def key(files: Iterable[Path], *, server: str, kind: str = "data") -> str:
    """Return a name that is another one as soon as one of the files, their names or the server's version is."""
    state = sha256(server.encode())
    for file in files:
        state.update(f"{file.name}\0{sha256(file.read_bytes()).hexdigest()}\0".encode())
    return f"{kind}-{state.hexdigest()[:16]}"


def _make(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="assent-migrated-") as name:
        place = Path(name)
        place.chmod(0o755)  # PostgreSQL runs under another account when root runs the tests
        server = Postgres(place / "postgres")
        supervisor = Supervisor([server.process()], log_dir=place / "logs")
        try:
            supervisor.start()
            supervisor.wait_ready()
            server.create(DATABASE)
            _migrate(server.url_of(DATABASE), place=place)
        finally:
            supervisor.stop()
        shutil.copytree(server.data, place / "copy")
        _put(place / "copy", folder)


def _make_file(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="assent-migrated-") as name:
        place = Path(name)
        (place / "copy").mkdir()
        _migrate(f"sqlite:///{place / 'copy' / SQLITE}", place=place)
        with closing(sqlite3.connect(place / "copy" / SQLITE)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        _put(place / "copy", folder)


def _put(made: Path, folder: Path) -> None:
    """Move what is whole to where it is looked for: it may be on another disk."""
    shutil.move(made, folder.with_suffix(".partial"))
    folder.with_suffix(".partial").rename(folder)


def _migrate(database_url: str, *, place: Path) -> None:
    environment = {
        **os.environ,
        "DATABASE_URL": database_url,
        "ASSENT_DATA_DIR": str(place / "assent"),
        "ASSENT_MEDIA_DIR": str(place / "media"),
    }
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
