"""Whose accounts were erased, in a file outside every backup: a restore brings an account back, and it goes again.

A line for each: a keyed hash of the worker id, and when. Lines are only added.
"""

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from marketplace.accounts.keys import digests
from marketplace.models import Worker

PURPOSE = "marketplace.erased-account"


def note(worker: Worker) -> None:
    """Write down that an account is erased. To be called right before, in its transaction."""
    path = _path()
    path.touch(mode=0o600, exist_ok=True)
    with path.open("a", encoding="ascii") as file:
        # Whatever a full disk has left of the line before, this one begins anew.
        file.write(f"\n{digests(PURPOSE, worker.worker_id)[0]} {timezone.now().isoformat()}\n")
        file.flush()
        os.fsync(file.fileno())


def noted() -> dict[str, datetime]:
    """Return when whose account was erased last. What is no line, as a full disk left half of one, is left out."""
    found: dict[str, datetime] = {}
    for line in (
        _path().read_text(encoding="ascii", errors="replace").splitlines() if _path().exists() else ()
    ):
        digest, _, at = line.partition(" ")
        try:
            when = datetime.fromisoformat(at)
        except ValueError:
            continue
        if when.tzinfo:  # half a line may end within the time
            found[digest] = when
    return found


def is_back(worker: Worker, *, among: Mapping[str, datetime]) -> bool:
    """Say whether this account was erased; one that was made since, under the same id, is another."""
    times = [among[digest] for digest in digests(PURPOSE, worker.worker_id) if digest in among]
    return any(worker.created_at < at for at in times)


def _path() -> Path:
    return Path(settings.DATA_DIR) / "erased-accounts"
