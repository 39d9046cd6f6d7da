"""What a database consists of, told so that two can be compared: columns, constraints, indexes, triggers, functions."""

import re
from collections.abc import Iterator
from typing import Any

from django.db import connection

PARTS_OF_SQL = re.compile(r"'(?:[^']|'')*'|[(),]|[^'(),]+")
POSTGRESQL = {
    "column": """
        SELECT relname, row_number() OVER (PARTITION BY relname ORDER BY attnum), attname,
               format_type(atttypid, atttypmod), attnotnull, attidentity, pg_get_expr(adbin, adrelid)
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid AND relkind = 'r'
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped""",
    "constraint": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), condeferrable, condeferred, convalidated
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace""",
    "index": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "trigger": """
        SELECT tgrelid::regclass::text, pg_get_triggerdef(oid), tgenabled FROM pg_trigger WHERE NOT tgisinternal""",
    "function": "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    "sequence": """
        SELECT sequencename, data_type::text, start_value, increment_by, max_value, cycle,
               refobjid::regclass::text, refobjsubid
        FROM pg_sequences
        LEFT JOIN pg_depend ON objid = sequencename::regclass AND deptype IN ('a', 'i') AND refobjsubid > 0
        WHERE schemaname = 'public'""",
}


def shape() -> list[tuple[Any, ...]]:
    """Return what the present database consists of, in an order that says nothing."""
    told = of_sqlite() if connection.vendor == "sqlite" else of_postgresql()
    return sorted(told, key=repr)


def of_postgresql() -> Iterator[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        for kind, statement in POSTGRESQL.items():
            cursor.execute(statement)
            yield from ((kind, *row) for row in cursor.fetchall())


def of_sqlite() -> Iterator[tuple[Any, ...]]:
    """Tell tables by what their statement declares, in any order: Django moves a column when it makes a table anew."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
        for kind, name, table, sql in cursor.fetchall():
            text = " ".join((sql or "").split())
            declared = declarations(text) if kind == "table" else [text]
            yield from ((kind, name, table, part) for part in declared)


def declarations(sql: str) -> list[str]:
    """Return what stands between a CREATE TABLE's brackets: its columns and constraints."""
    depth, found = 0, [""]
    for part in PARTS_OF_SQL.findall(sql):
        depth += {"(": 1, ")": -1}.get(part, 0)
        if (part, depth) in {("(", 1), (",", 1), (")", 0)}:
            found.append("")
        else:
            found[-1] += part
    return [text.strip() for text in found if text]
