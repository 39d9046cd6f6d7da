"""Every benchmark works, at its smallest size; `SMOKE=1 make bench` does the same. Times are never judged here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import override_settings

from benchmarks.__main__ import HERE, PROGRAMS
from benchmarks.database import COPIED, NAME, POSTGRES, STATIC
from tests.conftest import STORAGES
from tests.services_template import migrated, migrated_file


@pytest.fixture(scope="module")
def empty_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that all of them begin with a copy of: a migrated database, and static files as they are served."""
    folder = tmp_path_factory.mktemp("empty")
    shutil.copyfile(migrated_file(), folder / NAME)
    with override_settings(STATIC_ROOT=folder / STATIC, STORAGES=STORAGES):
        call_command("collectstatic", interactive=False, verbosity=0)
    return folder


@pytest.mark.processes
@pytest.mark.parametrize(("name", "smallest"), [(name, sizes[-1]) for name, *sizes in PROGRAMS])
def test_a_benchmark_works(name: str, smallest: str, tmp_path: Path, empty_site: Path) -> None:
    program = [sys.executable, str(HERE / f"{name}.py"), *smallest.split()]
    environment = {
        **os.environ,
        "ASSENT_DATA_DIR": str(tmp_path),
        COPIED: str(empty_site),
        POSTGRES: str(migrated()),
        "DATABASE_URL": "",
        "REDIS_URL": "",
    }
    done = subprocess.run(
        program, check=False, capture_output=True, text=True, env=environment, cwd=HERE.parent, timeout=900
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stdout.strip() != ""
