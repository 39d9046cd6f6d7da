"""The audit trail is append-only in the database itself, not only in our code.

TRUNCATE, by which a test or a restore empties whole tables, fires no row trigger on PostgreSQL; SQLite empties them
by DELETE, so that there only changes are refused.
"""

from django.db import migrations

POSTGRESQL = """
CREATE FUNCTION surveys_auditentry_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'An audit entry is never changed.'; END $$;
CREATE TRIGGER surveys_auditentry_append_only BEFORE UPDATE OR DELETE ON surveys_auditentry
FOR EACH ROW EXECUTE FUNCTION surveys_auditentry_is_append_only();
"""
SQLITE = """
CREATE TRIGGER surveys_auditentry_append_only BEFORE UPDATE ON surveys_auditentry
BEGIN SELECT RAISE(ABORT, 'An audit entry is never changed.'); END
"""
POSTGRESQL_BACK = """
DROP TRIGGER surveys_auditentry_append_only ON surveys_auditentry;
DROP FUNCTION surveys_auditentry_is_append_only();
"""
SQLITE_BACK = "DROP TRIGGER surveys_auditentry_append_only"


def forwards(apps, schema_editor):
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    schema_editor.execute(SQLITE if is_sqlite else POSTGRESQL)


def backwards(apps, schema_editor):
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    schema_editor.execute(SQLITE_BACK if is_sqlite else POSTGRESQL_BACK)


class Migration(migrations.Migration):
    dependencies = [("surveys", "0001_initial")]
    operations = [migrations.RunPython(forwards, backwards)]
