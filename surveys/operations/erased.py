"""Who was erased, in a file outside every backup, so that a restore can erase them again.

A line for each erasure: a mark of the key, a hash under it of crowd and id, what was done, and when. It names nobody to
whoever has not both the key and a list of ids. Lines are only added.
"""

import hmac
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import IO, Self

from django.conf import settings
from django.utils import timezone

from annotators.models import Worker
from annotators.people.names import names_of, site_keys


class Deed(StrEnum):
    """What was done, the more the later: ids; ids and comments; all that leads to them, by which name."""

    PURGE = "purge"
    COMMENTS = "purge-comments"
    FORGET = "forget"
    UNTRACEABLE = "forget-untraceable"


# A time would lead from an id to the one row that was given its random name then; nobody has that id again anyway.
ALWAYS = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Line:
    key: str
    whom: str
    deed: Deed
    at: datetime

    @classmethod
    def read(cls, text: str) -> Self:
        """Raises ValueError for what is no line."""
        key, whom, deed, at = text.split()
        return cls(key, whom, Deed(deed), whole_time(at))

    def __str__(self) -> str:
        return f"{self.key} {self.whom} {self.deed} {self.at.isoformat()}"


def whole_time(text: str) -> datetime:
    """Return a time with its zone. Raises ValueError without one: half a line ends within it."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"{text!r} has no zone.")
    return at


def path() -> Path:
    return Path(settings.DATA_DIR) / "erased"


def note(worker: Worker, deed: Deed) -> None:
    """Write down that a worker is erased. To be called right before, in its transaction.

    So nobody is erased who is not noted; whoever is noted and was not erased, as the machine stopped, was to be.
    """
    key = site_keys()[0]
    at = ALWAYS if deed == Deed.UNTRACEABLE else timezone.now()
    add([Line(_mark(key), _whom(worker.worker_id, source=worker.source, key=key), deed, at)])


def add(lines: Iterable[Line]) -> None:
    path().touch(mode=0o600, exist_ok=True)
    with path().open("ab+") as file:
        text = "".join(f"{line}\n" for line in lines)
        file.write((text if _ends_whole(file) else f"\n{text}").encode())
        file.flush()
        os.fsync(file.fileno())


def _ends_whole(file: IO[bytes]) -> bool:
    """Say whether the last line has its end; a full disk may have kept it out."""
    if file.seek(0, os.SEEK_END) == 0:
        return True
    file.seek(-1, os.SEEK_END)
    return file.read() == b"\n"


def lines(file: Path) -> Iterator[Line]:
    """Yield what a file says. Half a line, which a full disk leaves, is none. Raises OSError."""
    for text in file.read_text(encoding="ascii", errors="replace").splitlines():
        try:
            yield Line.read(text)
        except ValueError:
            continue


def is_readable(line: Line) -> bool:
    """Say whether it was written under a key that is still named here."""
    return line.key in map(_mark, site_keys())


def about(worker: Worker, *, noted: dict[str, list[Line]]) -> Deed | None:
    """Return what was done to a worker and is not done to this row; `noted` are the lines by whom they are about.

    Who was purged first and deleted later, was noted under the name they had by then.
    """
    names, source = names_of(worker.worker_id), worker.source
    whom = {_whom(name, source=source, key=key) for name in names for key in site_keys()}
    found = [line for one in whom for line in noted.get(one, ())]
    undone = [line.deed for line in found if worker.purged_at is None or worker.purged_at < line.at]
    return max(undone, key=list(Deed).index, default=None)


def _mark(key: bytes) -> str:
    return hmac.digest(key, b"erased", "sha256").hex()[:8]


def _whom(name: str, *, source: str, key: bytes) -> str:
    return hmac.digest(key, f"erased {source} {name}".encode(), "sha256").hex()
