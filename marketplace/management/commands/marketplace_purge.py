"""Erase the accounts of workers who did nothing for long, whoever they worked for: for who runs the marketplace."""

from datetime import date, datetime, time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from marketplace import clock
from marketplace.engine.forgetting import erase_idle


class Command(BaseCommand):
    help = "Erase who the workers are that did nothing since a date. This can't be undone."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--before", required=True, metavar="DATE", help="Who was last here before this day, 2026-03-31."
        )
        parser.add_argument("--spare", nargs="*", default=[], metavar="ID", help="Worker ids to leave alone.")
        parser.add_argument("--dry-run", action="store_true", help="Only say how many it would be.")

    def handle(self, *args: Any, **options: Any) -> None:
        is_dry = options["dry_run"]
        report = erase_idle(
            _midnight(options["before"]), now=clock.now(), spare=options["spare"], is_dry=is_dry
        )
        self.stdout.write(f"{'accounts to erase' if is_dry else 'accounts erased'}: {report.n_erased}")
        for reason in report.kept:
            self.stdout.write(f"  kept {reason}")


def _midnight(text: str) -> datetime:
    try:
        return timezone.make_aware(datetime.combine(date.fromisoformat(text), time.min))
    except ValueError as error:
        raise CommandError(f"{text!r} is no date; write it as 2026-03-31.") from error
