"""How much room is left where answers, pictures and the SQLite database are kept, and what is said when it is gone."""

import errno
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext_noop

from surveys.operations.daily_mail import mail_once_a_day

FULL = gettext_noop(
    "The disk of this site is full, so this could not be done. Whoever runs the site has to make room; try again then."
)
LOCKED = gettext_noop(
    "This site can't read or write what lies in the folder of its data, so this could not be done. Whoever runs it has "
    "to open it for both; try again then."
)
SAID = {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EROFS: LOCKED}
SAID_BY_SQLITE = {
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_IOERR_SHMSIZE: FULL,  # no room for the index of its log, without which nothing is read either
    sqlite3.SQLITE_READONLY: LOCKED,
    sqlite3.SQLITE_CANTOPEN: LOCKED,
}
SAID_BY_POSTGRESQL = {"53100": FULL}  # disk_full


def folders() -> dict[str, Path]:
    """Return where we write: by the name of the folder's variable."""
    return {"ASSENT_DATA_DIR": Path(settings.DATA_DIR), "ASSENT_MEDIA_DIR": Path(settings.MEDIA_ROOT)}


def free_share() -> float:
    """Return the free share, 0 to 1, of the disk with the least room among those of data and media."""
    return fullest()[0]


def fullest() -> tuple[float, Path]:
    """Return the folder on the disk with the least room, after its free share, 0 to 1."""
    return min((_free(folder), folder) for folder in folders().values())


def is_low() -> bool:
    """Tell whether less is free than ASSENT_DISK_FREE_PERCENT says."""
    return free_share() * 100 < settings.DISK_FREE_PERCENT


def unwritable() -> list[str]:
    """Return the variables of those folders in which no file can be made and filled now."""
    return [name for name, folder in folders().items() if not _takes(folder)]


def fault(error: BaseException | None) -> str:
    """Return what to tell people, to be translated, where an error is about a disk that takes nothing; else ""."""
    return next((said for cause in _causes(error) if (said := _said(cause))), "")


def warn() -> int:
    """Mail those named for alarms, once a day while there is little room; return how many mails were sent."""
    if not is_low():
        return 0
    share, folder = fullest()
    body = (
        f"{share:.1%} of the disk of {folder} is free, less than the {settings.DISK_FREE_PERCENT}% of "
        "ASSENT_DISK_FREE_PERCENT. Once it is full, no answer is kept.\n"
    )
    return mail_once_a_day("disk is low", subject="[Assent] The disk is almost full", body=body)


def there(folder: Path) -> Path:
    """Return the folder, or the nearest above it that exists: media come with the first picture."""
    while not folder.exists():
        folder = folder.parent
    return folder


def _free(folder: Path) -> float:
    usage = shutil.disk_usage(there(folder))
    return usage.free / usage.total


def _takes(folder: Path) -> bool:
    """Tell whether a file can be made and filled; on Linux it has no name and never reaches the disk."""
    try:
        with tempfile.TemporaryFile(dir=there(folder), buffering=0) as file:
            file.write(b".")
    except OSError:
        return False
    return True


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it came from, itself first."""
    while error:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _said(error: BaseException) -> str:
    if isinstance(error, PermissionError):
        return LOCKED if _is_ours(error.filename) else ""
    if isinstance(error, OSError):
        return SAID.get(error.errno or 0, "")
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0)
        return SAID_BY_SQLITE.get(code) or SAID_BY_SQLITE.get(code & 0xFF, "")  # the rest is a detail
    return SAID_BY_POSTGRESQL.get(getattr(error, "pgcode", None) or "", "")


def _is_ours(filename: object) -> bool:
    if not settings.configured or not isinstance(filename, str):
        return False
    return any(Path(filename).is_relative_to(folder) for folder in folders().values())
