"""A backup or a restore that is killed leaves a copy of all; the next run removes it, and no living run's."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from surveys.models import Batch
from surveys.operations.backups import folders, media
from surveys.operations.backups.archive import OWN, BackupError
from surveys.operations.backups.making import OWN as BACKUP
from surveys.operations.backups.making import backup
from surveys.operations.backups.restoring import restore

pytestmark = pytest.mark.django_db(transaction=True)
RUN = """
import sys, time
from pathlib import Path
from surveys.operations.backups import folders
with folders.working(Path(sys.argv[1]), prefix=sys.argv[2]) as folder:
    (folder / "everything").write_text("a copy")
    print(folder, flush=True)
    time.sleep(600)
"""


@contextmanager
def another_run(parent: Path, *, prefix: str) -> Iterator[tuple[Path, "subprocess.Popen[str]"]]:
    command = [sys.executable, "-c", RUN, str(parent), prefix]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout
        try:
            yield Path(run.stdout.readline().strip()), run
        finally:
            run.kill()


def killed(parent: Path, *, prefix: str) -> Path:
    with another_run(parent, prefix=prefix) as (folder, run):
        os.kill(run.pid, signal.SIGKILL)
    assert (folder / "everything").exists()
    return folder


def test_the_next_backup_removes_what_a_killed_one_left(batch: Batch, tmp_path: Path) -> None:
    left = killed(tmp_path, prefix=BACKUP)
    backup(tmp_path / "all.zip")
    assert not left.exists()


def test_the_next_restore_removes_what_a_killed_one_left(made: Path, media: Path) -> None:
    left = killed(media, prefix=OWN)
    restore(made, force=True)
    assert not left.exists()


def test_what_a_living_run_works_in_stays(batch: Batch, tmp_path: Path) -> None:
    with another_run(tmp_path, prefix=BACKUP) as (folder, _):
        backup(tmp_path / "all.zip")
        assert (folder / "everything").read_text() == "a copy"


def test_former_files_stay_until_a_restore_has_succeeded(made: Path, tmp_path: Path) -> None:
    """The machine stopped while files were exchanged: they are nowhere else."""
    left = killed(media.root(), prefix=OWN)
    (left / folders.FORMER).mkdir()
    with pytest.raises(BackupError):
        restore(tmp_path / "none.zip", force=True)
    assert left.exists()
    restore(made, force=True)
    assert not left.exists()


@pytest.mark.parametrize("name", [f"{BACKUP}2026-11-01", ".backup-12345678"])
def test_a_folder_of_somebody_elses_stays(batch: Batch, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    backup(tmp_path / "all.zip")
    assert (tmp_path / name).exists()
