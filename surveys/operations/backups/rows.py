"""Rows of any model as JSON, exactly: to the microsecond, the cent and the null."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.models import Field, JSONField, Model

ROWS_AT_ONCE = 500
VALUES_AT_ONCE = 30_000  # SQLite takes 32,766 in a statement by default: sqlite.org/limits.html
PLAIN = (bool, int, float, str)


def models() -> list[type[Model]]:
    """Return a model for every table, those of many-to-many relations included."""
    found = apps.get_models(include_auto_created=True)
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


def write(model: type[Model], *, rows: Iterable[list[Any]]) -> int:
    """Insert rows as they are, keys and times included; return how many."""
    all_fields, remaining, n = fields(model), iter(rows), 0
    size = max(1, min(ROWS_AT_ONCE, VALUES_AT_ONCE // len(all_fields)))
    while chunk := list(islice(remaining, size)):
        values = [
            decode(field, value=value) for row in chunk for field, value in zip(all_fields, row, strict=True)
        ]
        with connection.cursor() as cursor:
            cursor.execute(insertion(model, n_rows=len(chunk)), values)
        n += len(chunk)
    return n


def insertion(model: type[Model], *, n_rows: int) -> str:
    quote = connection.ops.quote_name
    names = ", ".join(quote(name) for name in columns(model))
    row = "(" + ", ".join(["%s"] * len(columns(model))) + ")"
    return f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES {', '.join([row] * n_rows)}"  # noqa: S608


def decode(field: "Field[Any, Any]", *, value: Any) -> Any:
    """Return what the database takes for a value of the archive; where a JSON column takes no NULL, null is JSON's."""
    if value is None and isinstance(field, JSONField) and not field.null:
        return connection.ops.adapt_json_value(None, field.encoder)
    return field.get_db_prep_save(field.to_python(value), connection)
