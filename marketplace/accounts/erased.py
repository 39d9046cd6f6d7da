"""Whose accounts were erased, in a file outside every backup: a restore brings an account back, and it goes again.

A line for each: a mark of the key, a hash under it of the worker id, and when. Lines are only added.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from marketplace.accounts.keys import digests
from marketplace.models import Worker

PURPOSE = "marketplace.erased-account"


@dataclass(frozen=True, slots=True)
class Noted:
    """When whose account was erased last, by hash, and of how many lines nobody can tell whose they are."""

    times: dict[str, datetime]
    n_unreadable: int = 0

    def has_back(self, worker: Worker) -> bool:
        """Say whether this account was erased; one that was made since, under the same id, is another."""
        mine = [self.times[digest] for digest in digests(PURPOSE, worker.worker_id) if digest in self.times]
        return any(worker.created_at < at for at in mine)


def note(worker: Worker) -> None:
    """Write down that an account is erased. To be called right before, in its transaction."""
    path().touch(mode=0o600, exist_ok=True)
    with path().open("a", encoding="ascii") as file:
        # Whatever a full disk has left of the line before, this one begins anew.
        file.write(f"\n{_marks()[0]} {digests(PURPOSE, worker.worker_id)[0]} {timezone.now().isoformat()}\n")
        file.flush()
        os.fsync(file.fileno())


def noted() -> Noted | None:
    """Return what was written down, None where nothing ever was. What is no line, half of one, is left out."""
    if not path().exists():
        return None
    marks, found, n_unreadable = _marks(), dict[str, datetime](), 0
    for mark, digest, at in _lines():
        if mark in marks:
            found[digest] = at
        else:
            n_unreadable += 1
    return Noted(found, n_unreadable)


def _lines() -> Iterator[tuple[str, str, datetime]]:
    for line in path().read_text(encoding="ascii", errors="replace").splitlines():
        try:
            mark, digest, text = line.split()
            at = datetime.fromisoformat(text)
        except ValueError:
            continue
        if at.tzinfo:  # half a line may end within the time
            yield mark, digest, at


def _marks() -> list[str]:
    """Return what each of the site's keys is known by, the present one first."""
    return [digest[:8] for digest in digests(PURPOSE, "")]


def path() -> Path:
    return Path(settings.DATA_DIR) / "erased-accounts"
