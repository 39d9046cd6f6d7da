"""Several files into one folder: all of them, or none."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

Writer = Callable[[IO[str]], None]


def write_files(folder: Path, *, writers: Mapping[str, Writer]) -> list[Path]:
    """Write every file beside its destination first and move all of them into place at the end.

    `folder` is made if need be. If a writer fails, what was in the folder before is untouched.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".writing-", dir=folder) as name:
        scratch = Path(name)
        for filename, write in writers.items():
            with (scratch / filename).open("w", encoding="utf-8", newline="") as stream:
                write(stream)
        for filename in writers:
            (scratch / filename).replace(folder / filename)
    return [folder / filename for filename in writers]
