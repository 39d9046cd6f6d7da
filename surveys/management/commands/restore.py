"""An archive of `manage.py backup` put in the place of what is here."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.operations.backups.archive import BackupError
from surveys.operations.backups.restoring import restore


class Command(BaseCommand):
    help = "Check an archive and put its rows and media files in the place of what is here: all or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="An archive that `backup` wrote.")
        parser.add_argument("--force", action="store_true", help="Replace rows and files that are here.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            summary = restore(options["file"], force=options["force"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Restored {summary.rows} rows of {summary.tables} tables and {summary.files} media files."
        )
        if n := summary.n_migrations:
            said = "1 migration was" if n == 1 else f"{n} migrations were"
            self.stdout.write(f"An older version had made them: {said} run on them.")
        if summary.is_another_key:
            self.stderr.write(
                "The archive was made under another SECRET_KEY: personal links that were sent are void, "
                "pseudonyms in new files differ, and the marketplace takes neither access codes nor invitations "
                "of before. With the old key in place all of it is as it was."
            )
