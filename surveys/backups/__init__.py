"""One archive with all of the database and the media files, and the way back: docs/backups.md."""

from surveys.backups.archive import BackupError
from surveys.backups.making import Summary, backup
from surveys.backups.restoring import restore

__all__ = ["BackupError", "Summary", "backup", "restore"]
