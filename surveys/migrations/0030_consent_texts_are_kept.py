"""What somebody agreed to is never changed: the database refuses it, and a new version follows."""

from django.db import migrations

POSTGRESQL = """
CREATE FUNCTION surveys_consenttext_is_kept() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'A consent text is never changed, only followed.'; END $$;
CREATE TRIGGER surveys_consenttext_kept BEFORE UPDATE OF version, text, translations, created_at ON surveys_consenttext
FOR EACH ROW EXECUTE FUNCTION surveys_consenttext_is_kept();
"""
SQLITE = """
CREATE TRIGGER surveys_consenttext_kept BEFORE UPDATE OF version, text, translations, created_at ON surveys_consenttext
BEGIN SELECT RAISE(ABORT, 'A consent text is never changed, only followed.'); END
"""
POSTGRESQL_BACK = """
DROP TRIGGER surveys_consenttext_kept ON surveys_consenttext;
DROP FUNCTION surveys_consenttext_is_kept();
"""
SQLITE_BACK = "DROP TRIGGER surveys_consenttext_kept"


def forwards(apps, schema_editor):
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    schema_editor.execute(SQLITE if is_sqlite else POSTGRESQL)


def backwards(apps, schema_editor):
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    schema_editor.execute(SQLITE_BACK if is_sqlite else POSTGRESQL_BACK)


class Migration(migrations.Migration):
    dependencies = [("surveys", "0029_consent_and_problems")]
    operations = [migrations.RunPython(forwards, backwards)]
