"""Queries that Django compiles once for a process: of a page's short queries it spends more on the words than on rows.

A hole is left for each value that changes; the rows are what the query set itself would have made of them.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import cache
from typing import Any, Generic, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.models import Expression, Model, QuerySet
from django.db.models.query import get_related_populators
from django.db.models.sql import UpdateQuery
from django.db.transaction import TransactionManagementError

M = TypeVar("M", bound=Model)
Row = tuple[Any, ...]


class Hole(Expression):
    """Where a value goes, by name. It is made ready for the database as one of its field."""

    def __init__(self, name: str, field: Any) -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]

    def ready(self, value: Any) -> Any:
        return self.output_field.get_db_prep_value(value, connection=connection)


class Moment(Hole):
    """Where a time goes; a timedelta more or less makes another, which is so much later or earlier."""

    def __init__(self, name: str, after: timedelta = timedelta(0)) -> None:
        super().__init__(name, models.DateTimeField())
        self.after = after

    def __add__(self, other: Any) -> Any:
        return self._later(other) if isinstance(other, timedelta) else super().__add__(other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._later(-other) if isinstance(other, timedelta) else super().__sub__(other)

    def _later(self, by: timedelta) -> "Moment":
        return Moment(self.name, self.after + by)

    def ready(self, value: Any) -> Any:
        return super().ready(None if value is None else value + self.after)


def _bound(parameters: Sequence[Any], values: dict[str, Any]) -> list[Any]:
    return [one.ready(values[one.name]) if isinstance(one, Hole) else one for one in parameters]


class _Compiled:
    """The text of a query set, what goes into it, and how its rows are read."""

    def __init__(self, queryset: "QuerySet[Any]") -> None:
        compiler = queryset.query.get_compiler(connection=connection)
        self.sql, self.parameters = compiler.as_sql()
        self.compiler: Any = compiler
        self.converters = compiler.get_converters([one[0] for one in compiler.select])
        self.is_locking = queryset.query.select_for_update and connection.features.has_select_for_update
        self.annotations = compiler.annotation_col_map
        if compiler.klass_info:
            self._read_models(compiler)

    def _read_models(self, compiler: Any) -> None:
        """As ModelIterable does for each query."""
        at = compiler.klass_info["select_fields"]
        self.model = compiler.klass_info["model"]
        self.first, self.last = at[0], at[-1] + 1
        self.names = [one[0].target.attname for one in compiler.select[self.first : self.last]]
        populators: Any = get_related_populators
        self.populators = populators(compiler.klass_info, compiler.select, connection.alias)

    def bound(self, values: dict[str, Any]) -> tuple[str, list[Any]]:
        """Return the text and its parameters. Raises TransactionManagementError for a lock that nothing holds."""
        if self.is_locking and connection.get_autocommit():
            raise TransactionManagementError("A lock needs a transaction to be held in.")
        return self.sql, _bound(self.parameters, values)

    def rows(self, values: dict[str, Any]) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(*self.bound(values))
            found = cursor.fetchall()
        return list(self.compiler.apply_converters(found, self.converters)) if self.converters else found

    def models(self, values: dict[str, Any]) -> Iterator[Any]:
        for row in self.rows(values):
            one = self.model.from_db(connection.alias, self.names, row[self.first : self.last])
            for populator in self.populators:
                populator.populate(row, one)
            for name, column in self.annotations.items():
                setattr(one, name, row[column])
            yield one


class Statement(Generic[M]):
    """A query set with holes, made when it is first asked. Prefetching is none of it."""

    def __init__(self, make: Callable[[], "QuerySet[M, Any]"]) -> None:
        self._compiled = cache(lambda vendor: _Compiled(make()))

    def all(self, **values: Any) -> list[M]:
        """Return the rows as models."""
        return list(self._compiled(connection.vendor).models(values))

    def first(self, **values: Any) -> M | None:
        """Return the first row as a model; None where there is none.

        A lock on a row with what belongs to it is asked for once more before that: where the row changed while it was
        waited for, PostgreSQL joins what belonged to it before, and leaves it out where that is another now.
        """
        compiled = self._compiled(connection.vendor)
        found = next(compiled.models(values), None)
        may_be_missed = found is None and compiled.is_locking and compiled.populators
        return next(compiled.models(values), None) if may_be_missed else found

    def get(self, **values: Any) -> M:
        """Return the row as a model. Raises the model's DoesNotExist where there is none."""
        if (found := self.first(**values)) is None:
            model = self._compiled(connection.vendor).model
            raise model.DoesNotExist(f"No {model._meta.verbose_name} matches {values}.")
        return found

    def rows(self, **values: Any) -> list[Row]:
        """Return the rows of a query set of `values_list`."""
        return self._compiled(connection.vendor).rows(values)

    def bound(self, **values: Any) -> tuple[str, list[Any]]:
        """Return the text and its parameters, to stand in another statement."""
        return self._compiled(connection.vendor).bound(values)


class Change:
    """An update of a query set, with holes for what it finds and what it writes; calling it returns how many rows."""

    def __init__(self, make: "Callable[[], QuerySet[Any]]", **written: Any) -> None:
        self._compiled = cache(lambda vendor: _Update(make(), written))

    def __call__(self, **values: Any) -> int:
        update = self._compiled(connection.vendor)
        with connection.cursor() as cursor:
            cursor.execute(update.sql, _bound(update.parameters, values))
            return int(cursor.rowcount)

    def rows(self, **values: Any) -> list[Row]:
        """Write, and return the rows as they are then: all columns of the model, in the order of its fields."""
        update = self._compiled(connection.vendor)
        with connection.cursor() as cursor:
            cursor.execute(update.sql + update.returning, _bound(update.parameters, values))
            return list(update.compiler.apply_converters(cursor.fetchall(), update.converters))


class _Update:
    """The text of an update, compiled as `QuerySet.update` does."""

    def __init__(self, queryset: "QuerySet[Any]", written: dict[str, Any]) -> None:
        query: Any = queryset.query.chain(UpdateQuery)
        query.add_update_values(written)
        query.annotations = {}
        query.clear_ordering(force=True)
        self.compiler = query.get_compiler(connection=connection)
        self.sql, self.parameters = self.compiler.as_sql()
        table, fields = queryset.model._meta.db_table, queryset.model._meta.concrete_fields
        self.returning = " RETURNING " + ", ".join(f'"{field.column}"' for field in fields)
        self.converters = self.compiler.get_converters([field.get_col(table) for field in fields])


class Fetched(QuerySet[M]):
    """Rows of a relation that came with something else, for `prefetched`. Whoever asks for others asks the manager."""

    def _chain(self) -> Any:
        raise TypeError("These rows were fetched with their owner, and can't be filtered or sorted.")

    @classmethod
    def of(cls, model: type[M], rows: list[M]) -> "Fetched[M]":
        known: Any = cls(model)
        known._result_cache = rows
        known._prefetch_done = True
        return cast("Fetched[M]", known)


def insert(rows: "Sequence[M]", *, on_conflict: str = "", returning: Sequence[str] = ("id",)) -> list[Row]:
    """Write new rows, all of one model, in as few statements as the database takes, and give them their keys.

    `on_conflict`: SQL of that name, upon which `returning` is about what stands there then, and keys that rows have
    already are written too. Neither signals nor `save` come by; no model here has one.
    """
    if not rows:
        return []
    table = _table(type(rows[0]), with_key=rows[0].pk is not None)
    written = _written(table, rows, on_conflict=on_conflict, returning=returning)
    if not on_conflict:
        for one, (key,) in zip(rows, written, strict=True):
            _is_stored(one, key)
    return written


def insert_if(row: Model, found: Statement[Any], **values: Any) -> bool:
    """Write a new row and give it its key if another statement finds something, all in one; else return False.

    A lock that it takes on what it finds is taken.
    """
    written = _table(type(row), with_key=False).insert_from(row, *found.bound(**values))
    for (key,) in written:
        _is_stored(row, key)
    return bool(written)


def _is_stored(row: Model, key: Any) -> None:
    row.pk = key
    row._state.adding, row._state.db = False, connection.alias


def insert_values(rows: Sequence[Any], *, model: type[Model]) -> list[int]:
    """Write new rows of a model and return their keys, in that order. A row is anything with its columns but the key.

    For many that nobody needs as models: a named tuple is made in a tenth of the time.
    """
    table = _table(model, with_key=False)
    return [key for (key,) in _written(table, rows, on_conflict="", returning=("id",))]


def _written(
    table: "_Table", rows: Sequence[Any], *, on_conflict: str, returning: Sequence[str]
) -> list[Row]:
    most = connection.ops.bulk_batch_size(table.fields, rows) or 1
    written: list[Row] = []
    for start in range(0, len(rows), most):
        written += table.insert(rows[start : start + most], f"{on_conflict} RETURNING {', '.join(returning)}")
    readers = [table.read[name] for name in returning]
    return [tuple(read(value) for read, value in zip(readers, row, strict=True)) for row in written]


# What needs no making ready for the database: that takes longer than the rest of an insert. Exactly these types: an
# enum, or a text of a type of its own, is left to its field, and so is None.
AS_IT_IS: dict[type, type] = {
    models.CharField: str, models.TextField: str, models.FloatField: float, models.BooleanField: bool,
    models.IntegerField: int, models.PositiveIntegerField: int, models.PositiveSmallIntegerField: int,
    models.AutoField: int, models.BigAutoField: int,
}  # fmt: skip


class _Table:
    """The columns of a model, quoted once."""

    def __init__(self, model: type[Model], *, with_key: bool) -> None:
        own = model._meta.local_concrete_fields
        self.fields = [field for field in own if with_key or not field.primary_key]
        names = ", ".join(f'"{field.column}"' for field in self.fields)
        self.head = f'INSERT INTO "{model._meta.db_table}" ({names})'
        self.row = ", ".join(["%s"] * len(self.fields))
        self.columns = [
            (field, field.attname, AS_IT_IS.get(type(getattr(field, "target_field", field))))
            for field in self.fields
        ]
        # What SQLite returns of a column for decimal numbers is whole where the number is.
        self.read = {field.column: field.to_python for field in own}

    def insert(self, rows: Sequence[Any], tail: str) -> list[Row]:
        places = ", ".join([f"({self.row})"] * len(rows))
        return _returned(f"{self.head} VALUES {places} {tail}", self._values(rows))

    def insert_from(self, row: Model, found: str, parameters: list[Any]) -> list[Row]:
        sql = f"{self.head} SELECT {self.row} FROM ({found}) AS found LIMIT 1 RETURNING id"  # noqa: S608
        return _returned(sql, [*self._values([row]), *parameters])

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


def _returned(sql: str, values: list[Any]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


@cache
def _table(model: type[Model], *, with_key: bool) -> _Table:
    return _Table(model, with_key=with_key)
