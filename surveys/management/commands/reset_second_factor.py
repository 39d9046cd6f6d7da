"""Take a researcher's second factor away: for a phone that was lost with the recovery codes."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.pages.sign_in import factors


class Command(BaseCommand):
    help = "Take the second factor of a researcher away. They set up another one at their next sign-in, or need none."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the user name they sign in with")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"]
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"There is no user {name}.")
        if not factors.remove(user):
            raise CommandError(f"{name} has no second factor.")
        self.stdout.write(f"The second factor of {name} is taken away, with its recovery codes.")
