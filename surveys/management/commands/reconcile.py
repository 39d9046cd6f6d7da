"""Compare our books with the marketplaces', and let sending go on after a restore."""

import getpass
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotators.crowds.mturk.gateway import MarketError
from annotators.outbox import holds
from surveys.operations import reconciling
from surveys.operations.reconciling import CannotSettle, Row

SETTLING = ("adopt", "expire", "sizes")


class Command(BaseCommand):
    help = (
        "Say what the marketplaces have and we have not, and the other way round. Options change something."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--adopt", action="store_true", help="Take over unknown HITs of batches that are here."
        )
        parser.add_argument(
            "--expire", action="store_true", help="Expire unknown HITs that no batch here is about."
        )
        parser.add_argument(
            "--sizes", action="store_true", help="Take over the HITs' numbers of assignments."
        )
        parser.add_argument("--release", action="store_true", help="You have looked: let sending go on.")
        parser.add_argument(
            "--uncompared",
            action="store_true",
            help="With --release: at once and without comparing, also where an account can't be read.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if any(options[name] for name in SETTLING) or not (options["release"] and options["uncompared"]):
                self._compare(options)
            self._release(options)
        except (CannotSettle, MarketError) as error:
            raise CommandError(str(error)) from error

    def _compare(self, options: dict[str, Any]) -> None:
        rows = reconciling.compare()
        self._print(rows)
        if sum(self._settled(row, options) for row in _one_of_each_batch(rows)):
            self.stdout.write("After that:")
            self._print(reconciling.compare())

    def _print(self, rows: list[Row]) -> None:
        for row in rows:
            self.stdout.write(f"{row['kind']:<8} {row['endpoint']:<10} {row['hit_id']:<32} {row['text']}")
        self.stdout.write(f"differences: {len(rows)}")

    def _settled(self, row: Row, options: dict[str, Any]) -> bool:
        where = (row["endpoint"], row["hit_id"])
        if row["kind"] == "size" and options["sizes"]:
            reconciling.take_size(*where)
        elif row["kind"] == "unknown" and row["batch"] and options["adopt"]:
            reconciling.adopt(*where, by=None)
        elif row["kind"] == "unknown" and row["is_open"] and not row["batch"] and options["expire"]:
            reconciling.expire(*where, by=getpass.getuser())
        else:
            return False
        return True

    def _release(self, options: dict[str, Any]) -> None:
        if options["release"]:
            reconciling.release(by=getpass.getuser(), uncompared=options["uncompared"])
        is_held = holds.current() is not None
        self.stdout.write(f"sending: {'held; --release lets it go on' if is_held else 'not held'}")


def _one_of_each_batch(rows: list[Row]) -> Iterator[Row]:
    """Leave out the unknown HITs of a batch but the first: adopting one takes over all."""
    batches = set()
    for row in rows:
        batch = row.get("batch") if row["kind"] == "unknown" else None
        if batch is None or batch not in batches:
            yield row
        batches.add(batch)
