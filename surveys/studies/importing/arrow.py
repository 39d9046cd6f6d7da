"""Parquet and Arrow files, and folders or ZIPs of them, as JSON lines and a ZIP of the pictures in their cells."""

import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.conf import settings

from surveys.studies.importing import __path__ as here

PROGRAM = Path(here[0]) / "arrow_process.py"
STARTS = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")  # of Parquet, of an Arrow file, of an Arrow stream
ENDINGS = (".parquet", ".arrow")
REFUSED = 3
SECONDS = 180
BROKEN = "The file can't be read: it is broken, cut off, or needs too much memory."


class ArrowError(ValueError):
    """The file can't be taken; the message says why."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The rows as JSON lines, and the ZIP of the files in their cells, None where there are none."""

    items: Path
    files: Path | None


def is_arrow(file: IO[bytes]) -> bool:
    """Tell by its first bytes whether a file is one for `unpack`, or a ZIP of such; it is at its start again."""
    start = file.read(6)
    file.seek(0)
    if start[:4] == b"PK\x03\x04":
        return _holds_arrow(file)
    return start.startswith(STARTS)


def _holds_arrow(file: IO[bytes]) -> bool:
    try:
        with zipfile.ZipFile(file) as archive:
            return any(name.endswith(ENDINGS) for name in archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False
    finally:
        file.seek(0)


def is_arrow_path(path: Path) -> bool:
    """Tell whether a path is a file or folder for `unpack`."""
    if path.is_dir():
        return any(one.suffix in ENDINGS for one in path.rglob("*"))
    try:
        with path.open("rb") as file:
            return is_arrow(file)
    except OSError:
        return False


def unpack(source: Path, *, into: Path) -> Unpacked:
    """Write a file or folder anew as `items` and `files.zip` in the folder `into`; ArrowError if that can't be done.

    A ZIP that is there is added to: names are made of the files' bytes.
    """
    items, files = into / "items", into / "files.zip"
    limits = [str(settings.UPLOAD_MAX_BYTES), str(settings.IMAGE_ARCHIVE_MAX_BYTES)]
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(PROGRAM), str(source), str(items), str(files), *limits],
            check=False,
            capture_output=True,
            timeout=SECONDS,
            env={
                "ARROW_DEFAULT_MEMORY_POOL": "system",
                "TMPDIR": str(into),
                "PATH": os.environ.get("PATH", ""),
            },
        )
    except subprocess.TimeoutExpired:
        raise ArrowError("The file takes too long to read.") from None
    if done.returncode:
        raise ArrowError(done.stderr.decode() if done.returncode == REFUSED else BROKEN)
    with zipfile.ZipFile(files) as archive:
        return Unpacked(items, files if archive.namelist() else None)
