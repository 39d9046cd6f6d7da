"""How much room is left where answers, pictures and the SQLite database are kept, and a mail before there is none."""

import shutil
from pathlib import Path

from django.conf import settings
from django.core.cache import caches
from django.core.mail import EmailMessage

MAILED_EVERY = 24 * 3600  # seconds


def free_share() -> float:
    """Return the free share, 0 to 1, of the disk with the least room among those of data and media."""
    return min(_free(Path(folder)) for folder in (settings.DATA_DIR, settings.MEDIA_ROOT))


def is_low() -> bool:
    """Tell whether less is free than ASSENT_DISK_FREE_PERCENT says."""
    return free_share() * 100 < settings.DISK_FREE_PERCENT


def warn() -> int:
    """Mail those named for alarms, once a day while there is little room; return how many mails were sent."""
    if not settings.ALARM_RECIPIENTS or not is_low():
        return 0
    if not caches["heartbeats"].add("disk is low", 1, timeout=MAILED_EVERY):
        return 0
    body = f"{free_share():.1%} of the disk is free. Once it is full, no answer is kept.\n"
    try:
        return EmailMessage("[Assent] The disk is almost full", body, to=settings.ALARM_RECIPIENTS).send()
    except (OSError, ValueError):
        caches["heartbeats"].delete("disk is low")
        return 0


def _free(folder: Path) -> float:
    while not folder.exists():  # media come with the first picture
        folder = folder.parent
    usage = shutil.disk_usage(folder)
    return usage.free / usage.total
