"""Predictions by id, on disk: two files in any order are joined without holding either in memory."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from metrics.inputs import MetricError

_TABLES: Final = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE answer (key TEXT PRIMARY KEY, text TEXT, image TEXT, uses INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE task (key TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
"""
Answer = tuple[str | None, str | None]


class Answers:
    """Predictions, each to be taken once, and the sub-tasks of ids."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        base.executescript(_TABLES)
        base.execute("BEGIN")

    def add(self, key: str, answer: Answer) -> bool:
        """Keep a prediction; return whether the id is new."""
        return self._added("INSERT OR IGNORE INTO answer VALUES (?, ?, ?, 0)", key, *answer)

    def add_task(self, key: str, task: str) -> bool:
        """Keep the sub-task of an id; return whether the id is new."""
        return self._added("INSERT OR IGNORE INTO task VALUES (?, ?)", key, task)

    def task(self, key: str) -> str | None:
        """Return the sub-task of an id, if it has one."""
        found = self._base.execute("SELECT name FROM task WHERE key = ?", (key,)).fetchone()
        return str(found[0]) if found else None

    def take(self, key: str) -> tuple[Answer | None, bool]:
        """Return the prediction of an id, if there is one, and whether this id was asked for before."""
        found = self._base.execute("SELECT text, image, uses FROM answer WHERE key = ?", (key,)).fetchone()
        if found is None:
            self._base.execute("INSERT INTO answer VALUES (?, NULL, NULL, -1)", (key,))
            return None, False
        if found[2]:
            return None, True
        self._base.execute("UPDATE answer SET uses = 1 WHERE key = ?", (key,))
        return (found[0], found[1]), False

    def left(self) -> tuple[int, str | None]:
        """Return how many predictions were not taken, and the id of one."""
        count, key = self._base.execute("SELECT count(*), min(key) FROM answer WHERE uses = 0").fetchone()
        return count, key

    def _added(self, statement: str, *row: str | None) -> bool:
        return self._base.execute(statement, row).rowcount == 1


@contextmanager
def opened_answers() -> Iterator[Answers]:
    """Open an empty store in a temporary folder that goes with it."""
    with TemporaryDirectory(prefix="assent-") as folder:
        try:
            with closing(sqlite3.connect(Path(folder) / "answers.sqlite3", isolation_level=None)) as base:
                yield Answers(base)
        except sqlite3.Error as error:
            raise MetricError(f"the temporary folder cannot hold the predictions: {error}") from error
