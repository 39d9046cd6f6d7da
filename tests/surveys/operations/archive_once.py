"""One archive for all tests of a file that only have it refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from surveys.operations.backups.making import backup


@pytest.fixture(scope="module")
def back_up_once() -> Callable[[Path], Path]:
    """A function that writes an archive to a path: of what is stored when it is first asked."""
    first: list[bytes] = []

    def write(path: Path) -> Path:
        if first:
            path.write_bytes(first[0])
        else:
            backup(path)
            first.append(path.read_bytes())
        return path

    return write
