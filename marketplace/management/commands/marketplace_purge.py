"""Erase the accounts of workers who did nothing for long, whoever they worked for: for who runs the marketplace."""

from datetime import date, datetime, time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from marketplace import clock
from marketplace.accounts import erased
from marketplace.engine.forgetting import erase_again, erase_idle


class Command(BaseCommand):
    help = "Erase who the workers are that did nothing since a date. This can't be undone."

    def add_arguments(self, parser: CommandParser) -> None:
        whom = parser.add_mutually_exclusive_group(required=True)
        whom.add_argument("--before", metavar="DATE", help="Who was last here before this day, 2026-03-31.")
        whom.add_argument(
            "--again", action="store_true", help="Who was erased before, and is back with a restored backup."
        )
        parser.add_argument("--spare", nargs="*", default=[], metavar="ID", help="Worker ids to leave alone.")
        parser.add_argument("--dry-run", action="store_true", help="Only say how many it would be.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["again"] and (options["dry_run"] or options["spare"]):
            raise CommandError("--again goes with nothing else.")
        if options["again"]:
            self._again()
            return
        is_dry = options["dry_run"]
        report = erase_idle(
            _midnight(options["before"]), now=clock.now(), spare=options["spare"], is_dry=is_dry
        )
        self.stdout.write(f"{'accounts to erase' if is_dry else 'accounts erased'}: {report.n_erased}")
        for reason in report.kept:
            self.stdout.write(f"  kept {reason}")

    def _again(self) -> None:
        self.stdout.write(f"accounts erased: {erase_again()}")
        noted = erased.noted()
        if noted is None:
            self.stderr.write(
                f"There is no list of whose account was erased, {erased.path()}. Put that of the former data folder "
                "there and run this again, or erase them again."
            )
        elif noted.n_unreadable:
            self.stderr.write(
                f"{noted.n_unreadable} of its lines were written under another key, so nobody can tell whose accounts "
                "they are. Name that key in MARKETPLACE_KEY_FALLBACKS, or a former SECRET_KEY in SECRET_KEY_FALLBACKS, "
                "and run this again."
            )


def _midnight(text: str) -> datetime:
    try:
        return timezone.make_aware(datetime.combine(date.fromisoformat(text), time.min))
    except ValueError as error:
        raise CommandError(f"{text!r} is no date; write it as 2026-03-31.") from error
