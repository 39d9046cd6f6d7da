"""Files that somebody comes back for within a day: what was uploaded, drawn or prepared. Then they are forgotten."""

import shutil
import time
from contextlib import suppress
from pathlib import Path

KEPT_SECONDS = 24 * 60 * 60


def forget_old(root: Path) -> None:
    """Remove the files and folders in `root` that are a day old."""
    for path in root.glob("*"):
        with suppress(FileNotFoundError):  # taken, or removed by somebody else, meanwhile
            if time.time() - path.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
