"""All tables as 0001 to 0032 leave them, for a database that has none yet; docs/adr/0027 says why.

What those migrations did to rows is not here, as there are none; the triggers are created by their own functions.
"""

import datetime
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.text
import surveys.models.batch
import surveys.models.study
import surveys.models.webhooks
import uuid
from decimal import Decimal
from importlib import import_module
from django.conf import settings
from django.db import migrations, models

TRIGGERS = [
    import_module(f"surveys.migrations.{name}")
    for name in ("0002_append_only", "0021_outputs_of_a_slot", "0030_consent_texts_are_kept")
]


class AllAtOnce(migrations.SeparateDatabaseAndState):
    """Creates models in one state, in any order: for each that is added, Django makes all that are related anew."""

    def state_forwards(self, app_label, state):
        state.__dict__.pop("apps", None)  # made when it is asked for, which is when all models are there
        super().state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        for operation in self.state_operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        for operation in reversed(self.state_operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)


def create_triggers(apps, schema_editor):
    for migration in TRIGGERS:
        migration.forwards(apps, schema_editor)


def drop_triggers(apps, schema_editor):
    for migration in reversed(TRIGGERS):
        migration.backwards(apps, schema_editor)


class Migration(migrations.Migration):

    replaces = [
        ('surveys', '0001_initial'),
        ('surveys', '0002_append_only'),
        ('surveys', '0003_claims'),
        ('surveys', '0004_a_batch_says_its_design'),
        ('surveys', '0005_protocols'),
        ('surveys', '0006_accuracies_and_results'),
        ('surveys', '0007_kept_reports'),
        ('surveys', '0008_repeated_items'),
        ('surveys', '0009_files_of_blocks'),
        ('surveys', '0010_reports_of_a_choice'),
        ('surveys', '0011_shared_results'),
        ('surveys', '0012_person_labels'),
        ('surveys', '0013_pictures_of_protocols'),
        ('surveys', '0014_page_language'),
        ('surveys', '0015_api_tokens'),
        ('surveys', '0016_webhooks'),
        ('surveys', '0017_drafts_of_protocols'),
        ('surveys', '0018_smaller_copies'),
        ('surveys', '0019_columns_of_imports'),
        ('surveys', '0020_colleagues'),
        ('surveys', '0021_outputs_of_a_slot'),
        ('surveys', '0022_marked_spans'),
        ('surveys', '0023_simulated_batches_and_pilots'),
        ('surveys', '0024_outputs_that_are_files'),
        ('surveys', '0025_notes_and_publishing'),
        ('surveys', '0026_codes_of_panels'),
        ('surveys', '0027_large_imports'),
        ('surveys', '0028_awaited_reports'),
        ('surveys', '0029_consent_and_problems'),
        ('surveys', '0030_consent_texts_are_kept'),
        ('surveys', '0031_long_lists'),
        ('surveys', '0032_appeals_told'),
    ]

    initial = True

    dependencies = [
        ('annotators', '0009_long_lists'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AllAtOnce(state_operations=[
            migrations.CreateModel(
                name='Item',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('external_id', models.CharField(max_length=255)),
                    ('subject', models.CharField(max_length=255)),
                    ('position', models.PositiveIntegerField(help_text='Order of import.')),
                    ('source_row', models.PositiveIntegerField(blank=True, help_text='Row of the batch CSV, from 1.', null=True)),
                    ('payload', models.JSONField(default=dict)),
                    ('choices', models.JSONField(default=list)),
                    ('gold', models.CharField(blank=True, max_length=2000)),
                    ('references', models.JSONField(blank=True, default=list)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='surveys.survey')),
                ],
                options={
                    'ordering': ['survey_id', 'position'],
                    'constraints': [models.UniqueConstraint(fields=('survey', 'external_id'), name='item_once_per_survey'), models.UniqueConstraint(fields=('survey', 'position'), name='item_position_once_per_survey')],
                },
            ),
            migrations.CreateModel(
                name='AnswerRevision',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('data', models.JSONField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='revisions', to='annotators.assignment')),
                ],
                options={
                    'ordering': ['assignment_id', 'pk'],
                },
            ),
            migrations.CreateModel(
                name='Batch',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200, unique=True)),
                    ('endpoint', models.CharField(choices=[('embedded', 'Embedded marketplace'), ('sandbox', 'MTurk sandbox'), ('production', 'MTurk production (real money)'), ('link', 'No marketplace: people come by link')], default='embedded', max_length=16)),
                    ('title', models.CharField(max_length=128)),
                    ('description', models.CharField(max_length=2000)),
                    ('keywords', models.CharField(blank=True, max_length=1000)),
                    ('items_per_hit', models.PositiveSmallIntegerField(default=5, validators=[django.core.validators.MinValueValidator(1)], verbose_name='items per HIT')),
                    ('assignments_per_hit', models.PositiveSmallIntegerField(default=5, validators=[django.core.validators.MinValueValidator(1)], verbose_name='assignments per HIT')),
                    ('reward', models.DecimalField(decimal_places=2, max_digits=6, validators=[django.core.validators.MinValueValidator(Decimal('0'))])),
                    ('assignment_duration', models.DurationField(default=datetime.timedelta(seconds=3600))),
                    ('lifetime', models.DurationField(default=datetime.timedelta(days=7))),
                    ('auto_approval_delay', models.DurationField()),
                    ('review_policy', models.JSONField(default=surveys.models.batch.default_review_policy)),
                    ('rejects_automatically', models.BooleanField(default=False, help_text='Off: the rule proposes a rejection, and a person decides.')),
                    ('replaces_auto_approved', models.BooleanField(default=True, help_text='Work the rule would have rejected, but the marketplace approved first, is left out and replaced.')),
                    ('budget', models.DecimalField(blank=True, decimal_places=2, help_text='US dollars, fees and replacements included, that are never exceeded.', max_digits=10, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0.01'))])),
                    ('takes_links', models.BooleanField(default=False, help_text='Personal links and panels share one quota with the marketplace.', verbose_name='people may come by link')),
                    ('uses_quiz', models.BooleanField(default=False, help_text='Two tries, part of the paid time.', verbose_name='begins with the quiz')),
                    ('seed', models.PositiveIntegerField(default=surveys.models.batch.new_seed)),
                    ('assumed_minutes', models.DecimalField(decimal_places=2, default=8, max_digits=6, validators=[django.core.validators.MinValueValidator(Decimal('0.01'))], verbose_name='assumed minutes per assignment')),
                    ('snapshot', models.JSONField(blank=True, editable=False, null=True)),
                    ('status', models.CharField(choices=[('draft', 'Draft'), ('publishing', 'Publishing'), ('open', 'Open'), ('stopped', 'Stopped'), ('complete', 'Complete')], default='draft', editable=False, max_length=16)),
                    ('error', models.TextField(blank=True, editable=False, help_text='Why publishing or syncing stands still.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('published_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('created_by', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                    ('hit_type', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='annotators.hittype')),
                    ('survey', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='batches', to='surveys.survey')),
                    ('design', models.JSONField(blank=True, editable=False, help_text='How the HITs were drawn; empty in a batch published in the order of its file.', null=True)),
                    ('repeats_per_hit', models.PositiveSmallIntegerField(blank=True, default=0, help_text="Of each HIT, at most half: again at the page's end.", verbose_name='items asked twice')),
                    ('page_language', models.CharField(blank=True, help_text='Of buttons, hints and messages around the questions. Workers can choose another.', max_length=16, verbose_name='language of the pages')),
                    ('draws_per_item', models.PositiveSmallIntegerField(blank=True, default=1, help_text='HITs that show an item, each other outputs of it, where its survey type draws them.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000)], verbose_name='draws per item')),
                    ('follows', models.ForeignKey(blank=True, editable=False, help_text='The pilot before it, whose items and people it leaves out.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='rest', to='surveys.batch')),
                    ('is_simulated', models.BooleanField(default=False, editable=False, help_text='Simulated people answer: practice, no result. Nobody is paid, and no marketplace hears of it.')),
                    ('pilot_items', models.PositiveIntegerField(blank=True, help_text='Show only so many items, drawn by the seed; the rest follows in a batch of its own.', null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='items of a pilot')),
                ],
                options={
                    'verbose_name_plural': 'batches',
                    'ordering': ['-created_at'],
                    'permissions': [('publish_batch', 'Can publish and stop batches'), ('export_raw', 'Can download raw results, worker ids included')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('status', 'draft'), ('snapshot__isnull', False), _connector='OR'), name='published_batch_has_snapshot'), models.CheckConstraint(condition=models.Q(('items_per_hit__gte', 1)), name='batch_has_items_per_hit'), models.CheckConstraint(condition=models.Q(('assignments_per_hit__gte', 1)), name='batch_has_assignments_per_hit'), models.CheckConstraint(condition=models.Q(('reward__gt', 0), models.Q(('endpoint', 'link'), ('reward', 0)), _connector='OR'), name='batch_pays'), models.CheckConstraint(condition=models.Q(('assumed_minutes__gt', 0)), name='batch_takes_time'), models.CheckConstraint(condition=models.Q(('repeats_per_hit__lte', django.db.models.expressions.CombinedExpression(models.F('items_per_hit'), '-', models.F('repeats_per_hit')))), name='batch_repeats_at_most_half', violation_error_message="At most half of a HIT's items can be asked twice."), models.CheckConstraint(condition=models.Q(('draws_per_item__gte', 1)), name='batch_draws_each_item'), models.CheckConstraint(condition=models.Q(('is_simulated', False), models.Q(('endpoint', 'link'), ('reward', 0)), _connector='OR'), name='simulated_batch_costs_nothing'), models.CheckConstraint(condition=models.Q(('pilot_items__isnull', True), ('pilot_items__gte', 1), _connector='OR'), name='pilot_has_items')],
                },
            ),
            migrations.CreateModel(
                name='Output',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('system', models.SlugField(max_length=64)),
                    ('text', models.TextField()),
                    ('answer', models.CharField(blank=True, help_text='The answer this system gave.', max_length=2000)),
                    ('model_correct', models.BooleanField(blank=True, null=True)),
                    ('code', models.CharField(default=surveys.models.study.new_code, editable=False, max_length=32, unique=True)),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='outputs', to='surveys.item')),
                ],
                options={
                    'ordering': ['item_id', 'pk'],
                    'constraints': [models.UniqueConstraint(fields=('item', 'system'), name='output_once_per_item_and_system')],
                },
            ),
            migrations.CreateModel(
                name='MetricScore',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('metric', models.CharField(max_length=64)),
                    ('value', models.FloatField(null=True)),
                    ('version', models.CharField(max_length=255)),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('scored_at', models.DateTimeField()),
                    ('output', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='metric_scores', to='surveys.output')),
                ],
                options={
                    'ordering': ['output_id', 'metric'],
                    'constraints': [models.UniqueConstraint(fields=('output', 'metric'), name='metric_once_per_output')],
                },
            ),
            migrations.CreateModel(
                name='Panel',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('code', models.CharField(default=surveys.models.study.new_code, editable=False, max_length=32, unique=True)),
                    ('provider', models.SlugField(default='prolific', max_length=16)),
                    ('worker_parameter', models.CharField(default='PROLIFIC_PID', max_length=64)),
                    ('study_parameter', models.CharField(blank=True, default='STUDY_ID', max_length=64)),
                    ('session_parameter', models.CharField(blank=True, default='SESSION_ID', max_length=64)),
                    ('study_id', models.CharField(blank=True, help_text='Empty: any study may send people.', max_length=64)),
                    ('completion_code', models.CharField(max_length=64)),
                    ('completion_url', models.URLField(blank=True, default='https://app.prolific.com/submissions/complete?cc={code}', help_text='Where a person goes when done; {code} stands for the completion code.')),
                    ('assignments_per_worker', models.PositiveIntegerField(default=1)),
                    ('batch', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='panel', to='surveys.batch')),
                ],
            ),
            migrations.CreateModel(
                name='PanelVisit',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('study', models.CharField(blank=True, max_length=64)),
                    ('session', models.CharField(blank=True, max_length=64)),
                    ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('completed_at', models.DateTimeField(blank=True, null=True)),
                    ('panel', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='visits', to='surveys.panel')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='panel_visits', to='annotators.worker')),
                    ('ended_at', models.DateTimeField(blank=True, help_text='When they were told the outcome.', null=True)),
                    ('outcome', models.CharField(blank=True, choices=[('completed', 'Completed'), ('checks_failed', 'Checks failed'), ('nothing_left', 'Nothing left'), ('no_consent', 'No consent')], max_length=16)),
                ],
                options={
                    'ordering': ['panel_id', 'pk'],
                    'constraints': [models.UniqueConstraint(fields=('panel', 'worker'), name='one_visit_per_panel_and_worker'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('outcome', '')), models.Q(('ended_at__isnull', False), ('outcome__in', ['completed', 'checks_failed', 'nothing_left', 'no_consent'])), _connector='OR'), name='visit_ends_with_an_outcome')],
                },
            ),
            migrations.CreateModel(
                name='Picture',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField(default=1)),
                    ('name', models.CharField(help_text="File name as the researcher's file gives it.", max_length=500)),
                    ('code', models.CharField(default=surveys.models.study.new_code, editable=False, max_length=32, unique=True)),
                    ('file', models.FileField(blank=True, max_length=255, upload_to='pictures/')),
                    ('content_type', models.CharField(blank=True, max_length=32)),
                    ('width', models.PositiveIntegerField(default=0)),
                    ('height', models.PositiveIntegerField(default=0)),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pictures', to='surveys.item')),
                    ('block', models.CharField(blank=True, default='', editable=False, max_length=72)),
                    ('widths', models.JSONField(editable=False, null=True)),
                ],
                options={
                    'ordering': ['item_id', 'position'],
                    'constraints': [models.UniqueConstraint(fields=('item', 'position'), name='picture_position_once_per_item')],
                },
            ),
            migrations.CreateModel(
                name='Questionnaire',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('position', models.PositiveIntegerField()),
                    ('target_assignments', models.PositiveSmallIntegerField(help_text='How many kept assignments it is to get.')),
                    ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questionnaires', to='surveys.batch')),
                    ('hit', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='questionnaire', to='annotators.hit')),
                    ('sibling_of', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='siblings', to='surveys.questionnaire')),
                    ('items', models.ManyToManyField(related_name='questionnaires', through='surveys.QuestionnaireItem', to='surveys.item')),
                ],
                options={
                    'ordering': ['batch_id', 'position'],
                    'constraints': [models.UniqueConstraint(fields=('batch', 'position'), name='questionnaire_position_once_per_batch')],
                },
            ),
            migrations.CreateModel(
                name='AnnotationSlot',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField(verbose_name='annotation id')),
                    ('replicate', models.PositiveSmallIntegerField(help_text='From 1: the how manieth of its questionnaire; the least filled are given out first.')),
                    ('leased_until', models.DateTimeField(blank=True, help_text='Until then nobody else gets it, unless it was answered.', null=True)),
                    ('assignment', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='annotation_slot', to='annotators.assignment')),
                    ('reopens', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reopened_as', to='surveys.annotationslot')),
                    ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='annotation_slots', to='surveys.batch')),
                    ('questionnaire', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='annotation_slots', to='surveys.questionnaire')),
                ],
                options={
                    'ordering': ['batch_id', 'number'],
                    'indexes': [models.Index(fields=['batch', 'replicate', 'number'], name='surveys_ann_batch_i_4cb112_idx')],
                    'constraints': [models.UniqueConstraint(fields=('batch', 'number'), name='annotation_id_once_per_batch'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='annotation_id_from_one'), models.CheckConstraint(condition=models.Q(models.Q(('assignment__isnull', True), ('leased_until__isnull', True)), models.Q(('assignment__isnull', False), ('leased_until__isnull', False)), _connector='OR'), name='given_slot_has_lease')],
                },
            ),
            migrations.CreateModel(
                name='QuestionnaireItem',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveSmallIntegerField(help_text='From 1.')),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='slots', to='surveys.item')),
                    ('questionnaire', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='surveys.questionnaire')),
                    ('outputs', models.ManyToManyField(related_name='slots', through='surveys.SlotOutput', to='surveys.output')),
                ],
                options={
                    'ordering': ['questionnaire_id', 'position'],
                    'constraints': [models.UniqueConstraint(fields=('questionnaire', 'position'), name='slot_position_once'), models.UniqueConstraint(fields=('questionnaire', 'item'), name='slot_item_once')],
                },
            ),
            migrations.CreateModel(
                name='QuizAttempt',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveSmallIntegerField(help_text='From 1.')),
                    ('answers', models.JSONField()),
                    ('n_right', models.PositiveSmallIntegerField()),
                    ('is_passed', models.BooleanField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('batch', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='quiz_attempts', to='surveys.batch')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='quiz_attempts', to='annotators.worker')),
                    ('claimed_from', models.CharField(blank=True, editable=False, help_text="As the assignment's, until that is confirmed.", max_length=16)),
                ],
                options={
                    'ordering': ['batch_id', 'worker_id', 'number'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='quiz_attempt_counts_from_one'), models.UniqueConstraint(fields=('batch', 'worker', 'number', 'claimed_from'), name='quiz_attempt_number_once')],
                },
            ),
            migrations.CreateModel(
                name='Replacement',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('opened_by', models.CharField(choices=[('extend', 'One more assignment on a HIT'), ('create', 'A sibling HIT')], max_length=8)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('opened_at', models.DateTimeField(blank=True, help_text='The marketplace has opened the slot.', null=True)),
                    ('questionnaire', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='replacements', to='surveys.questionnaire')),
                    ('replaces', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='replacement', to='annotators.assignment')),
                ],
            ),
            migrations.CreateModel(
                name='Response',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveSmallIntegerField(help_text='From 1, as in the questionnaire.')),
                    ('shown', models.JSONField(default=dict)),
                    ('draft', models.JSONField(blank=True, default=dict)),
                    ('draft_version', models.PositiveIntegerField(default=0, help_text="Client's counter: a late save can't win.")),
                    ('answer', models.CharField(blank=True, max_length=2000)),
                    ('is_correct', models.BooleanField(blank=True, null=True)),
                    ('skip_reason', models.CharField(blank=True, max_length=200)),
                    ('active_seconds', models.FloatField(default=0, help_text='Visible and focused, as the page measured.')),
                    ('saved_at', models.DateTimeField(blank=True, help_text='Draft last saved.', null=True)),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='annotators.assignment')),
                    ('batch', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='surveys.batch')),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='surveys.item')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='annotators.worker')),
                    ('is_claim', models.BooleanField(default=False, help_text='The marketplace has not named the worker yet.')),
                    ('is_repeat', models.BooleanField(default=False, help_text='The item asked again, for agreement within raters.')),
                ],
                options={
                    'ordering': ['assignment_id', 'position'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('active_seconds__gte', 0)), name='active_seconds_not_negative'), models.UniqueConstraint(fields=('assignment', 'item', 'is_repeat'), name='response_once_per_assignment_and_item'), models.UniqueConstraint(condition=models.Q(('is_claim', False)), fields=('batch', 'worker', 'item', 'is_repeat'), name='worker_sees_item_once_per_batch')],
                },
            ),
            migrations.CreateModel(
                name='Rating',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('criterion', models.CharField(max_length=64)),
                    ('value', models.TextField()),
                    ('score', models.FloatField(blank=True, help_text='Empty: a text.', null=True)),
                    ('output', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='ratings', to='surveys.output')),
                    ('response', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='surveys.response')),
                ],
                options={
                    'ordering': ['response_id', 'output_id', 'criterion'],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('output__isnull', False)), fields=('response', 'output', 'criterion'), name='rating_once_per_output_and_criterion'), models.UniqueConstraint(condition=models.Q(('output__isnull', True)), fields=('response', 'criterion'), name='rating_once_per_item_and_criterion')],
                },
            ),
            migrations.CreateModel(
                name='Survey',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200)),
                    ('slug', models.SlugField(unique=True, verbose_name='short name')),
                    ('definition_key', models.CharField(max_length=64, verbose_name='survey type')),
                    ('is_shared', models.BooleanField(default=False, help_text='Everybody with a role here sees it and works on it, as far as their role goes.', verbose_name='shared')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('team', models.ManyToManyField(blank=True, help_text='Who sees it and works on it if it is not shared. Superusers see everything.', related_name='surveys', to=settings.AUTH_USER_MODEL)),
                    ('protocol', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='surveys', to='surveys.protocol')),
                    ('columns', models.JSONField(default=list, editable=False)),
                ],
                options={
                    'ordering': ['-created_at'],
                },
            ),
            migrations.CreateModel(
                name='Appeal',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('code', models.CharField(max_length=32, unique=True)),
                    ('text', models.TextField(blank=True)),
                    ('made_at', models.DateTimeField(blank=True, null=True)),
                    ('outcome', models.CharField(blank=True, choices=[('overturned', 'The rejection was overturned'), ('upheld', 'The rejection stays')], max_length=16)),
                    ('answer', models.TextField(blank=True, help_text='The worker reads this.')),
                    ('answered_at', models.DateTimeField(blank=True, null=True)),
                    ('answered_by', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                    ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='appeal', to='annotators.assignment')),
                    ('told', models.CharField(blank=True, choices=[('received', 'That it has come'), ('upheld', 'That the rejection stays')], default='', editable=False, help_text="What the worker's marketplace was last told, before it was asked to pass it on.", max_length=16)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('made_at', None), models.Q(('text', ''), _negated=True), _connector='OR'), name='appeal_says_something'), models.CheckConstraint(condition=models.Q(models.Q(('answered_at', None), ('outcome', '')), models.Q(('answered_at__isnull', False), ('made_at__isnull', False), models.Q(('outcome', ''), _negated=True), models.Q(('answer', ''), _negated=True)), _connector='OR'), name='answered_appeal_has_outcome')],
                },
            ),
            migrations.CreateModel(
                name='AuditEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('payment', 'Payment'), ('inclusion', 'Use in the analysis'), ('standing', "Worker's standing"), ('bonus', 'Bonus'), ('appeal', 'Appeal'), ('publishing', 'Publishing'), ('policy', 'Review policy'), ('budget', 'Budget'), ('download', 'Download with worker ids'), ('purge', 'Purge of identifiers'), ('results', 'Numbers entered for results'), ('sharing', 'Read-only link to results'), ('team', 'Team of a study')], max_length=16)),
                    ('outcome', models.CharField(max_length=32)),
                    ('reason', models.TextField(blank=True)),
                    ('rule_version', models.CharField(blank=True, max_length=32)),
                    ('details', models.JSONField(blank=True, default=dict)),
                    ('at', models.DateTimeField(auto_now_add=True)),
                    ('actor', models.ForeignKey(blank=True, help_text='Empty: by rule.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('assignment', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='audit_entries', to='annotators.assignment')),
                    ('worker', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='audit_entries', to='annotators.worker')),
                    ('batch', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='audit_entries', to='surveys.batch')),
                    ('survey', models.ForeignKey(blank=True, help_text='Where it is about a study as a whole.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='audit_entries', to='surveys.survey')),
                ],
                options={
                    'verbose_name_plural': 'audit trail',
                    'ordering': ['-at', '-pk'],
                    'indexes': [models.Index(fields=['kind', 'at'], name='surveys_aud_kind_e77517_idx'), models.Index(fields=['-at', '-id'], name='audit_latest')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('outcome', ''), _negated=True), name='audit_entry_has_outcome'), models.CheckConstraint(condition=models.Q(('survey__isnull', False), ('batch__isnull', False), ('assignment__isnull', False), ('worker__isnull', False), _connector='OR'), name='audit_entry_is_about_something')],
                },
            ),
            migrations.CreateModel(
                name='Alarm',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('deadline', 'Undecided near the deadline'), ('error', 'Batch stands still'), ('appeal', 'Appeal without an answer')], max_length=16)),
                    ('about', models.CharField(help_text='The key of an assignment or appeal, or of an error.', max_length=64)),
                    ('seen_at', models.DateTimeField(auto_now_add=True)),
                    ('claim', models.UUIDField(blank=True, db_index=True, null=True)),
                    ('claimed_at', models.DateTimeField(blank=True, null=True)),
                    ('sent_at', models.DateTimeField(blank=True, null=True)),
                    ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='alarms', to='surveys.batch')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('kind', 'about'), name='alarm_once'), models.CheckConstraint(condition=models.Q(models.Q(('claim', None), ('claimed_at', None)), models.Q(('claim__isnull', False), ('claimed_at__isnull', False)), _connector='OR'), name='claimed_alarm_has_time')],
                },
            ),
            migrations.CreateModel(
                name='Decision',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('verdict', models.CharField(choices=[('approve', 'Approve'), ('reject', 'Reject'), ('propose', 'Rejection proposed'), ('flag', 'Wait for a person')], max_length=8)),
                    ('reason', models.TextField(blank=True, help_text='For a rejection: the message the worker reads.')),
                    ('n_correct', models.PositiveSmallIntegerField(blank=True, null=True)),
                    ('n_graded', models.PositiveSmallIntegerField(blank=True, null=True)),
                    ('flags', models.JSONField(blank=True, default=list, help_text='What the rules noticed: [{"kind", "sentence"}].')),
                    ('policy', models.JSONField(default=dict, help_text='The rule as it stood.')),
                    ('rule_version', models.CharField(blank=True, max_length=32)),
                    ('is_auto_approved', models.BooleanField(default=False, help_text='The marketplace approved it before we decided.')),
                    ('decided_at', models.DateTimeField()),
                    ('overturned_at', models.DateTimeField(blank=True, null=True)),
                    ('overturn_reason', models.TextField(blank=True, help_text='The message the worker reads then.')),
                    ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='decision', to='annotators.assignment')),
                    ('decided_by', models.ForeignKey(blank=True, help_text='Empty: by rule.', null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                    ('overturned_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='overturned_decisions', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('verdict', 'reject'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='rejection_has_reason'), models.CheckConstraint(condition=models.Q(('overturned_at', None), models.Q(('overturn_reason', ''), _negated=True), _connector='OR'), name='overturning_has_reason')],
                },
            ),
            migrations.CreateModel(
                name='Inclusion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('is_included', models.BooleanField()),
                    ('is_replaced', models.BooleanField(default=False)),
                    ('reason', models.TextField()),
                    ('rule_version', models.CharField(blank=True, max_length=32)),
                    ('decided_at', models.DateTimeField()),
                    ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='inclusion', to='annotators.assignment')),
                    ('decided_by', models.ForeignKey(blank=True, help_text='Empty: by rule.', null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='inclusion_has_reason'), models.CheckConstraint(condition=models.Q(('is_included', False), ('is_replaced', False), _connector='OR'), name='included_is_not_replaced')],
                },
            ),
            migrations.CreateModel(
                name='Invitation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(help_text='Whom it is for, as you call them.', max_length=200)),
                    ('email', models.EmailField(blank=True, max_length=254)),
                    ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('access_code', models.CharField(blank=True, editable=False, max_length=128)),
                    ('max_assignments', models.PositiveIntegerField(blank=True, null=True)),
                    ('expires_at', models.DateTimeField()),
                    ('revoked_at', models.DateTimeField(blank=True, null=True)),
                    ('opened_at', models.DateTimeField(blank=True, help_text='First used.', null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='surveys.batch')),
                    ('created_by', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='invitations', to='annotators.worker')),
                ],
                options={
                    'ordering': ['batch_id', 'name'],
                    'constraints': [models.UniqueConstraint(fields=('batch', 'worker'), name='one_invitation_per_worker_and_batch'), models.UniqueConstraint(fields=('batch', 'name'), name='one_invitation_per_name_and_batch')],
                },
            ),
            migrations.CreateModel(
                name='Protocol',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=64, verbose_name='short name')),
                    ('version', models.PositiveIntegerField()),
                    ('name', models.CharField(max_length=200)),
                    ('document', models.TextField(help_text='YAML, as docs/protocol-files.md says.')),
                    ('is_shared', models.BooleanField(default=False, verbose_name='shared')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('team', models.ManyToManyField(blank=True, related_name='protocols', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['key', '-version'],
                    'constraints': [models.UniqueConstraint(fields=('key', 'version'), name='protocol_version_once')],
                },
            ),
            migrations.CreateModel(
                name='TaskAccuracy',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('system', models.SlugField(help_text='As in the import: the model, not the reference.', max_length=64)),
                    ('accuracy', models.DecimalField(decimal_places=6, help_text='Of the whole test set, from 0 to 1.', max_digits=7, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)], verbose_name='share of right answers')),
                    ('source', models.CharField(help_text='Where the number is from: a table, a file, a commit.', max_length=500)),
                    ('entered_at', models.DateTimeField(auto_now_add=True)),
                    ('entered_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='accuracies', to='surveys.survey')),
                ],
                options={
                    'verbose_name': 'accuracy on the whole test set',
                    'verbose_name_plural': 'accuracies on the whole test set',
                    'ordering': ['-pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('accuracy__gte', 0), ('accuracy__lte', 1)), name='task_accuracy_is_a_share'), models.CheckConstraint(condition=models.Q(('source', ''), _negated=True), name='task_accuracy_has_a_source')],
                },
            ),
            migrations.CreateModel(
                name='KeptReport',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=1000, unique=True)),
                    ('content', models.TextField(blank=True, help_text='JSON.')),
                    ('version', models.CharField(blank=True, help_text='Of the data that the content tells.', max_length=64)),
                    ('made_at', models.DateTimeField(blank=True, null=True)),
                    ('seconds', models.FloatField(default=0, help_text='How long it took.')),
                    ('asked_version', models.CharField(blank=True, help_text='Wanted; empty: nothing is.', max_length=64)),
                    ('asked_at', models.DateTimeField(blank=True, null=True)),
                    ('begun_at', models.DateTimeField(blank=True, null=True)),
                    ('percent', models.PositiveSmallIntegerField(default=0, help_text='Done of what was begun.')),
                    ('error', models.CharField(blank=True, help_text='Why the last try gave nothing.', max_length=500)),
                ],
                options={
                    'ordering': ['key'],
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('content', ''), ('made_at', None)), models.Q(('made_at__isnull', False), models.Q(('content', ''), _negated=True)), _connector='OR'), name='made_report_has_content'), models.CheckConstraint(condition=models.Q(models.Q(('asked_at', None), ('asked_version', ''), ('begun_at', None)), models.Q(('asked_at__isnull', False), models.Q(('asked_version', ''), _negated=True)), _connector='OR'), name='only_what_is_asked_is_begun'), models.CheckConstraint(condition=models.Q(('percent__lte', 100)), name='report_percent_at_most_100')],
                },
            ),
            migrations.CreateModel(
                name='SharedResults',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('token_hash', models.CharField(editable=False, max_length=64, unique=True)),
                    ('name', models.CharField(help_text='Whom it is for, as you call them.', max_length=200)),
                    ('content', models.TextField(help_text='JSON.')),
                    ('choice', models.CharField(blank=True, help_text='Which answers, as an address says it.', max_length=1000)),
                    ('has_outputs', models.BooleanField(default=False)),
                    ('has_key', models.BooleanField(default=False)),
                    ('numbers_at', models.DateTimeField(help_text='When the numbers were made.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                    ('batch', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='shared_results', to='surveys.batch')),
                    ('created_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name_plural': 'shared results',
                    'ordering': ['-created_at', '-pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('content', ''), _negated=True), models.Q(('name', ''), _negated=True)), name='shared_results_say_something'), models.CheckConstraint(condition=models.Q(('has_key', False), ('has_outputs', True), _connector='OR'), name='shared_key_is_of_outputs')],
                },
            ),
            migrations.CreateModel(
                name='PersonLabel',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('text', models.CharField(max_length=100)),
                    ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='labels', to='surveys.survey')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='labels', to='annotators.worker')),
                ],
                options={
                    'ordering': ['survey_id', 'text'],
                    'constraints': [models.UniqueConstraint(fields=('survey', 'worker'), name='one_label_per_survey_and_worker'), models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='label_says_something')],
                },
            ),
            migrations.CreateModel(
                name='ProtocolPicture',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(help_text='As the document names it.', max_length=200)),
                    ('code', models.CharField(db_index=True, max_length=80)),
                    ('content_type', models.CharField(max_length=32)),
                    ('data', models.BinaryField()),
                    ('original', models.BinaryField(default=bytes)),
                    ('protocol', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pictures', to='surveys.protocol')),
                ],
                options={
                    'ordering': ['protocol_id', 'name'],
                    'constraints': [models.UniqueConstraint(fields=('protocol', 'name'), name='picture_once_per_protocol')],
                },
            ),
            migrations.CreateModel(
                name='ApiRequest',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=255)),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('begun_at', models.DateTimeField()),
                    ('status', models.PositiveSmallIntegerField(null=True)),
                    ('content', models.TextField(blank=True, help_text='JSON.')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['pk'],
                    'constraints': [models.UniqueConstraint(fields=('user', 'key'), name='api_request_once_per_user_and_key')],
                },
            ),
            migrations.CreateModel(
                name='ApiToken',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100)),
                    ('token_hash', models.CharField(editable=False, max_length=64, unique=True)),
                    ('start', models.CharField(editable=False, max_length=16)),
                    ('is_read_only', models.BooleanField(default=False)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('expires_at', models.DateTimeField(blank=True, help_text='Empty: when it is revoked.', null=True)),
                    ('last_used_at', models.DateTimeField(blank=True, null=True)),
                    ('revoked_at', models.DateTimeField(blank=True, null=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'API token',
                    'ordering': ['-created_at', '-pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='api_token_has_a_name')],
                },
            ),
            migrations.CreateModel(
                name='Webhook',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('url', models.URLField(max_length=500)),
                    ('secret', models.CharField(default=surveys.models.webhooks.new_secret, editable=False, max_length=64)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('created_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='surveys.survey')),
                ],
                options={
                    'ordering': ['pk'],
                    'constraints': [models.UniqueConstraint(fields=('survey', 'url'), name='webhook_once_per_survey_and_url')],
                },
            ),
            migrations.CreateModel(
                name='Delivery',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('event', models.CharField(choices=[('batch.done', 'Batch done'), ('work.waits', 'Work waits'), ('test', 'Test')], max_length=16)),
                    ('about', models.CharField(max_length=100)),
                    ('body', models.TextField(help_text='JSON, as it is sent.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('due_at', models.DateTimeField(blank=True, db_index=True, help_text='Empty: nothing is to be sent.', null=True)),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('arrived_at', models.DateTimeField(blank=True, null=True)),
                    ('error', models.CharField(blank=True, help_text='Why the last try failed.', max_length=300)),
                    ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='surveys.webhook')),
                ],
                options={
                    'verbose_name_plural': 'deliveries',
                    'ordering': ['-pk'],
                    'constraints': [models.UniqueConstraint(fields=('webhook', 'about'), name='delivery_once_per_webhook'), models.CheckConstraint(condition=models.Q(('due_at', None), ('arrived_at', None), _connector='OR'), name='what_arrived_is_not_due')],
                },
            ),
            migrations.CreateModel(
                name='ProtocolDraft',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('current', models.PositiveIntegerField(default=1)),
                    ('items', models.TextField(blank=True)),
                    ('is_shared', models.BooleanField(default=False, help_text='Everybody with a role here may write on it, as far as that goes.', verbose_name='shared')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('origin', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='copies', to='surveys.protocol')),
                    ('protocol', models.OneToOneField(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='draft', to='surveys.protocol')),
                    ('team', models.ManyToManyField(blank=True, related_name='protocol_drafts', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'survey type being written',
                    'verbose_name_plural': 'survey types being written',
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='ProtocolDraftVersion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('before', models.PositiveIntegerField()),
                    ('document', models.TextField(blank=True)),
                    ('is_aside', models.BooleanField(default=False)),
                    ('made_at', models.DateTimeField(auto_now_add=True)),
                    ('draft', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='surveys.protocoldraft')),
                    ('made_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['draft_id', 'number'],
                    'constraints': [models.UniqueConstraint(fields=('draft', 'number'), name='draft_version_once'), models.CheckConstraint(condition=models.Q(('before__lt', models.F('number'))), name='draft_version_after')],
                },
            ),
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
                    ('made_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='team_invitations', to='surveys.survey')),
                    ('used_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-made_at', '-pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='team_invitation_has_a_name'), models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'researcher', 'assistant', 'reader'])), name='team_invitation_is_to_a_role'), models.CheckConstraint(condition=models.Q(('used_at', None), ('revoked_at', None), _connector='OR'), name='team_invitation_used_or_revoked')],
                },
            ),
            migrations.CreateModel(
                name='TeamRole',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('role', models.CharField(choices=[('owner', 'Owner'), ('researcher', 'Researcher'), ('assistant', 'Assistant'), ('reader', 'Read-only')], max_length=16)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='study_roles', to=settings.AUTH_USER_MODEL)),
                    ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='team_roles', to='surveys.survey')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('survey', 'person'), name='one_role_per_study_and_person'), models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'researcher', 'assistant', 'reader'])), name='team_role_is_a_role')],
                },
            ),
            migrations.CreateModel(
                name='SlotOutput',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('output', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='drawn', to='surveys.output')),
                    ('slot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drawn', to='surveys.questionnaireitem')),
                ],
                options={
                    'ordering': ['slot_id', 'output_id'],
                    'constraints': [models.UniqueConstraint(fields=('slot', 'output'), name='slot_output_once')],
                },
            ),
            migrations.CreateModel(
                name='MarkedSpan',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveSmallIntegerField(help_text='From 1, in the order of the text.')),
                    ('column', models.CharField(blank=True, max_length=64)),
                    ('start', models.PositiveIntegerField(blank=True, null=True)),
                    ('end', models.PositiveIntegerField(blank=True, null=True)),
                    ('length', models.PositiveIntegerField()),
                    ('text', models.TextField(blank=True, help_text='What is marked.')),
                    ('category', models.CharField(blank=True, max_length=200)),
                    ('severity', models.CharField(max_length=200)),
                    ('cost', models.FloatField(help_text="What the severity costs in the batch's protocol.")),
                    ('note', models.TextField(blank=True)),
                    ('rating', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='spans', to='surveys.rating')),
                ],
                options={
                    'ordering': ['rating_id', 'number'],
                    'constraints': [models.UniqueConstraint(fields=('rating', 'number'), name='span_number_once_per_rating'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='span_number_from_one'), models.CheckConstraint(condition=models.Q(models.Q(('end__isnull', True), ('start__isnull', True), ('text', '')), models.Q(('end__isnull', False), ('end__lte', models.F('length')), ('start__gte', 0), ('start__isnull', False), ('start__lt', models.F('end'))), _connector='OR'), name='span_within_its_text_or_whole'), models.CheckConstraint(condition=models.Q(('start__isnull', True), ('end', django.db.models.expressions.CombinedExpression(models.F('start'), '+', django.db.models.functions.text.Length('text'))), _connector='OR'), name='span_as_long_as_its_text'), models.CheckConstraint(condition=models.Q(('severity', ''), _negated=True), name='span_has_a_severity'), models.CheckConstraint(condition=models.Q(('cost__gte', 0)), name='span_cost_not_negative')],
                },
            ),
            migrations.CreateModel(
                name='Simulation',
                fields=[
                    ('batch', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='simulation', serialize=False, to='surveys.batch')),
                    ('n_people', models.PositiveSmallIntegerField(validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(200)], verbose_name='simulated people')),
                    ('asked_at', models.DateTimeField(auto_now_add=True)),
                    ('turn', models.PositiveIntegerField(default=0)),
                    ('leased_until', models.DateTimeField(blank=True, null=True)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('asked_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('ended_at__isnull', True)), fields=['ended_at'], name='simulation_goes_on')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('n_people__gte', 1), ('n_people__lte', 200)), name='simulation_has_people')],
                },
            ),
            migrations.CreateModel(
                name='Note',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('about', models.CharField(max_length=100)),
                    ('text', models.CharField(max_length=500)),
                    ('url', models.CharField(max_length=500)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('seen_at', models.DateTimeField(blank=True, null=True)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notes', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-created_at', '-pk'],
                    'indexes': [models.Index(condition=models.Q(('seen_at__isnull', True)), fields=['person'], name='note_not_seen')],
                    'constraints': [models.UniqueConstraint(fields=('person', 'about'), name='told_once_of_each_work')],
                },
            ),
            migrations.CreateModel(
                name='Publishing',
                fields=[
                    ('batch', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='publishing', serialize=False, to='surveys.batch')),
                    ('asked_at', models.DateTimeField(auto_now_add=True)),
                    ('n_hits', models.PositiveIntegerField()),
                    ('total', models.DecimalField(decimal_places=2, help_text='US dollars, as confirmed.', max_digits=14)),
                    ('written_at', models.DateTimeField(blank=True, null=True)),
                    ('asked_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('total__gte', 0)), name='publishing_costs_no_less')],
                },
            ),
            migrations.CreateModel(
                name='PanelCode',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('outcome', models.CharField(choices=[('completed', 'Completed'), ('checks_failed', 'Checks failed'), ('nothing_left', 'Nothing left'), ('no_consent', 'No consent')], max_length=16)),
                    ('code', models.CharField(max_length=64)),
                    ('panel', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='codes', to='surveys.panel')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('panel', 'outcome'), name='one_code_per_outcome'), models.UniqueConstraint(fields=('panel', 'code'), name='one_outcome_per_code'), models.CheckConstraint(condition=models.Q(('code', ''), _negated=True), name='panel_code_says_something'), models.CheckConstraint(condition=models.Q(('outcome__in', ['checks_failed', 'nothing_left', 'no_consent'])), name='panel_code_of_an_outcome')],
                },
            ),
            migrations.CreateModel(
                name='Importing',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('folder', models.CharField(help_text='Where the upload is staged.', max_length=64, unique=True)),
                    ('filename', models.CharField(max_length=255)),
                    ('asked_at', models.DateTimeField(auto_now_add=True)),
                    ('accepts_warnings', models.BooleanField(default=False)),
                    ('leased_until', models.DateTimeField(blank=True, null=True)),
                    ('percent', models.PositiveSmallIntegerField(default=0)),
                    ('n_items', models.PositiveIntegerField(default=0)),
                    ('problem', models.TextField(blank=True)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('asked_by', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('survey', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='surveys.survey')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('ended_at__isnull', True)), fields=['ended_at'], name='import_goes_on')],
                },
            ),
            migrations.CreateModel(
                name='AwaitedReport',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('url', models.CharField(max_length=500)),
                    ('text', models.CharField(max_length=500)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('report', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='awaited', to='surveys.keptreport')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('report', 'person'), name='one_wait_per_report_and_person')],
                },
            ),
            migrations.CreateModel(
                name='ConsentText',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField(help_text='From 1.')),
                    ('text', models.TextField(blank=True)),
                    ('translations', models.JSONField(blank=True, default=dict)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='consent_texts', to='surveys.survey')),
                ],
                options={
                    'ordering': ['survey_id', '-version'],
                    'constraints': [models.UniqueConstraint(fields=('survey', 'version'), name='consent_text_version_once'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='consent_text_counts_from_one'), models.CheckConstraint(condition=models.Q(models.Q(('text', ''), _negated=True), ('translations', {}), _connector='OR'), name='consent_text_translates_something')],
                },
            ),
            migrations.CreateModel(
                name='Consent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('language', models.CharField(blank=True, max_length=16)),
                    ('given_at', models.DateTimeField(auto_now_add=True)),
                    ('claimed_from', models.CharField(blank=True, editable=False, help_text="As the assignment's, until that is confirmed.", max_length=16)),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consents', to='annotators.worker')),
                    ('text', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consents', to='surveys.consenttext')),
                ],
                options={
                    'ordering': ['text_id', 'given_at'],
                    'constraints': [models.UniqueConstraint(fields=('text', 'worker', 'claimed_from'), name='consent_once_per_version')],
                },
            ),
            migrations.CreateModel(
                name='ProblemReport',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('text', models.CharField(max_length=1000)),
                    ('reported_at', models.DateTimeField(auto_now_add=True)),
                    ('settled_at', models.DateTimeField(blank=True, null=True)),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='problem_reports', to='annotators.assignment')),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='problem_reports', to='surveys.item')),
                    ('settled_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-reported_at', '-pk'],
                    'constraints': [models.UniqueConstraint(fields=('assignment', 'item', 'text'), name='problem_reported_once'), models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='problem_says_something'), models.CheckConstraint(condition=models.Q(('settled_by', None), ('settled_at__isnull', False), _connector='OR'), name='problem_settled_at_a_time')],
                },
            ),
        ]),
        migrations.RunPython(create_triggers, drop_triggers),
    ]
