"""When the last backup was made: a mark in the data folder, a gauge, and a mail where one is due and not made."""

import logging
import time
from pathlib import Path

from django.conf import settings

from surveys.operations.daily_mail import mail_once_a_day

logger = logging.getLogger(__name__)


def mark() -> None:
    """Write down that a backup was made just now; where that can't be, the backup is none the worse."""
    try:
        _path().touch()
    except OSError:
        logger.warning("When the last backup was made can't be written down.", exc_info=True)


def age() -> float | None:
    """Return the seconds since the last backup; None where none was made from this data folder."""
    try:
        return max(0.0, time.time() - _path().stat().st_mtime)
    except FileNotFoundError:
        return None


def warn() -> int:
    """Mail those named for alarms, once a day while the last backup is too old; return how many mails were sent."""
    seconds, hours = age(), settings.BACKUP_ALARM_HOURS
    if hours <= 0 or (seconds is not None and seconds <= hours * 3600):
        return 0
    when = "No backup was ever made here." if seconds is None else f"It is {seconds / 3600:.0f} hours old."
    return mail_once_a_day(
        "backup is old",
        subject="[Assent] The last backup is too old",
        body=f"{when} One is to be made every {hours} hours (ASSENT_BACKUP_ALARM_HOURS).\n",
    )


def _path() -> Path:
    return Path(settings.DATA_DIR) / "last_backup"
