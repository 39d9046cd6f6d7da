"""Make an access key for a requester, whom it makes too when the name is new."""

from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from marketplace import clock
from marketplace.accounts import keys
from marketplace.models import Requester
from marketplace.money import ledger


class Command(BaseCommand):
    help = "Print a new access key id and its secret, which is shown this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("requester", help="The name workers see.")
        parser.add_argument("--deposit", default="0", help="Dollars to put on the account.")
        parser.add_argument(
            "--for-app",
            action="store_true",
            help="Name the pair as the app's own settings do, not as boto3 does.",
        )

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        cents = in_cents(options["deposit"])
        requester, _ = Requester.objects.get_or_create(name=options["requester"])
        if cents:
            ledger.deposit(requester, cents=cents, now=clock.now())
        key, secret = keys.create_key(requester)
        whose = "MARKETPLACE" if options["for_app"] else "AWS"
        self.stdout.write(f"{whose}_ACCESS_KEY_ID={key.key_id}\n{whose}_SECRET_ACCESS_KEY={secret}")


def in_cents(dollars: str) -> int:
    """Read an amount in dollars. Raises CommandError."""
    try:
        cents = Decimal(dollars) * 100
        if 0 <= cents <= 10**12 and cents == int(cents):
            return int(cents)
    except InvalidOperation:
        pass
    raise CommandError(f"{dollars} is not an amount in dollars and cents.")
