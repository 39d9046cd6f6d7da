"""manage.py demo: the whole of Assent on this machine, until Ctrl-C."""

import os
import signal
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn, TextIO

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from surveys.answering.invitations import address
from surveys.management.commands.prepare import PASSWORD_FILE, RESEARCHER, colleagues
from surveys.models import Invitation
from surveys.operations.processes.__main__ import Wanted
from surveys.operations.processes.stack import addresses, free_port, is_localhost_known
from surveys.operations.processes.supervisor import STOP_SIGNALS, ProcessError
from surveys.rehearsal import resetting
from surveys.rehearsal.demo_studies import GUEST

STANDARD_INPUT = 0
WELCOME = """
Assent is running. Ctrl-C stops it.{moved}

  Researcher   {app}/admin/
               name {name}, password {password}
               with the same password, with fewer rights: {colleagues}
  Worker site  {market}/
  VTT by link  {link}

Simulated people fill the studies that are called finished, in the background: their pages show how far they are.
`make demo ARGS=--reset` begins anew.

Data and logs are in {data}.
"""
NO_LOCALHOST = (
    "This machine does not know the name localhost, so nothing can be published. Add it: "
    "echo '127.0.0.1 localhost' >> /etc/hosts"
)
OTHER_PORT = "\nPort {first} is not free, so it is on port {port}."


class Command(BaseCommand):
    help = "Prepare the data folder, start web server, Celery worker and beat, and stop them all on Ctrl-C."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=settings.DEMO_PORT, help="The first port to try.")
        parser.add_argument(
            "--reset", action="store_true", help="Begin anew; refused where there is more than the demo."
        )
        parser.add_argument("--no-browser", action="store_true", help="Do not open a browser.")

    def handle(self, *args: Any, **options: Any) -> None:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.default_int_handler)
        if options["reset"]:
            self.reset()
        if not is_localhost_known():
            self.stderr.write(NO_LOCALHOST)
        port = free_port(start=options["port"])
        environment = {**addresses(port), "MARKETPLACE_OPEN_SIGNUP": "1"}
        try:
            with resetting.running() as lock:
                prepare(environment)
                site = wanted(port, environment, first=options["port"], browse=not options["no_browser"])
                become(site, keeping=lock)
        except (ProcessError, resetting.NotOnlyDemo) as error:
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            self.stdout.write("Stopped.")

    def reset(self) -> None:
        """Delete the demo's data, where there is nothing else."""
        try:
            if resetting.reset(accounts={RESEARCHER, *colleagues()}):
                self.stdout.write("The demo begins anew.")
        except resetting.NotOnlyDemo as error:
            raise CommandError(str(error)) from None


def wanted(port: int, environment: dict[str, str], *, first: int, browse: bool) -> Wanted:
    """Return the site, saying where everything is, and showing it if there is a screen to show it on.

    `first`: the port that was asked for, 0 for any.
    """
    app = environment["ASSENT_APP_URL"]
    text = WELCOME.format(
        app=app,
        market=environment["ASSENT_MARKETPLACE_URL"],
        link=guest_link(app),
        name=RESEARCHER,
        colleagues=", ".join(colleagues()),
        moved=OTHER_PORT.format(first=first, port=port) if first not in (0, port) else "",
        password=known_password(settings.DATA_DIR / PASSWORD_FILE),
        data=settings.DATA_DIR,
    )
    shown = f"{app}/admin/" if browse and has_display() else ""
    return Wanted(port, str(settings.DATA_DIR), environment, text, shown)


def become(site: Wanted, *, keeping: TextIO) -> NoReturn:
    """Leave this process to the program that runs the site, with the lock that is held."""
    os.set_inheritable(keeping.fileno(), True)
    connections.close_all()
    sys.stdout.flush()
    told, tells = os.pipe()
    os.write(tells, site.as_json().encode())
    os.close(tells)
    os.dup2(told, STANDARD_INPUT)
    os.execv(sys.executable, [sys.executable, "-m", "surveys.operations.processes"])  # noqa: S606 (no shell is wanted)


def prepare(environment: dict[str, str]) -> None:
    """Run `manage.py prepare` under the addresses the site will have; ProcessError if it fails."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "prepare"]
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise ProcessError(
            f"Preparing {settings.DATA_DIR} failed with exit code {done.returncode}; see above."
        )


def guest_link(app: str) -> str:
    """Return the demo annotator's address on a site that is served at `app`."""
    guest = Invitation.objects.filter(name=GUEST).select_related("batch").first()
    return app + address(guest).removeprefix(settings.APP_URL) if guest else f"{app}/admin/"


def known_password(path: Path) -> str:
    return path.read_text() if path.exists() else "as you set it"


def has_display() -> bool:
    """Say whether a browser window can appear: macOS always, elsewhere with a display server."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
