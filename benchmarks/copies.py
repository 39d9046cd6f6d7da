"""Rows made of rows, within PostgreSQL: a study that real code has made, many times, on both sides.

Everything that hangs on a study is copied by Django's own description of its tables; accounts and survey types are the
same for all copies. A copy's keys are moved by as much as there were rows, its identifiers made anew.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.apps import apps
from django.db import connection, models

from surveys.models import Batch, Survey

# What is copied with a HIT, and what else with its study.
WITH_HITS = {
    "surveys": "Item Output MetricScore Questionnaire QuestionnaireItem SlotOutput Response Rating MarkedSpan "
    "AnswerRevision AuditEntry Decision Inclusion Replacement ProblemReport",
    "annotators": "HIT Assignment Call",
    "marketplace": "HIT Assignment Token Entry",
}
WITH_STUDIES = {
    "surveys": "Survey Batch TeamRole TaskAccuracy Publishing",
    "annotators": "HITType",
    "marketplace": "HITType",
}
PEOPLE = {"annotators": "Worker", "marketplace": "Worker"}
# Identifiers of the other side that no key of the database ties.
IDENTIFIERS = {"hit_id", "assignment_id", "hit_type_id", "external_id", "fingerprint", "worker_id"}
# What counts up within its study.
NUMBERS = {("Item", "position"), ("Questionnaire", "position"), ("AnnotationSlot", "number")}


def of_hits(n: int) -> None:
    """Copy every HIT of every study, with items of its own, `n` times into its study."""
    _copy(_named(WITH_HITS), n)


def of_studies(n: int, *, with_people: bool) -> None:
    """Copy every study with all its HITs `n` times, each three hours older than the one before.

    The copies are done by the same people, or by copies of them.
    """
    _copy([*(_named(PEOPLE) if with_people else ()), *_named(WITH_STUDIES), *_named(WITH_HITS)], n)


def _named(names: dict[str, str]) -> list[type[models.Model]]:
    return [apps.get_model(app, name) for app, listed in names.items() for name in listed.split()]


def _copy(copied: Sequence[type[models.Model]], n: int) -> None:
    """Triggers sleep meanwhile, so that a row may come before the one it points to."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        steps = {model: _largest(cursor, model) for model in copied}
        for model in copied:
            _copy_table(cursor, model, steps, n)
        for model in copied:
            _continue(cursor, model)
        cursor.execute("SET session_replication_role = DEFAULT")


def _largest(cursor: Any, model: type[models.Model]) -> int:
    key = model._meta.pk
    if is_uuid(model):
        return 0
    cursor.execute(f'SELECT coalesce(max("{key.column}"), 0) FROM "{model._meta.db_table}"')
    return int(cursor.fetchone()[0])


def _copy_table(cursor: Any, model: type[models.Model], steps: dict[type[models.Model], int], n: int) -> None:
    """A row that points at nothing copied, as an entry of the books for a deposit does, is not copied either."""
    fields, table = model._meta.local_fields, model._meta.db_table
    parents = [f'"{f.column}"' for f in fields if f.remote_field and f.related_model in steps]
    tied = f" WHERE coalesce({', '.join(f'{p}::text' for p in parents)}) IS NOT NULL" if parents else ""
    columns = ", ".join(f'"{field.column}"' for field in fields)
    values = ", ".join(map(partial(_value, model=model, steps=steps), fields))
    source = f'(SELECT * FROM "{table}"{tied} ORDER BY 1) AS row'
    cursor.execute(
        f'INSERT INTO "{table}" ({columns}) SELECT {values} FROM generate_series(1, {n}) AS k, {source}'
    )


def _value(field: Any, *, model: type[models.Model], steps: dict[type[models.Model], int]) -> str:
    """Return what a copy holds in one column, as SQL of the original `row` and the copy's number `k`."""
    column = f'row."{field.column}"'
    target = field.related_model if field.remote_field else model if field.primary_key else None
    if target in steps:
        return (
            _anew(column, "uuid", sum(steps.values()))
            if is_uuid(target)
            else f"{column} + k * {steps[target]}"
        )
    if (model.__name__, field.name) in NUMBERS and not steps.keys() & {Survey, Batch}:
        return f'{column} + k * (SELECT max("{field.column}") + 1 FROM "{model._meta.db_table}")'
    if isinstance(field, models.UUIDField):
        return _anew(column, "uuid", sum(steps.values()))
    if isinstance(field, models.DateTimeField):
        return f"CASE WHEN {column} < now() THEN {column} - k * interval '3 hours' ELSE {column} END"
    if isinstance(field, models.CharField) and (field.unique or field.name in IDENTIFIERS):
        copied = f"left({_anew(column, 'text', sum(steps.values()))}, {field.max_length})"
        return f"CASE WHEN {column} = '' THEN '' ELSE {copied} END"
    return column


def is_uuid(model: type[models.Model]) -> bool:
    key = model._meta.pk
    return isinstance(key, models.UUIDField) or (key.remote_field is not None and is_uuid(key.related_model))


def _anew(column: str, kind: str, salt: int) -> str:
    """Return an identifier for a copy; `salt` tells the copies of a copy from those of its original."""
    return f"upper(md5({column}::text || ':{salt}:' || k))::{kind}"


def _continue(cursor: Any, model: type[models.Model]) -> None:
    """Let new rows have keys behind those of the copies."""
    if isinstance(model._meta.pk, models.AutoField) and _largest(cursor, model):
        table, key = model._meta.db_table, model._meta.pk.column
        cursor.execute(
            f"""SELECT setval(pg_get_serial_sequence('"{table}"', '{key}'), (SELECT max("{key}") FROM "{table}"))"""
        )
