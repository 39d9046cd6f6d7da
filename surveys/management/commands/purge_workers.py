"""Erase who workers are, a while after their last work."""

import getpass
from datetime import date, datetime, time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotators.crowds.mturk.gateway import MarketError
from surveys.operations import accounts
from surveys.operations.purging import Report, purge


class Command(BaseCommand):
    help = (
        "Replace the ids of workers who did nothing since a date by their pseudonyms. This can't be undone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--before", required=True, metavar="DATE", help="Who was last here before this day, 2026-03-31."
        )
        parser.add_argument("--dry-run", action="store_true", help="Only say who it would be.")
        parser.add_argument(
            "--comments", action="store_true", help="Erase what workers wrote at the end too."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        before = _midnight(options["before"])
        report = purge(
            before,
            comments=options["comments"],
            dry_run=options["dry_run"],
            account=getpass.getuser(),
        )
        self._print(report, is_dry=options["dry_run"])
        self._purge_accounts(before, is_dry=options["dry_run"])

    def _print(self, report: Report, *, is_dry: bool) -> None:
        self.stdout.write(f"{'would be purged' if is_dry else 'purged'}: {report.n_purged}")
        self.stdout.write(f"kept: {len(report.kept)}")
        for one in report.kept:
            self.stdout.write(f"  worker {one.pk} ({one.pseudonym}) {one.reason}")

    def _purge_accounts(self, before: datetime, *, is_dry: bool) -> None:
        try:
            record = accounts.purge(before, dry_run=is_dry)
        except MarketError as error:
            self.stderr.write(f"The marketplace was not reached, so no account was erased there: {error}")
            return
        if record.n_erased or record.kept:
            self.stdout.write(f"{'accounts to erase' if is_dry else 'accounts erased'}: {record.n_erased}")
        for reason in record.kept:
            self.stdout.write(f"  kept {reason}")


def _midnight(text: str) -> datetime:
    """Return the beginning of a day in TIME_ZONE. Raises CommandError for what is no day, or not over."""
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"{text!r} is no date; write it as 2026-03-31.") from error
    if day > timezone.localdate():
        raise CommandError(f"{text} is still to come.")
    return timezone.make_aware(datetime.combine(day, time.min))
