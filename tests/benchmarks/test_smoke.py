"""Every benchmark works, at its smallest size; `SMOKE=1 make bench` does the same. Times are never judged here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import HERE, PROGRAMS
from tests.services_template import migrated_file


@pytest.mark.processes
@pytest.mark.parametrize(("name", "smallest"), [(name, sizes[-1]) for name, *sizes in PROGRAMS])
def test_a_benchmark_works(name: str, smallest: str, tmp_path: Path) -> None:
    program = [sys.executable, str(HERE / f"{name}.py"), *smallest.split()]
    environment = {
        **os.environ,
        "ASSENT_DATA_DIR": str(tmp_path),
        "BENCHMARK_DATABASE": str(migrated_file()),
        "DATABASE_URL": "",
        "REDIS_URL": "",
    }
    done = subprocess.run(
        program, check=False, capture_output=True, text=True, env=environment, cwd=HERE.parent, timeout=900
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stdout.strip() != ""
