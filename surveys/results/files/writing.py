"""Files of results as they are put in a folder: all of them or none."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

CSV, JSON, JSONL = "text/csv", "application/json", "application/jsonl"
Writer = Callable[[IO[str]], None]


def write_files(
    folder: Path,
    *,
    writers: Mapping[str, Writer],
    before_moving: Callable[[Mapping[str, Path]], None] = lambda files: None,
) -> list[Path]:
    """Write every file beside its destination first and move all of them into place at the end.

    `folder` is made if need be. If a writer fails, or what is to be done with the written files `before_moving` them,
    what was in the folder before is untouched.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".writing-", dir=folder) as name:
        scratch = Path(name)
        for filename, write in writers.items():
            with (scratch / filename).open("w", encoding="utf-8", newline="") as stream:
                write(stream)
        before_moving({filename: scratch / filename for filename in writers})
        for filename in writers:
            (scratch / filename).replace(folder / filename)
    return [folder / filename for filename in writers]


def count_rows(file: IO[bytes], *, content_type: str) -> int:
    """Return how many rows a CSV has under its header, or how many lines another file has."""
    if content_type != CSV:
        return sum(1 for _ in file)
    n, is_within = -1, False
    for line in file:
        is_within ^= line.count(b'"') % 2 == 1  # a line end within quotes ends no row
        n += not is_within
    return max(n, 0)
