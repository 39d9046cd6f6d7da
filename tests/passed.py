"""On which files the long tests have passed: the gate does not run them again where not a byte has changed.

`python -m tests.passed` ends with 0 where the record is of the files that are here, else with 1.
`python -m tests.passed --run` runs the long tests, all of them, and makes the record where they pass.
docs/adr/0028-what-has-passed-is-on-record.md says why.
"""

import fnmatch
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = "tests/passed.sha256"
LONG_TESTS = ("make", "--no-print-directory", "test-integration", "test-processes", "test-sqlite-some")
# What would have make or pytest run less than all, or something else.
NARROWING = ("ARGS", "MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "PYTEST_ADDOPTS", "ASSENT_TEST_DATABASE")
# What git ignores: by name wherever it is, and by path. Texts are read by tests that are soon done. All else counts.
LEFT_OUT = (
    ".git", ".venv", "var", "__pycache__", "*.pyc", ".*_cache", ".hypothesis", ".env", ".stamps", "*.egg-info", "*.md",
)  # fmt: skip
LEFT_OUT_HERE = ("clients/python/build", "set-aside", RECORD)


def digest(root: Path = ROOT) -> str:
    """Return the SHA-256 of all files that count, by their paths, rights to run and contents."""
    whole = hashlib.sha256()
    for path in sorted(_files(root)):
        name = path.relative_to(root).as_posix()
        content = bytes(path.readlink()) if path.is_symlink() else path.read_bytes()
        is_run = os.access(path, os.X_OK)
        whole.update(f"{name}\0{is_run}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return whole.hexdigest()


def is_on_record(root: Path = ROOT) -> bool:
    record = root / RECORD
    return record.exists() and record.read_text() == f"{digest(root)}\n"


def run_and_record(command: Sequence[str], *, root: Path = ROOT) -> int:
    """Run a command and return its status; 0 where it succeeds, no file changed meanwhile, and that is on record."""
    before = digest(root)
    whole = {name: value for name, value in os.environ.items() if name not in NARROWING}
    if status := subprocess.run(command, cwd=root, env=whole, check=False).returncode:
        return status
    if digest(root) != before:
        sys.stderr.write("Files have changed since the tests began: nothing is on record.\n")
        return 1
    (root / RECORD).write_text(f"{before}\n")
    return 0


def _files(root: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(root):
        folder = Path(where)
        folders[:] = [name for name in folders if not _is_left_out(folder / name, root=root)]
        links = [name for name in folders if (folder / name).is_symlink()]
        yield from (folder / name for name in [*names, *links] if not _is_left_out(folder / name, root=root))


def _is_left_out(path: Path, *, root: Path) -> bool:
    here = path.relative_to(root).as_posix()
    is_archive = path.parent == root and path.suffix == ".zip"
    return (
        is_archive
        or here in LEFT_OUT_HERE
        or any(fnmatch.fnmatch(path.name, pattern) for pattern in LEFT_OUT)
    )


if __name__ == "__main__":
    sys.exit(run_and_record(LONG_TESTS) if sys.argv[1:] == ["--run"] else not is_on_record())
