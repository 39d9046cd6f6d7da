"""Which outputs of its item a questionnaire shows, where they are drawn; the database takes none of another item."""

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

POSTGRESQL = """
CREATE FUNCTION surveys_slotoutput_is_of_its_item() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
IF NOT EXISTS (
    SELECT 1 FROM surveys_questionnaireitem AS slot JOIN surveys_output AS output ON output.item_id = slot.item_id
    WHERE slot.id = NEW.slot_id AND output.id = NEW.output_id
) THEN RAISE EXCEPTION 'The output is of another item.' USING ERRCODE = 'integrity_constraint_violation'; END IF;
RETURN NEW;
END $$;
CREATE TRIGGER surveys_slotoutput_of_its_item BEFORE INSERT OR UPDATE ON surveys_slotoutput
FOR EACH ROW EXECUTE FUNCTION surveys_slotoutput_is_of_its_item();
"""
SQLITE = """
CREATE TRIGGER surveys_slotoutput_of_its_item_{event} BEFORE {event} ON surveys_slotoutput
WHEN NOT EXISTS (
    SELECT 1 FROM surveys_questionnaireitem AS slot JOIN surveys_output AS output ON output.item_id = slot.item_id
    WHERE slot.id = NEW.slot_id AND output.id = NEW.output_id
)
BEGIN SELECT RAISE(ABORT, 'The output is of another item.'); END
"""
POSTGRESQL_BACK = """
DROP TRIGGER surveys_slotoutput_of_its_item ON surveys_slotoutput;
DROP FUNCTION surveys_slotoutput_is_of_its_item();
"""
EVENTS = ("INSERT", "UPDATE")


def forwards(apps, schema_editor):
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    for statement in [SQLITE.format(event=event) for event in EVENTS] if is_sqlite else [POSTGRESQL]:
        schema_editor.execute(statement)


def backwards(apps, schema_editor):
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    drops = [f"DROP TRIGGER surveys_slotoutput_of_its_item_{event}" for event in EVENTS]
    for statement in drops if is_sqlite else [POSTGRESQL_BACK]:
        schema_editor.execute(statement)


class Migration(migrations.Migration):

    dependencies = [
        ('annotators', '0008_moved_hits'),
        ('surveys', '0020_colleagues'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SlotOutput',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ],
            options={
                'ordering': ['slot_id', 'output_id'],
            },
        ),
        migrations.AddField(
            model_name='batch',
            name='draws_per_item',
            field=models.PositiveSmallIntegerField(blank=True, default=1, help_text='HITs that show an item, each other outputs of it, where its survey type draws them.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000)], verbose_name='draws per item'),
        ),
        migrations.AddConstraint(
            model_name='batch',
            constraint=models.CheckConstraint(condition=models.Q(('draws_per_item__gte', 1)), name='batch_draws_each_item'),
        ),
        migrations.AddField(
            model_name='slotoutput',
            name='output',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='drawn', to='surveys.output'),
        ),
        migrations.AddField(
            model_name='slotoutput',
            name='slot',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drawn', to='surveys.questionnaireitem'),
        ),
        migrations.AddField(
            model_name='questionnaireitem',
            name='outputs',
            field=models.ManyToManyField(related_name='slots', through='surveys.SlotOutput', to='surveys.output'),
        ),
        migrations.AddConstraint(
            model_name='slotoutput',
            constraint=models.UniqueConstraint(fields=('slot', 'output'), name='slot_output_once'),
        ),
        migrations.RunPython(forwards, backwards),
    ]
