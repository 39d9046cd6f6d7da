"""Print each requester's account and check that the ledger is sound."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace import clock
from marketplace.engine import deadlines
from marketplace.money import audit

COLUMNS = ("deposited", "available", "held", "rewards", "bonuses", "fees", "charged", "approved")


class Command(BaseCommand):
    help = (
        "Print the balance, held and charged money of each requester; exit code 1 if the ledger is not sound."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print JSON, amounts as text in dollars.")

    def handle(self, *args: Any, **options: Any) -> None:
        deadlines.sweep(now=clock.now())
        report = audit.report()
        self.stdout.write(json.dumps(report, indent=2) if options["json"] else table(report))
        if not report["is_sound"]:
            raise CommandError("The ledger is not sound.", returncode=1)


def table(report: dict[str, Any]) -> str:
    """Lay the report out as lines of text."""
    header = f"{'requester':<28}" + "".join(f"{name:>12}" for name in COLUMNS)
    lines = [header]
    for row in report["requesters"]:
        lines.append(f"{row['requester'][:27]:<28}" + "".join(f"{row[name]:>12}" for name in COLUMNS))
        lines.extend(f"  ! {problem}" for problem in row["problems"])
    return "\n".join(lines)
