"""Roles in studies, links into their teams, and audit entries about a study as a whole.

SQLite makes the trail's table anew for its constraint, and drops with the old one what keeps it append-only.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def is_append_only_again(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(
            "CREATE TRIGGER IF NOT EXISTS surveys_auditentry_append_only BEFORE UPDATE ON surveys_auditentry "
            "BEGIN SELECT RAISE(ABORT, 'An audit entry is never changed.'); END"
        )


class Migration(migrations.Migration):

    dependencies = [
        ('annotators', '0008_moved_hits'),
        ('surveys', '0019_columns_of_imports'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='TeamInvitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='Whom it is for, as you call them.', max_length=100)),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('researcher', 'Researcher'), ('assistant', 'Assistant'), ('reader', 'Read-only')], max_length=16)),
                ('token_hash', models.CharField(editable=False, max_length=64, unique=True)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(editable=False, null=True)),
                ('revoked_at', models.DateTimeField(editable=False, null=True)),
            ],
            options={
                'ordering': ['-made_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='TeamRole',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('researcher', 'Researcher'), ('assistant', 'Assistant'), ('reader', 'Read-only')], max_length=16)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='auditentry',
            name='audit_entry_is_about_something',
        ),
        migrations.AddField(
            model_name='auditentry',
            name='survey',
            field=models.ForeignKey(blank=True, help_text='Where it is about a study as a whole.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='audit_entries', to='surveys.survey'),
        ),
        migrations.AlterField(
            model_name='auditentry',
            name='kind',
            field=models.CharField(choices=[('payment', 'Payment'), ('inclusion', 'Use in the analysis'), ('standing', "Worker's standing"), ('bonus', 'Bonus'), ('appeal', 'Appeal'), ('publishing', 'Publishing'), ('policy', 'Review policy'), ('budget', 'Budget'), ('download', 'Download with worker ids'), ('purge', 'Purge of identifiers'), ('results', 'Numbers entered for results'), ('sharing', 'Read-only link to results'), ('team', 'Team of a study')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='auditentry',
            constraint=models.CheckConstraint(condition=models.Q(('survey__isnull', False), ('batch__isnull', False), ('assignment__isnull', False), ('worker__isnull', False), _connector='OR'), name='audit_entry_is_about_something'),
        ),
        migrations.AddField(
            model_name='teaminvitation',
            name='made_by',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='teaminvitation',
            name='survey',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='team_invitations', to='surveys.survey'),
        ),
        migrations.AddField(
            model_name='teaminvitation',
            name='used_by',
            field=models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='teamrole',
            name='person',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='study_roles', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='teamrole',
            name='survey',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='team_roles', to='surveys.survey'),
        ),
        migrations.AddConstraint(
            model_name='teaminvitation',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='team_invitation_has_a_name'),
        ),
        migrations.AddConstraint(
            model_name='teaminvitation',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'researcher', 'assistant', 'reader'])), name='team_invitation_is_to_a_role'),
        ),
        migrations.AddConstraint(
            model_name='teaminvitation',
            constraint=models.CheckConstraint(condition=models.Q(('used_at', None), ('revoked_at', None), _connector='OR'), name='team_invitation_used_or_revoked'),
        ),
        migrations.AddConstraint(
            model_name='teamrole',
            constraint=models.UniqueConstraint(fields=('survey', 'person'), name='one_role_per_study_and_person'),
        ),
        migrations.AddConstraint(
            model_name='teamrole',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'researcher', 'assistant', 'reader'])), name='team_role_is_a_role'),
        ),
        migrations.RunPython(is_append_only_again, is_append_only_again),
    ]
