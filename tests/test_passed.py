"""The record of what has passed is of the very files that were there, and of nothing else."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.passed import NARROWING, RECORD, ROOT, digest, is_on_record, run_and_record

PASSES, FAILS = (sys.executable, "-c", ""), (sys.executable, "-c", "raise SystemExit(3)")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("surveys/sync.py", "templates/page.html", "README.md", "tests/test_it.py", "var/db.sqlite3"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    return tmp_path


def test_what_passed_is_on_record_until_a_file_changes(project: Path) -> None:
    assert not is_on_record(project)
    assert run_and_record(PASSES, root=project) == 0
    assert is_on_record(project)
    (project / "templates/page.html").write_text("<p>")
    assert not is_on_record(project)


def test_what_failed_is_not_on_record_and_leaves_what_was(project: Path) -> None:
    run_and_record(PASSES, root=project)
    before = (project / RECORD).read_text()
    (project / "surveys/sync.py").write_text("changed")
    assert run_and_record(FAILS, root=project) == 3
    assert (project / RECORD).read_text() == before
    assert not is_on_record(project)


def test_files_that_change_while_tests_run_are_not_on_record(project: Path) -> None:
    changes = (sys.executable, "-c", "open('surveys/sync.py', 'a').write('x')")
    assert run_and_record(changes, root=project) == 1
    assert not (project / RECORD).exists()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda root: (root / "surveys/sync.py").write_text("other"),
    "name": lambda root: (root / "surveys/sync.py").rename(root / "surveys/other.py"),
    "new": lambda root: (root / "new.txt").touch(),
    "gone": lambda root: (root / "templates/page.html").unlink(),
    "right to run": lambda root: (root / "surveys/sync.py").chmod(0o755),
    "link": lambda root: (root / "surveys/link").symlink_to("sync.py"),
    "link to a folder": lambda root: (root / "link").symlink_to("surveys"),
    "empty": lambda root: (root / "surveys/__init__.py").touch(),
    "archive among tests": lambda root: (root / "tests/data.zip").touch(),
    "folder called build": lambda root: (_made(root / "surveys/build") / "a.py").touch(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_is_noticed(project: Path, change: str) -> None:
    before = digest(project)
    CHANGES[change](project)
    assert digest(project) != before


@pytest.mark.parametrize("name", NARROWING)
def test_nothing_in_the_environment_has_less_run(
    project: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "-k one")
    tells = (sys.executable, "-c", f"import os; raise SystemExit({name!r} in os.environ)")
    assert run_and_record(tells, root=project) == 0


def test_a_make_that_only_prints_makes_no_record() -> None:
    printed = subprocess.run(  # by a make that tests itself, it would name folders too
        ["make", "--no-print-directory", "-n", "test-long"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.splitlines()[-1] == ".venv/bin/python -m tests.passed --run"


@pytest.mark.parametrize(
    "name", ["README.md", "var/db.sqlite3", "surveys/__pycache__/sync.pyc", "old.zip", RECORD]
)
def test_what_no_long_test_reads_does_not_count(project: Path, name: str) -> None:
    before = digest(project)
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text("something else")
    assert digest(project) == before
