"""The words of a statement, with holes, and how they come to the database.

PostgreSQL reads and plans a statement each time it is sent, which often takes longer than to run it. So a connection
prepares what it is asked for a second time (postgresql.org/docs/current/sql-prepare.html). Values that never change
stand in what is prepared, so that partial indexes serve as before; from the sixth time on PostgreSQL keeps one plan,
unless those that it made for the values promised to be better. It is prepared anew each minute, as a plan for a small
table serves badly once that has grown. A pool between has to be in session mode (ADR 30).
"""

import hashlib
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from django.db import DatabaseError, connection

from statements.holes import Hole

Row = tuple[Any, ...]


class Words:
    """A statement for any database, sent as it is. `holes` are what it has to be given, each once."""

    def __init__(self, sql: str, parameters: Sequence[Any]) -> None:
        self.sql, self.parameters = sql, parameters
        self.holes = list(dict.fromkeys(one for one in parameters if isinstance(one, Hole)))
        self.is_in_order = self.holes == list(parameters)
        at = {hole: n for n, hole in enumerate(self.holes)}
        self.places = [at[one] if isinstance(one, Hole) else None for one in parameters]

    def filled(self, values: dict[str, Any]) -> list[Any]:
        """Return what goes into the holes, ready for the database."""
        return [one.ready(values[one.name]) for one in self.holes]

    def rows(self, filled: Sequence[Any]) -> list[Row]:
        with connection.cursor() as cursor:
            self._send(cursor, filled)
            return list(cursor.fetchall())

    def asked(self, values: dict[str, Any]) -> list[Row]:
        """Fill the holes, send it, and return the rows."""
        return self.rows(self.filled(values))

    def change(self, values: dict[str, Any]) -> int:
        """Fill the holes, send it, and return how many rows it changed."""
        with connection.cursor() as cursor:
            self._send(cursor, self.filled(values))
            return int(cursor.rowcount)

    def _send(self, cursor: Any, filled: Sequence[Any]) -> None:
        cursor.execute(self.sql, self._bound(filled))

    def _bound(self, filled: Sequence[Any]) -> Sequence[Any]:
        if self.is_in_order:
            return filled
        return [one if n is None else filled[n] for n, one in zip(self.places, self.parameters, strict=True)]


ANEW_AFTER = 60.0  # seconds
# It was certainly not run: its result has another type than when it was prepared, or somebody has dropped it
# (postgresql.org/docs/current/errcodes-appendix.html).
NOT_RUN = {"0A000", "26000"}


@dataclass(slots=True)
class _Kept:
    """What a connection's server has of a statement: the how-manieth, and until when (`time.monotonic`) it stays so."""

    number: int = 0
    until: float = 0.0
    is_there: bool = False


class PreparedWords(Words):
    """A statement for PostgreSQL. One that is recorded (`queries_logged`) is sent as it is, for somebody to read.

    `cursor.cursor` is the driver's: Django's wraps each attribute anew, for errors that these can't have.
    """

    # By the driver's connection, and there by name.
    known: "WeakKeyDictionary[Any, dict[str, _Kept]]" = WeakKeyDictionary()

    def __init__(self, sql: str, parameters: Sequence[Any]) -> None:
        super().__init__(sql, parameters)
        self.name = self.meaning = ""
        kinds = [one.kind for one in self.holes]
        self.kinds = f"({', '.join(kinds)})" if kinds else ""
        self.given = f"({', '.join(f'%s::{kind}' for kind in kinds)})" if kinds else ""

    def rows(self, filled: Sequence[Any]) -> list[Row]:
        with connection.cursor() as cursor:
            self._send(cursor, filled)
            found: list[Row] = cursor.cursor.fetchall()  # they came with the answer
            return found

    def _send(self, cursor: Any, filled: Sequence[Any]) -> None:
        if not self.name:
            self._find_name(cursor)
        known = self.known.setdefault(cursor.cursor.connection, {})
        kept = known.get(self.name)
        if kept is None or cursor.db.queries_logged:
            known.setdefault(self.name, _Kept())
            super()._send(cursor, filled)
        elif time.monotonic() >= kept.until:
            self._prepare(cursor, filled, kept)
        elif kept.is_there:
            self._execute(cursor, filled, kept)
        else:
            super()._send(cursor, filled)

    def _find_name(self, cursor: Any) -> None:
        """Two statements that are the same have one."""
        from psycopg2.extensions import AsIs  # who is on SQLite has no use for it

        places = [AsIs(f"${n}") for n in range(1, len(self.holes) + 1)]
        words = cursor.mogrify(self.sql, self._bound(places)).decode()
        self.meaning = f"{self.kinds} AS {words}".replace("%", "%%")
        self.name = f"assent_{hashlib.sha256(self.meaning.encode()).hexdigest()[:16]}"

    def _prepare(self, cursor: Any, filled: Sequence[Any], kept: _Kept) -> None:
        """Do so and execute it in one message. Where that fails nobody asks how far it came: later, by a new name."""
        forget = f"DEALLOCATE {self.name}_{kept.number}; " if kept.is_there else ""
        kept.number, kept.until, kept.is_there = kept.number + 1, time.monotonic() + ANEW_AFTER, False
        name = f"{self.name}_{kept.number}"
        cursor.execute(f"{forget}PREPARE {name} {self.meaning}; EXECUTE {name} {self.given}", filled)
        kept.is_there = True

    def _execute(self, cursor: Any, filled: Sequence[Any], kept: _Kept) -> None:
        try:
            cursor.execute(f"EXECUTE {self.name}_{kept.number} {self.given}", filled)
        except DatabaseError as error:
            if getattr(error.__cause__, "pgcode", "") not in NOT_RUN:
                raise
            kept.is_there = False
            if cursor.db.in_atomic_block:
                raise
            super()._send(cursor, filled)


def worded(sql: str, parameters: Sequence[Any]) -> Words:
    """Return them for the kind of database that the connection is to."""
    if connection.vendor == "postgresql":
        return PreparedWords(sql, parameters)
    return Words(*_with_literals(sql, parameters))


def _with_literals(sql: str, parameters: Sequence[Any]) -> tuple[str, list[Any]]:
    """Write into the words what never changes: SQLite plans a statement anew for each value that an index may be for.

    Source: sqlite.org/c3ref/prepare.html, on sqlite3_prepare_v2.
    """
    left: list[Any] = []
    places = iter(parameters)

    def written(found: "re.Match[str]") -> str:
        if found[0] == "%%":
            return found[0]
        value = next(places)
        if type(value) in {int, bool}:
            return str(int(value))
        if type(value) is str and "\0" not in value:
            return "'" + value.replace("'", "''").replace("%", "%%") + "'"
        left.append(value)
        return "%s"

    return re.sub("%%|%s", written, sql), left
