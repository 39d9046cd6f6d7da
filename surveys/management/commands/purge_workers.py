"""Erase who workers are: a while after their last work, or one who has asked for it."""

import getpass
from datetime import date, datetime, time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotators.crowds.mturk.gateway import MarketError
from annotators.models import Source, Worker
from annotators.people.names import pseudonym
from surveys.management.people import the_person
from surveys.operations import accounts
from surveys.operations.holding import in_the_way
from surveys.operations.own_data import forget_for
from surveys.operations.purging import Report, purge


class Command(BaseCommand):
    help = (
        "Replace the ids of workers who did nothing since a date by their pseudonyms, or delete what leads to one "
        "person, with their own words. This can't be undone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        whom = parser.add_mutually_exclusive_group(required=True)
        whom.add_argument("--before", metavar="DATE", help="Who was last here before this day, 2026-03-31.")
        whom.add_argument("--worker", metavar="PSEUDONYM", help="One person, by their pseudonym or their id.")
        parser.add_argument("--source", choices=Source.values, help="Of which crowd, where two have that id.")
        parser.add_argument("--dry-run", action="store_true", help="Only say who it would be.")
        parser.add_argument(
            "--comments",
            action="store_true",
            help="Erase what workers wrote at the end too; --worker always does.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["worker"] is not None:
            self._forget(the_person(options["worker"], source=options["source"]), is_dry=options["dry_run"])
            return
        if options["source"]:
            raise CommandError("--source says whom --worker means; --before purges of all crowds.")
        before = _midnight(options["before"])
        report = purge(
            before,
            comments=options["comments"],
            dry_run=options["dry_run"],
            account=getpass.getuser(),
        )
        self._print(report, is_dry=options["dry_run"])
        self._purge_accounts(before, is_dry=options["dry_run"])

    def _forget(self, worker: Worker, *, is_dry: bool) -> None:
        named = f"worker {worker.pk} ({pseudonym(worker.worker_id)})"
        reasons = in_the_way(worker) if is_dry else forget_for(worker, account=getpass.getuser())
        if reasons:
            raise CommandError("\n  ".join([f"{named} has to stay for now:", *reasons]))
        self.stdout.write(f"{named} {'would be' if is_dry else 'is'} deleted; their answers stay.")

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
