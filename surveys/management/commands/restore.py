"""An archive of `manage.py backup` put in the place of what is here."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.operations import erased
from surveys.operations.backups.archive import BackupError
from surveys.operations.backups.restoring import restore


class Command(BaseCommand):
    help = "Check an archive and put its rows and media files in the place of what is here: all or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="An archive that `backup` wrote.")
        parser.add_argument("--force", action="store_true", help="Replace rows and files that are here.")
        parser.add_argument(
            "--erased", type=Path, metavar="FILE", help="Another data folder's list of who was erased there."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        erasures = self._erasures(options["erased"])
        try:
            summary = restore(options["file"], force=options["force"], erasures=erasures)
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Restored {summary.rows} rows of {summary.tables} tables and {summary.files} media files."
        )
        if n := summary.n_migrations:
            said = "1 migration was" if n == 1 else f"{n} migrations were"
            self.stdout.write(f"An older version had made them: {said} run on them.")
        self._tell_erased(summary.n_erased, erasures)
        if summary.is_another_key:
            self.stderr.write(
                "The archive was made under another SECRET_KEY: personal links that were sent are void, "
                "pseudonyms in new files differ, and the marketplace takes neither access codes nor invitations "
                "of before. With the old key in place all of it is as it was."
            )

    def _erasures(self, other: Path | None) -> list[erased.Line]:
        """Return who was erased here and, by the `other` list, elsewhere; from now on both are noted here."""
        try:
            own = list(erased.lines(erased.path())) if erased.path().exists() else []
            found = list(erased.lines(other)) if other else []
        except OSError as error:
            raise CommandError(f"{error.filename} can't be read: {error.strerror}.") from error
        if other and not found:
            raise CommandError(f"{other} is no list of who was deleted: it has no line of one.")
        known = set(own)
        new = [line for line in found if line not in known]
        if new:
            erased.add(new)
        return own + new

    def _tell_erased(self, n: int, erasures: list[erased.Line]) -> None:
        if n:
            self.stdout.write(
                f"{n} {'person was' if n == 1 else 'people were'} deleted again, as they had been since the backup."
            )
        if not erasures:
            self.stderr.write(
                f"There is no list of who was deleted, {erased.path()}. Whoever was deleted after the backup is back: "
                "restore again with the list of the former data folder, --erased FILE, or delete them again."
            )
        if n_lost := sum(not erased.is_readable(line) for line in erasures):
            self.stderr.write(
                f"{n_lost} of {len(erasures)} deletions were noted under another key, so nobody can tell whose they "
                "were. Name it in ASSENT_PSEUDONYM_KEY_FALLBACKS, or a former SECRET_KEY in SECRET_KEY_FALLBACKS, and "
                "restore again."
            )
