"""Folders that backups and restores work in. Each is locked by its run, so that those of dead runs can be told.

The kernel lets a lock go when its process ends, however it ends: flock(2). What has none, as where a network's file
system takes no locks, is never removed by anybody else.
"""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FORMER = "old"  # in a restore's folder: the files that were there before it


@contextmanager
def working(parent: Path, *, prefix: str) -> Iterator[Path]:
    """Give a new folder in `parent` that only we may read; it is gone at the end."""
    with _alone(parent):
        folder = tempfile.TemporaryDirectory(dir=parent, prefix=prefix)
        locked = _opened(Path(folder.name))
        with suppress(OSError):
            fcntl.flock(locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        with folder as name:
            yield Path(name)
    finally:
        os.close(locked)


def discard_dead(parent: Path, *, prefix: str, former_too: bool = False) -> None:
    """Remove the folders in `parent` of runs that are dead.

    One with former files stays unless `former_too`: if the machine stopped right in a restore, they are nowhere else.
    """
    ours = re.compile(re.escape(prefix) + "[a-z0-9_]{8}")  # as tempfile names them
    with _alone(parent) as is_alone:
        for folder in parent.iterdir() if is_alone else ():
            is_folder = ours.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink()
            if is_folder and (former_too or not (folder / FORMER).exists()) and _is_dead(folder):
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _alone(parent: Path) -> Iterator[bool]:
    """Say whether nobody else makes or removes folders in `parent` during the block; False where locks don't work."""
    opened = _opened(parent)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
    except OSError:
        yield False
    else:
        yield True
    finally:
        os.close(opened)


def _is_dead(folder: Path) -> bool:
    """Say whether nobody works in it; False where that can't be told, or the folder is another account's."""
    try:
        opened = _opened(folder)
    except OSError:
        return False
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(opened)


def _opened(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
