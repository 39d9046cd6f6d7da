"""Rows of any model as JSON, exactly: to the microsecond, the cent and the null."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Protocol

from django.apps import apps
from django.apps.registry import Apps
from django.db import connection
from django.db.models import Field, JSONField, Model

from surveys.operations.backups.archive import BackupError

ROWS_AT_ONCE = 500
VALUES_AT_ONCE = 30_000  # SQLite takes 32,766 in a statement by default: sqlite.org/limits.html
PLAIN = (bool, int, float, str)


class Tables(Protocol):
    """Rows to be inserted: of each table the names of its columns, how many rows it has, and the rows."""

    @property
    def columns(self) -> dict[str, list[str]]: ...
    @property
    def n_rows(self) -> dict[str, int]: ...
    def rows(self, table: str) -> Iterator[list[Any]]: ...


def models(registry: Apps = apps) -> list[type[Model]]:
    """Return a model for every table, those of many-to-many relations included; today's, or those of a migration."""
    found = registry.get_models(include_auto_created=True)
    tables = {model._meta.db_table: model for model in found if model._meta.managed and not model._meta.proxy}
    return [tables[name] for name in sorted(tables)]


def fields(model: type[Model]) -> "list[Field[Any, Any]]":
    return list(model._meta.local_concrete_fields)


def columns(model: type[Model]) -> list[str]:
    return [str(field.column) for field in fields(model)]


def read(model: type[Model]) -> Iterator[list[Any]]:
    """Yield a table's rows in the order of their keys, a few at a time."""
    all_fields = fields(model)
    for instance in model._base_manager.order_by("pk").iterator(chunk_size=ROWS_AT_ONCE):
        yield [encode(field, instance=instance) for field in all_fields]


def encode(field: "Field[Any, Any]", *, instance: Model) -> Any:
    value = field.value_from_object(instance)
    is_plain = value is None or type(value) in PLAIN or isinstance(field, JSONField)
    return value if is_plain else field.value_to_string(instance)


def fill(models: list[type[Model]], *, tables: Tables) -> None:
    """Insert all rows of all tables. BackupError if they are not those of the models, or not as many as is said."""
    if {model._meta.db_table: set(columns(model)) for model in models} != as_sets(tables.columns):
        raise BackupError(
            "The archive is not sound: its tables or their columns are not those of its migrations."
        )
    for model in models:
        table = model._meta.db_table
        n = write(model, rows=tables.rows(table), order=tables.columns[table])
        if n != tables.n_rows[table]:
            raise BackupError(
                f"The archive is not sound: {table} has {n} rows, and its manifest says otherwise."
            )


def as_sets(names: dict[str, list[str]]) -> dict[str, set[str]]:
    return {table: set(columns) for table, columns in names.items()}


def write(model: type[Model], *, rows: Iterable[list[Any]], order: list[str]) -> int:
    """Insert rows as they are, keys and times included; return how many. `order`: the names of their columns."""
    by_column = {str(field.column): field for field in fields(model)}
    all_fields, remaining, n = [by_column[name] for name in order], iter(rows), 0
    size = max(1, min(ROWS_AT_ONCE, VALUES_AT_ONCE // len(all_fields)))
    while chunk := list(islice(remaining, size)):
        values = [
            decode(field, value=value) for row in chunk for field, value in zip(all_fields, row, strict=True)
        ]
        with connection.cursor() as cursor:
            cursor.execute(insertion(model, order=order, n_rows=len(chunk)), values)
        n += len(chunk)
    return n


def insertion(model: type[Model], *, order: list[str], n_rows: int) -> str:
    quote = connection.ops.quote_name
    names = ", ".join(quote(name) for name in order)
    row = "(" + ", ".join(["%s"] * len(order)) + ")"
    return f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES {', '.join([row] * n_rows)}"  # noqa: S608


def decode(field: "Field[Any, Any]", *, value: Any) -> Any:
    """Return what the database takes for a value of the archive; where a JSON column takes no NULL, null is JSON's."""
    if value is None and isinstance(field, JSONField) and not field.null:
        return connection.ops.adapt_json_value(None, field.encoder)
    return field.get_db_prep_save(field.to_python(value), connection)
