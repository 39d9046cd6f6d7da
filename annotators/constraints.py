"""Which of the database's promises an IntegrityError is about."""

from django.db import IntegrityError
from django.db.models import Model, UniqueConstraint


def is_about(error: IntegrityError, model: type[Model], name: str) -> bool:
    """Tell whether it was a model's unique constraint of this name. Raises StopIteration if there is none.

    PostgreSQL names the constraint; SQLite names the columns instead ("UNIQUE constraint failed: t.a, t.b",
    sqlite3, `sqlite3UniqueConstraint` in insert.c).
    """
    constraint = next(one for one in _uniques(model) if one.name == name)
    if diagnostics := getattr(error.__cause__, "diag", None):
        return bool(diagnostics.constraint_name == name)
    columns = {field.name: field.column for field in model._meta.concrete_fields}
    named = ", ".join(f"{model._meta.db_table}.{columns[name]}" for name in constraint.fields)
    return str(error) == f"UNIQUE constraint failed: {named}"


def _uniques(model: type[Model]) -> list[UniqueConstraint]:
    return [one for one in model._meta.constraints if isinstance(one, UniqueConstraint)]
