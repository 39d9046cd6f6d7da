"""Named places where a test can kill a process or keep it standing. Nothing happens unless ASSENT_FAILPOINTS is set.

It names a folder. A file NAME.armed in it arms one place; the first process to get there, and no other, renames the
file to NAME.fired and dies as by `kill -9`. With "hold" in the file it stands still instead until NAME.fired is gone.
"""

import os
import signal
import time
from pathlib import Path

FOLDER = os.environ.get("ASSENT_FAILPOINTS", "")
HOLD = "hold"
LOOK_EVERY_SECONDS = 0.02


def reach(name: str, *, of: str = "") -> None:
    """Pass the place `name`, or its variant `of` something: "outbox.claimed" of "RejectAssignment"."""
    if FOLDER:
        _pass(Path(FOLDER), f"{name}.{of}" if of else name)


def _pass(folder: Path, name: str) -> None:
    fired = folder / f"{name}.fired"
    try:
        order = (folder / f"{name}.armed").rename(fired).read_text()
    except FileNotFoundError:
        return
    if order != HOLD:
        os.kill(os.getpid(), signal.SIGKILL)
    while fired.exists():
        time.sleep(LOOK_EVERY_SECONDS)
