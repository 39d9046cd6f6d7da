"""The data folder of a PostgreSQL whose test database is migrated: made once for a state of the migrations, and copied.

Migrating takes a process longer than a hundred tests. The folder is kept between runs, in pytest's cache.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from surveys.operations.processes.supervisor import Supervisor
from tests.services_postgres import Postgres, server_version

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".pytest_cache" / "migrated"
DATABASE = "test_assent"


def migrated(cache: Path = CACHE) -> Path:
    """Return the folder, made where no process has made it yet; CalledProcessError if migrating fails."""
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / key(what_it_depends_on(), server=server_version())
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            for older in cache.glob("data-*"):
                shutil.rmtree(older)
            _make(folder)
    return folder


def what_it_depends_on() -> list[Path]:
    """Return our migrations, the applications that are installed, and the versions of those that are not ours."""
    ours = sorted(ROOT.glob("*/migrations/*.py"))
    return [*ours, ROOT / "config" / "settings.py", ROOT / "requirements-dev.txt"]


def key(files: Iterable[Path], *, server: str) -> str:
    """Return a name that is another one as soon as one of the files, their names or the server's version is."""
    state = sha256(server.encode())
    for file in files:
        state.update(f"{file.name}\0{sha256(file.read_bytes()).hexdigest()}\0".encode())
    return f"data-{state.hexdigest()[:16]}"


def _make(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="assent-migrated-") as name:
        place = Path(name)
        place.chmod(0o755)  # PostgreSQL runs under another account when root runs the tests
        server = Postgres(place / "postgres")
        supervisor = Supervisor([server.process()], log_dir=place / "logs")
        try:
            supervisor.start()
            supervisor.wait_ready()
            _migrate(server, place=place)
        finally:
            supervisor.stop()
        shutil.copytree(server.data, place / "copy")
        shutil.move(place / "copy", folder.with_suffix(".partial"))
        folder.with_suffix(".partial").rename(folder)


def _migrate(server: Postgres, *, place: Path) -> None:
    server.create(DATABASE)
    environment = {
        **os.environ,
        "DATABASE_URL": server.url_of(DATABASE),
        "ASSENT_DATA_DIR": str(place / "assent"),
        "ASSENT_MEDIA_DIR": str(place / "media"),
    }
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
