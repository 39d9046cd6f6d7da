"""Queries that Django compiles once for a process: of a page's short queries it spends more on the words than on rows.

A hole is left for each value that changes; the rows are what the query set itself would have made of them.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Generic, Protocol, TypeVar, cast

from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators
from django.db.models.sql import UpdateQuery
from django.db.transaction import TransactionManagementError

from statements.holes import Hole
from statements.words import Row, Words, worded

M = TypeVar("M", bound=Model)
N = TypeVar("N", covariant=True)


class _Compiled:
    """The text of a query set, what goes into it, and how its rows are read."""

    def __init__(self, queryset: "QuerySet[Any]") -> None:
        compiler = queryset.query.get_compiler(connection=connection)
        self.words = worded(*compiler.as_sql())
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

    def filled(self, values: dict[str, Any]) -> list[Any]:
        """Return what goes into the holes. Raises TransactionManagementError for a lock that nothing holds."""
        if self.is_locking and connection.get_autocommit():
            raise TransactionManagementError("A lock needs a transaction to be held in.")
        return self.words.filled(values)

    def rows(self, values: dict[str, Any]) -> list[Any]:
        return self.converted(self.words.rows(self.filled(values)))

    def converted(self, rows: list[Row]) -> list[Any]:
        """Return rows as Django reads them."""
        return list(self.compiler.apply_converters(rows, self.converters)) if self.converters else rows

    def models(self, values: dict[str, Any]) -> Iterator[Any]:
        return self.models_of(self.rows(values))

    def models_of(self, rows: Iterable[Row]) -> Iterator[Any]:
        """Make models of rows that have been converted."""
        for row in rows:
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
        return list(self.compiled.models(values))

    def first(self, **values: Any) -> M | None:
        """Return the first row as a model; None where there is none.

        A lock on a row with what belongs to it is asked for once more before that: where the row changed while it was
        waited for, PostgreSQL joins what belonged to it before, and leaves it out where that is another now.
        """
        compiled = self.compiled
        found = next(compiled.models(values), None)
        may_be_missed = found is None and compiled.is_locking and compiled.populators
        return next(compiled.models(values), None) if may_be_missed else found

    def get(self, **values: Any) -> M:
        """Return the row as a model. Raises the model's DoesNotExist where there is none."""
        if (found := self.first(**values)) is None:
            model = self.compiled.model
            raise model.DoesNotExist(f"No {model._meta.verbose_name} matches {values}.")
        return found

    def rows(self, **values: Any) -> list[Row]:
        """Return the rows of a query set of `values_list`."""
        return self.compiled.rows(values)

    @property
    def compiled(self) -> _Compiled:
        """What it is for this kind of database, to stand in another statement."""
        return self._compiled(connection.vendor)

    @property
    def words(self) -> Words:
        return self.compiled.words

    @property
    def width(self) -> int:
        return len(self.compiled.compiler.select)

    def read(self, row: Row) -> M:
        """Return a row as a model."""
        compiled = self.compiled
        return cast("M", next(compiled.models_of(compiled.converted([row]))))


class Change:
    """An update of a query set, with holes for what it finds and what it writes; calling it returns how many rows."""

    def __init__(self, make: "Callable[[], QuerySet[Any]]", **written: Any) -> None:
        self._compiled = cache(lambda vendor: _Update(make(), written))

    def __call__(self, **values: Any) -> int:
        return self._compiled(connection.vendor).words.change(values)

    def rows(self, **values: Any) -> list[Row]:
        """Write, and return the rows as they are then: all columns of the model, in the order of its fields."""
        update = self._compiled(connection.vendor)
        found = update.returning.asked(values)
        return list(update.compiler.apply_converters(found, update.converters))


class _Update:
    """The text of an update, compiled as `QuerySet.update` does."""

    def __init__(self, queryset: "QuerySet[Any]", written: dict[str, Any]) -> None:
        query: Any = queryset.query.chain(UpdateQuery)
        query.add_update_values(written)
        query.annotations = {}
        query.clear_ordering(force=True)
        self.compiler = query.get_compiler(connection=connection)
        sql, parameters = self.compiler.as_sql()
        table, fields = queryset.model._meta.db_table, queryset.model._meta.concrete_fields
        columns = ", ".join(f'"{field.column}"' for field in fields)
        self.words = worded(sql, parameters)
        self.returning = worded(f"{sql} RETURNING {columns}", parameters)
        self.converters = self.compiler.get_converters([field.get_col(table) for field in fields])


class ByHand:
    """A statement in SQL with a hole for each %s, for what Django can't word. It returns one row, as it is stored.

    `width`: how many columns that has.
    """

    def __init__(self, sql: str, *holes: Hole, width: int) -> None:
        self.width = width
        self._compiled = cache(lambda vendor: worded(sql, holes))

    def row(self, **values: Any) -> Row:
        (found,) = self.words.asked(values)
        return found

    @property
    def words(self) -> Words:
        return self._compiled(connection.vendor)

    def read(self, row: Row) -> Row:
        return row


class One(Protocol[N]):
    """What finds one row at most, and reads it."""

    @property
    def words(self) -> Words: ...

    @property
    def width(self) -> int: ...

    def read(self, row: Row) -> N: ...


class Together(Generic[N, M]):
    """A statement of one row at most and the rows of another, asked for in one."""

    def __init__(self, one: One[N], others: Statement[M]) -> None:
        self.one, self.others = one, others
        self._compiled = cache(lambda vendor: self._joined())

    def __call__(self, **values: Any) -> tuple[N | None, list[M]]:
        """Return what the one finds and the others as models; None and none where it finds nothing.

        The others in no order, whatever their own statement says.
        """
        rows = self._compiled(connection.vendor).asked(values)
        ones = [row[1 : 1 + self.one.width] for row in rows if row[0] == 1]
        if not ones:
            return None, []
        others, found = self.others.compiled, [row[1 + self.one.width :] for row in rows if row[0] == 2]
        return self.one.read(ones[0]), list(others.models_of(others.converted(found)))

    def _joined(self) -> Words:
        """One below the other, each with nothing in the other's columns: a join would repeat the one for each other."""
        if self.others.compiled.is_locking:
            raise TypeError(
                "A lock is asked for by itself: what became of the rows that it waited for is read again."
            )
        one, others = self.one.words, self.others.words
        left, right = (", ".join(["NULL"] * n) for n in (self.one.width, self.others.width))
        sql = f"""SELECT 1, one.*, {right} FROM ({one.sql}) AS one
            UNION ALL SELECT 2, {left}, others.* FROM ({others.sql}) AS others"""  # noqa: S608
        return worded(sql, [*one.parameters, *others.parameters])
