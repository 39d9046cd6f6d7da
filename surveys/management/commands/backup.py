"""Everything in one file: the database as it is at this moment, and the media files."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.operations.backups.archive import BackupError
from surveys.operations.backups.making import backup, verify


class Command(BaseCommand):
    help = "Write the database and the media files to one archive, while everything runs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="The archive to write, a ZIP; it must not exist yet.")
        parser.add_argument(
            "--verify", action="store_true", help="Write nothing: read an archive whole, as a restore would."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["verify"]:
                self._verify(options["file"])
                return
            summary = backup(options["file"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{options['file']}: {summary.rows} rows of {summary.tables} tables and {summary.files} media files, "
            "read back and compared."
        )
        for name in summary.missing:
            self.stderr.write(f"A row names the file {name}, which is not in the media folder.")

    def _verify(self, path: Path) -> None:
        summary, made_at = verify(path)
        self.stdout.write(
            f"{path} of {made_at} is sound, and this version can restore it: {summary.rows} rows of {summary.tables} "
            f"tables and {summary.files} media files."
        )
        if summary.is_another_key:
            self.stderr.write("It was made under a SECRET_KEY that is not named here.")
