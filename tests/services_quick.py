"""What would take a third of the tests' time and tests nothing: left out of the process that runs them."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.sql import emit_post_migrate_signal, sql_flush
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

# What migrating wrote into these need not be written again; where a test took it away, it is.
KEPT = {ContentType._meta.db_table, Permission._meta.db_table}
LARGEST_TABLE = """SELECT max(pg_relation_size(oid)), to_regproc('pg_temp.emptied') FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"""
# A function plans its statements once for each connection, and planning is most of what emptying takes.
EMPTIED = """CREATE FUNCTION pg_temp.emptied() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    SET LOCAL session_replication_role = replica;
    LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE;
    {deletes};
    END $$"""
LARGE = 512 * 1024  # bytes
LARGE_TABLES = """SELECT quote_ident(relname) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > %s"""


def leave_out_waiting(patch: pytest.MonkeyPatch) -> None:
    """Make the live server, boto3's retries, hashes of passwords and the emptying of tables quick, not different."""
    # Headers and body go in two writes, of which the second would wait 40 ms for an acknowledgement of the first.
    patch.setattr("django.core.servers.basehttp.WSGIRequestHandler.disable_nagle_algorithm", True)
    # A client, which is kept for the process, would go slowly for good after one throttled call (adaptive mode).
    patch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0)
    patch.setattr("botocore.retries.bucket.TokenBucket.acquire", lambda *_: True)
    # Costs a quarter of a second by default; the hash says how often it was iterated, so other processes know.
    patch.setattr("django.contrib.auth.hashers.PBKDF2PasswordHasher.iterations", 1000)
    patch.setattr("django.core.management.commands.flush.emit_post_migrate_signal", fill_kept_again)
    if connection.vendor == "postgresql":
        patch.setattr("django.core.management.commands.flush.sql_flush", statements_to_empty)


def statements_to_empty(style: Any, connection: BaseDatabaseWrapper, **options: bool) -> list[str]:
    """Return what empties all tables, for one transaction: TRUNCATE of so many takes ten times as long as DELETE.

    It waits for other connections as TRUNCATE does, and passes by foreign keys and triggers. What DELETE leaves behind
    stays in the files, so once a table has grown they are truncated.
    """
    with connection.cursor() as cursor:
        cursor.execute(LARGEST_TABLE)
        largest, is_known = cursor.fetchone()
        if largest > LARGE:
            return sql_flush(style, connection, **options)
        if not is_known:
            cursor.execute(function_that_empties(connection))
    return ["SELECT pg_temp.emptied()"]


def function_that_empties(connection: BaseDatabaseWrapper) -> str:
    tables = set(connection.introspection.django_table_names(only_existing=True, include_views=False))
    names = [connection.ops.quote_name(table) for table in sorted(tables - KEPT)]
    deletes = "; ".join(f"DELETE FROM {name}" for name in names)
    return EMPTIED.format(names=", ".join(names), deletes=deletes)


def fill_kept_again(*args: Any, **options: Any) -> None:
    """Write what migrating writes, where anything of it is gone."""
    models = [model._meta for model in apps.get_models()]
    wanted = sum(len(model.default_permissions) + len(model.permissions) for model in models)
    if Permission.objects.count() != wanted:
        emit_post_migrate_signal(*args, **options)


def take_back_space() -> list[str]:
    """Empty the tables that have grown, between two files of tests, and return them.

    A test's rows are rolled back and stay in the files as dead ones. Nothing else takes them away, and every query
    passes by them: after three thousand tests one file's took PostgreSQL eighteen times as long as at first.
    """
    if connection.vendor != "postgresql" or connection.connection is None:
        return []
    with connection.cursor() as cursor:
        cursor.execute(LARGE_TABLES, [LARGE])
        names = [name for (name,) in cursor.fetchall() if name not in KEPT]
        if names:
            cursor.execute(f"TRUNCATE {', '.join(names)} CASCADE")
    return names
