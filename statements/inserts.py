"""New rows, in as few statements as the database takes. Neither signals nor `save` come by; no model here has one."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import Model

from statements.compiled import Statement
from statements.holes import Column, Hole, kind_as_it_is
from statements.words import Row, Words, worded

M = TypeVar("M", bound=Model)
KEY = ("id",)


def insert(rows: Sequence[M], *, on_conflict: str = "", returning: Sequence[str] = KEY) -> list[Row]:
    """Write new rows, all of one model, and give them their keys.

    `on_conflict`: SQL of that name, upon which `returning` is about what stands there then, and keys that rows have
    already are written too.
    """
    if not rows:
        return []
    table = _table(type(rows[0]), with_key=rows[0].pk is not None)
    written = table.insert(rows, on_conflict=on_conflict, returning=tuple(returning))
    if not on_conflict:
        for one, (key,) in zip(rows, written, strict=True):
            _note_key(one, key)
    return written


def insert_new(row: Model, *, unique: Sequence[str]) -> bool:
    """Write a new row and give it its key, unless one with the same in these columns stands there; say whether."""
    return _is_written(row, insert([row], on_conflict=f"ON CONFLICT ({', '.join(unique)}) DO NOTHING"))


def insert_if(row: Model, found: Statement[Any], **values: Any) -> bool:
    """Write a new row and give it its key if another statement finds something, all in one; else return False.

    A lock that it takes on what it finds is taken.
    """
    return _is_written(row, _table(type(row), with_key=False).insert_if(row, found, values))


def insert_values(rows: Sequence[Any], *, model: type[Model]) -> list[int]:
    """Write new rows of a model and return their keys, in that order. A row is anything with its columns but the key.

    For many that nobody needs as models: a named tuple is made in a tenth of the time.
    """
    written = _table(model, with_key=False).insert(rows, on_conflict="", returning=KEY) if rows else []
    return [key for (key,) in written]


def _is_written(row: Model, returned: list[Row]) -> bool:
    """Give a row its key if one was returned, and say whether."""
    for (key,) in returned:
        _note_key(row, key)
    return bool(returned)


def _note_key(row: Model, key: Any) -> None:
    row.pk = key
    row._state.adding, row._state.db = False, connection.alias


class _Table:
    """The columns of a model, quoted once."""

    def __init__(self, model: type[Model], *, with_key: bool) -> None:
        own = model._meta.local_concrete_fields
        self.fields = [field for field in own if with_key or not field.primary_key]
        names = ", ".join(f'"{field.column}"' for field in self.fields)
        self.head = f'INSERT INTO "{model._meta.db_table}" ({names})'
        self.row = ", ".join(["%s"] * len(self.fields))
        self.columns = [(field, field.attname, kind_as_it_is(field)) for field in self.fields]
        # What SQLite returns of a column for decimal numbers is whole where the number is.
        self.read: dict[str | None, Callable[[Any], Any]] = {field.column: field.to_python for field in own}
        self.in_columns, self.if_found = cache(self._in_columns), cache(self._if_found)

    def insert(self, rows: Sequence[Any], *, on_conflict: str, returning: tuple[str, ...]) -> list[Row]:
        tail = f"{on_conflict} RETURNING {', '.join(returning)}"
        way = self._by_columns if connection.vendor == "postgresql" else self._by_rows
        readers = [self.read[name] for name in returning]
        return [
            tuple(read(value) for read, value in zip(readers, row, strict=True)) for row in way(rows, tail)
        ]

    def insert_if(self, row: Any, found: Statement[Any], values: dict[str, Any]) -> list[Row]:
        asked = found.compiled
        return self.if_found(asked.words).rows([*self._values([row]), *asked.filled(values)])

    def _if_found(self, found: Words) -> Words:
        """Return them with the row's holes first; no other hole is called so."""
        sql = f"{self.head} SELECT {self.row} FROM ({found.sql}) AS found LIMIT 1 RETURNING id"  # noqa: S608
        own = [Hole(f"its {name}", field) for field, name, _ in self.columns]
        return worded(sql, [*own, *found.parameters])

    def _by_rows(self, rows: Sequence[Any], tail: str) -> list[Row]:
        most = connection.ops.bulk_batch_size(self.fields, rows) or 1
        written: list[Row] = []
        for start in range(0, len(rows), most):
            some = rows[start : start + most]
            places = ", ".join([f"({self.row})"] * len(some))
            with connection.cursor() as cursor:
                cursor.execute(f"{self.head} VALUES {places} {tail}", self._values(some))
                written += cursor.fetchall()
        return written

    def _by_columns(self, rows: Sequence[Any], tail: str) -> list[Row]:
        """As one list for each column, so that the words are the same for any number of rows, and few."""
        values, n_columns = self._values(rows), len(self.columns)
        return self.in_columns(tail).rows([values[n::n_columns] for n in range(n_columns)])

    def _in_columns(self, tail: str) -> Words:
        columns = [Column(name, field) for field, name, _ in self.columns]
        lists = ", ".join(f"%s::{one.kind}" for one in columns)
        return worded(f"{self.head} SELECT * FROM UNNEST({lists}) {tail}", columns)  # noqa: S608

    def _values(self, rows: Sequence[Any]) -> list[Any]:
        own = connections[DEFAULT_DB_ALIAS]  # `connection` looks it up for each value
        return [
            value
            if type(value) is kind
            else field.get_db_prep_save(field.pre_save(one, add=True), connection=own)
            for one in rows
            for field, name, kind in self.columns
            for value in (getattr(one, name),)
        ]


@cache
def _table(model: type[Model], *, with_key: bool) -> _Table:
    return _Table(model, with_key=with_key)
