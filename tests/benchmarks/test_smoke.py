"""Every benchmark works, at its smallest size; `SMOKE=1 make bench` does the same. Times are never judged here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import HERE, PROGRAMS


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a SQLite database, made once for all of them: migrating takes longer than most."""
    folder = tmp_path_factory.mktemp("migrated")
    made = folder / "db.sqlite3"
    environment = {**os.environ, "ASSENT_DATA_DIR": str(folder), "DATABASE_URL": f"sqlite:///{made}"}
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    subprocess.run(command, check=True, cwd=HERE.parent, env=environment)
    return made


@pytest.mark.processes
@pytest.mark.parametrize(("name", "smallest"), [(name, sizes[-1]) for name, *sizes in PROGRAMS])
def test_a_benchmark_works(name: str, smallest: str, migrated: Path, tmp_path: Path) -> None:
    program = [sys.executable, str(HERE / f"{name}.py"), *smallest.split()]
    environment = {
        **os.environ,
        "ASSENT_DATA_DIR": str(tmp_path),
        "BENCHMARK_DATABASE": str(migrated),
        "DATABASE_URL": "",
        "REDIS_URL": "",
    }
    done = subprocess.run(
        program, check=False, capture_output=True, text=True, env=environment, cwd=HERE.parent, timeout=900
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stdout.strip() != ""
