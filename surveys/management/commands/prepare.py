"""manage.py prepare: bring the data folder up to date, so that the site can be served from it."""

import os
import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand

from surveys.management.commands.create_roles import ROLES, give

RESEARCHER = "researcher"
PASSWORD_FILE = "researcher-password"  # noqa: S105 - a file name


class Command(BaseCommand):
    help = (
        "Migrate, load fixtures/, make the researcher account, import the demo surveys, collect static files."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-demo", action="store_true", help="Leave the demo surveys out.")

    def handle(self, *args: Any, **options: Any) -> None:
        verbosity = options["verbosity"]
        call_command("migrate", interactive=False, verbosity=0)
        load_fixtures(verbosity=verbosity)
        make_researcher()
        if not options["no_demo"]:
            make_colleagues()
            call_command("load_demo", publish=True, verbosity=verbosity)
        call_command("collectstatic", interactive=False, verbosity=0)


def load_fixtures(*, verbosity: int = 1) -> None:
    """Load every fixtures/*.json, in the order of their names."""
    names = sorted(path.name for folder in settings.FIXTURE_DIRS for path in Path(folder).glob("*.json"))
    if names:
        call_command("loaddata", *names, verbosity=verbosity)


def make_researcher() -> None:
    """Make the researcher's account with a random password, kept in a file that only its owner can read.

    An account that exists keeps the password it has.
    """
    researchers = get_user_model()._default_manager
    if researchers.filter(username=RESEARCHER).exists():
        return
    password = keep_password(settings.DATA_DIR / PASSWORD_FILE)
    get_user_model().objects.create_superuser(username=RESEARCHER, password=password)


def colleagues() -> dict[str, str]:
    """Return {name of a demo account: its role}, one of each role beside the researcher, who may do everything."""
    names = {"Researcher": "colleague"}
    return {names.get(role, role.lower()): role for role in ROLES}


def make_colleagues() -> None:
    """Make one account of each role, with the researcher's password as it was made; those that exist stay."""
    accounts = get_user_model()._default_manager
    for name, role in colleagues().items():
        if not accounts.filter(username=name).exists():
            password = keep_password(settings.DATA_DIR / PASSWORD_FILE)
            account = get_user_model().objects.create_user(username=name, password=password, is_staff=True)
            account.groups.add(give(role, ROLES[role]))


def keep_password(path: Path) -> str:
    """Return the password in `path`; write a random one first if there is no such file."""
    try:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(12))
    except FileExistsError:
        pass
    return path.read_text()
