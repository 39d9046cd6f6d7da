"""Rows of a relation in one column of their owner's row, as JSON: what belongs together comes in one statement.

A join would repeat the owner for each of them, and two joins each row of the one for each of the other.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Generic, TypeVar, cast

from django.db import connection
from django.db.models import (
    Aggregate,
    BooleanField,
    CharField,
    Count,
    F,
    FileField,
    ForeignKey,
    IntegerField,
    JSONField,
    Model,
    OuterRef,
    QuerySet,
    Subquery,
    TextField,
)
from django.db.models.functions import Cast

M = TypeVar("M", bound=Model)
# What comes back from JSON as it was, and what is still to be read. Moments and fractions differ by database.
SAME = (CharField, FileField, IntegerField, TextField)
OTHER = (BooleanField, JSONField)


class _Rows(Aggregate):
    """These columns of all rows of a group, in no order. Django's own function asks SQLite first if it knows JSON."""

    template = "JSON_GROUP_ARRAY(JSON_ARRAY(%(expressions)s))"
    output_field = JSONField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        of_rows = "JSONB_AGG(JSONB_BUILD_ARRAY(%(expressions)s))"
        return self.as_sql(compiler, connection, template=of_rows, **context)


class Tallied(Subquery):
    """A column with how many of these rows have the same in each of these columns: [[value, .., how many], ..].

    The columns are whole numbers and texts, or stand for such in JSON. In no order; None or nothing where there is no
    row.
    """

    output_field = JSONField()

    def __init__(self, rows: QuerySet[Any], *columns: str) -> None:
        super().__init__(rows.order_by().values(*columns).annotate(tally=Count("pk")))
        self.columns = ", ".join([*columns, "tally"])

    def as_sql(
        self,
        compiler: Any,
        connection: Any,
        template: str | None = None,
        *,
        lists: str = "JSON_GROUP_ARRAY(JSON_ARRAY(%(columns)s))",
        **context: Any,
    ) -> Any:
        template = f"(SELECT {lists} FROM (%(subquery)s) AS tallied)"  # noqa: S608 (our own names)
        return super().as_sql(compiler, connection, template, columns=self.columns, **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        lists = "JSONB_AGG(JSONB_BUILD_ARRAY(%(columns)s))"
        return self.as_sql(compiler, connection, lists=lists, **context)


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


class Gathered(Generic[M]):
    """The rows of a model by a foreign key of it, sorted by another column."""

    def __init__(self, model: type[M], *, by: str, order: str) -> None:
        self.model, self.by, self.order = model, by, attrgetter(order)
        self.fields: Sequence[Any] = model._meta.local_concrete_fields
        self.names = [field.attname for field in self.fields]
        self.to_read = {n: field for n, field in enumerate(self.fields) if isinstance(field, OTHER)}
        if unlike := [field.name for field in self.fields if not isinstance(_stored(field), (*SAME, *OTHER))]:
            raise TypeError(f"Not every database writes {unlike} into JSON alike.")

    def column(self, owner: str) -> Subquery:
        """Return the column, to annotate rows with that have the key of the owner at `owner`."""
        rows = self.model._default_manager.filter(**{self.by: OuterRef(owner)}).order_by().values(self.by)
        return Subquery(rows.annotate(rows=_Rows(*map(_plain, self.fields))).values("rows"))

    def read(self, column: list[list[Any]] | None) -> Fetched[M]:
        """Return what was read of the column as models."""
        rows = [self._model(row) for row in column or []]
        return Fetched.of(self.model, sorted(rows, key=self.order))

    def _model(self, row: list[Any]) -> M:
        for n, field in self.to_read.items():
            row[n] = _value(field, row[n])
        return self.model.from_db(connection.alias, self.names, row)


def _stored(field: Any) -> Any:
    """Return the field whose values are in the column: of a foreign key, the one it leads to."""
    return _stored(field.target_field) if isinstance(field, ForeignKey) else field


def _plain(field: Any) -> Any:
    """SQLite's JSON is text, which would stand in JSON as such."""
    return Cast(field.name, TextField()) if isinstance(field, JSONField) else F(field.attname)


def _value(field: Any, value: Any) -> Any:
    is_json = isinstance(field, JSONField)
    return field.from_db_value(value, None, connection) if is_json else field.to_python(value)
