"""All tables as 0001 and 0002 leave them, for a database that has none yet; docs/adr/0027 says why."""

import django.db.models.deletion
import django.db.models.expressions
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('marketplace', '0001_initial'),
        ('marketplace', '0002_open_hits'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Requester',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='Workers see it beside the HITs.', max_length=128, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('researchers', models.ManyToManyField(blank=True, help_text='Who may see and run this account besides administrators.', related_name='requesters', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker_id', models.CharField(max_length=64, unique=True, verbose_name='worker id')),
                ('code_digest', models.CharField(editable=False, max_length=64)),
                ('is_active', models.BooleanField(default=True)),
                ('country', models.CharField(blank=True, help_text='ISO 3166 code, for locale requirements.', max_length=2)),
                ('subdivision', models.CharField(blank=True, help_text='A state or province, as in US-CA.', max_length=2)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='ClockOffset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seconds', models.FloatField(default=0)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('pk', 1)), name='marketplace_one_clock')],
            },
        ),
        migrations.CreateModel(
            name='FailedSignIn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker_id', models.CharField(max_length=64)),
                ('address', models.CharField(max_length=64)),
                ('failed_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['worker_id', 'failed_at'], name='marketplace_worker__2abff8_idx'), models.Index(fields=['address', 'failed_at'], name='marketplace_address_702795_idx')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('note', models.CharField(blank=True, help_text='Seen in the admin only.', max_length=128)),
                ('most_uses', models.PositiveIntegerField()),
                ('used', models.PositiveIntegerField(default=0)),
                ('is_active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('used__lte', models.F('most_uses'))), name='marketplace_invitation_not_overused')],
            },
        ),
        migrations.CreateModel(
            name='LoggedCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('operation', models.CharField(blank=True, max_length=64)),
                ('status', models.PositiveSmallIntegerField(help_text='0 where the connection was cut instead.')),
                ('code', models.CharField(blank=True, max_length=128)),
                ('request', models.TextField(default='{}', help_text='JSON, long values cut off.')),
                ('called_at', models.DateTimeField()),
                ('requester', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='logged_calls', to='marketplace.requester')),
            ],
        ),
        migrations.CreateModel(
            name='QualificationType',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('type_id', models.CharField(max_length=64, unique=True, verbose_name='QualificationTypeId')),
                ('name', models.CharField(max_length=200)),
                ('description', models.CharField(max_length=2000)),
                ('keywords', models.CharField(blank=True, max_length=1000)),
                ('status', models.CharField(choices=[('Active', 'Active'), ('Inactive', 'Inactive')], max_length=16)),
                ('test', models.TextField(blank=True)),
                ('answer_key', models.TextField(blank=True)),
                ('test_seconds', models.PositiveBigIntegerField(blank=True, null=True)),
                ('retry_seconds', models.PositiveBigIntegerField(blank=True, null=True)),
                ('auto_granted', models.BooleanField(default=False)),
                ('auto_granted_value', models.IntegerField(default=1)),
                ('created_at', models.DateTimeField()),
                ('disposed_at', models.DateTimeField(blank=True, null=True)),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='qualification_types', to='marketplace.requester')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('disposed_at', None)), fields=('requester', 'name'), name='marketplace_qualification_name_once'), models.CheckConstraint(condition=models.Q(('test', ''), models.Q(('auto_granted', False), ('test_seconds__isnull', False)), _connector='OR'), name='marketplace_test_has_time_and_is_taken')],
            },
        ),
        migrations.CreateModel(
            name='HITType',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('type_id', models.CharField(max_length=64, unique=True, verbose_name='HITTypeId')),
                ('group_id', models.CharField(max_length=64, unique=True, verbose_name='HITGroupId')),
                ('fingerprint', models.CharField(max_length=64)),
                ('title', models.CharField(max_length=128)),
                ('description', models.CharField(max_length=2000)),
                ('keywords', models.CharField(blank=True, max_length=1000)),
                ('reward_cents', models.PositiveBigIntegerField()),
                ('duration_seconds', models.PositiveBigIntegerField()),
                ('auto_approval_seconds', models.PositiveBigIntegerField()),
                ('requirements', models.JSONField(default=list)),
                ('created_at', models.DateTimeField()),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hit_types', to='marketplace.requester')),
                ('qualification_types', models.ManyToManyField(related_name='hit_types', to='marketplace.qualificationtype')),
                ('open_hits', models.PositiveIntegerField(default=0, editable=False)),
            ],
            options={
                'verbose_name': 'HIT type',
                'indexes': [models.Index(condition=models.Q(('open_hits__gt', 0)), fields=['id'], name='marketplace_type_offered')],
                'constraints': [models.UniqueConstraint(fields=('requester', 'fingerprint'), name='marketplace_one_type_per_values')],
            },
        ),
        migrations.CreateModel(
            name='HIT',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hit_id', models.CharField(max_length=64, unique=True, verbose_name='HITId')),
                ('question', models.TextField()),
                ('annotation', models.CharField(blank=True, max_length=255)),
                ('max_assignments', models.PositiveIntegerField()),
                ('pending', models.PositiveIntegerField(default=0)),
                ('submitted', models.PositiveIntegerField(default=0)),
                ('approved', models.PositiveIntegerField(default=0)),
                ('rejected', models.PositiveIntegerField(default=0)),
                ('held_slots', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('disposed_at', models.DateTimeField(blank=True, null=True)),
                ('is_expired', models.BooleanField(default=False, help_text='The expiry has been noticed and acted upon.')),
                ('is_reviewing', models.BooleanField(default=False, help_text='Counts while the HIT is reviewable.')),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hits', to='marketplace.requester')),
                ('hit_type', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hits', to='marketplace.hittype')),
                ('is_open', models.BooleanField(default=True, editable=False)),
            ],
            options={
                'verbose_name': 'HIT',
                'indexes': [models.Index(fields=['requester', 'id'], name='marketplace_request_99b2a9_idx'), models.Index(fields=['hit_type', 'expires_at'], name='marketplace_hit_typ_1cfa98_idx'), models.Index(condition=models.Q(('disposed_at', None)), fields=['expires_at'], name='marketplace_hit_live'), models.Index(condition=models.Q(('disposed_at', None), ('is_expired', False)), fields=['expires_at'], name='marketplace_hit_not_expired'), models.Index(condition=models.Q(('is_open', True)), fields=['hit_type', 'id'], name='marketplace_open_oldest'), models.Index(condition=models.Q(('is_open', True)), fields=['hit_type', 'created_at'], name='marketplace_open_newest')],
                'constraints': [models.CheckConstraint(condition=models.Q(('max_assignments__gte', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('pending'), '+', models.F('submitted')), '+', models.F('approved')), '+', models.F('rejected')))), name='marketplace_hit_not_overbooked'), models.CheckConstraint(condition=models.Q(('held_slots__lte', models.F('max_assignments'))), name='marketplace_hold_within_hit')],
            },
        ),
        migrations.CreateModel(
            name='NotificationSetting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('destination', models.CharField(max_length=2048)),
                ('transport', models.CharField(choices=[('SQS', 'Sqs'), ('SNS', 'Sns')], max_length=8)),
                ('version', models.CharField(max_length=16)),
                ('event_types', models.JSONField(default=list)),
                ('is_active', models.BooleanField(default=True)),
                ('hit_type', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='notification', to='marketplace.hittype')),
            ],
        ),
        migrations.CreateModel(
            name='TemplateBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('template', models.TextField()),
                ('columns', models.JSONField(help_text="The names in the CSV's header, in its order.")),
                ('values_are_html', models.BooleanField(default=False)),
                ('frame_height', models.PositiveIntegerField(default=0)),
                ('title', models.CharField(max_length=128)),
                ('description', models.CharField(max_length=2000)),
                ('keywords', models.CharField(blank=True, max_length=1000)),
                ('reward_cents', models.PositiveBigIntegerField()),
                ('duration_seconds', models.PositiveBigIntegerField()),
                ('auto_approval_seconds', models.PositiveBigIntegerField()),
                ('lifetime_seconds', models.PositiveBigIntegerField()),
                ('max_assignments', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField()),
                ('published_at', models.DateTimeField(blank=True, null=True)),
                ('hit_type', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='template_batches', to='marketplace.hittype')),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='template_batches', to='marketplace.requester')),
            ],
            options={
                'verbose_name_plural': 'template batches',
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('hit_type', None), ('published_at', None)), models.Q(('hit_type__isnull', False), ('published_at__isnull', False)), _connector='OR'), name='marketplace_published_batch_has_type'), models.CheckConstraint(condition=models.Q(('max_assignments__gte', 1)), name='marketplace_batch_assigns')],
            },
        ),
        migrations.CreateModel(
            name='BatchRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('values', models.JSONField()),
                ('hit', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='batch_row', to='marketplace.hit')),
                ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='marketplace.templatebatch')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('batch', 'number'), name='marketplace_batch_row_once')],
            },
        ),
        migrations.CreateModel(
            name='Token',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('operation', models.CharField(max_length=64)),
                ('token', models.CharField(max_length=128)),
                ('used_at', models.DateTimeField()),
                ('hit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='marketplace.hit')),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='marketplace.requester')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('requester', 'operation', 'token'), name='marketplace_token_once')],
            },
        ),
        migrations.CreateModel(
            name='QualificationRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('request_id', models.CharField(max_length=64, unique=True, verbose_name='QualificationRequestId')),
                ('status', models.CharField(choices=[('Started', 'Started'), ('Late', 'Late'), ('Pending', 'Pending'), ('Granted', 'Granted'), ('Rejected', 'Rejected')], default='Pending', max_length=16)),
                ('submitted_at', models.DateTimeField()),
                ('test', models.TextField(blank=True)),
                ('answer_key', models.TextField(blank=True)),
                ('deadline', models.DateTimeField(blank=True, null=True)),
                ('answer', models.TextField(blank=True)),
                ('qualification_type', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='requests', to='marketplace.qualificationtype')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='qualification_requests', to='marketplace.worker')),
            ],
            options={
                'indexes': [models.Index(fields=['qualification_type', 'status', 'id'], name='marketplace_qualifi_7ffe95_idx')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ['Started', 'Pending'])), fields=('qualification_type', 'worker'), name='marketplace_one_pending_request'), models.CheckConstraint(condition=models.Q(('status__in', ['Pending', 'Granted', 'Rejected']), models.Q(models.Q(('test', ''), _negated=True), ('deadline__isnull', False)), _connector='OR'), name='marketplace_test_taken_has_an_end')],
            },
        ),
        migrations.CreateModel(
            name='Qualification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value', models.IntegerField(default=1)),
                ('status', models.CharField(choices=[('Granted', 'Granted'), ('Revoked', 'Revoked')], default='Granted', max_length=16)),
                ('granted_at', models.DateTimeField()),
                ('qualification_type', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='qualifications', to='marketplace.qualificationtype')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='qualifications', to='marketplace.worker')),
            ],
            options={
                'indexes': [models.Index(fields=['qualification_type', 'status', 'id'], name='marketplace_qualifi_3bfd13_idx')],
                'constraints': [models.UniqueConstraint(fields=('qualification_type', 'worker'), name='marketplace_one_value_per_worker')],
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('subject', models.CharField(max_length=255)),
                ('text', models.TextField()),
                ('sent_at', models.DateTimeField()),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='marketplace.requester')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='marketplace.worker')),
            ],
            options={
                'indexes': [models.Index(fields=['worker', 'id'], name='marketplace_worker__45f018_idx')],
            },
        ),
        migrations.CreateModel(
            name='Block',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField()),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='marketplace.requester')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='marketplace.worker')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('requester', 'worker'), name='marketplace_block_once')],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment_id', models.CharField(max_length=64, verbose_name='AssignmentId')),
                ('status', models.CharField(choices=[('Open', 'Open'), ('Returned', 'Returned'), ('Abandoned', 'Abandoned'), ('Submitted', 'Submitted'), ('Approved', 'Approved'), ('Rejected', 'Rejected')], default='Open', max_length=16)),
                ('is_reusable', models.BooleanField(default=False)),
                ('accepted_at', models.DateTimeField()),
                ('deadline', models.DateTimeField()),
                ('submitted_at', models.DateTimeField(blank=True, null=True)),
                ('auto_approval_at', models.DateTimeField(blank=True, null=True)),
                ('approved_at', models.DateTimeField(blank=True, null=True)),
                ('rejected_at', models.DateTimeField(blank=True, null=True)),
                ('feedback', models.TextField(blank=True)),
                ('answer', models.TextField(blank=True)),
                ('hit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='marketplace.hit')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='marketplace.worker')),
            ],
            options={
                'indexes': [models.Index(fields=['assignment_id'], name='marketplace_assignm_638855_idx'), models.Index(fields=['hit', 'worker', 'status'], name='marketplace_hit_id_dd8a67_idx'), models.Index(fields=['hit', 'status', 'id'], name='marketplace_hit_id_966b68_idx'), models.Index(condition=models.Q(('submitted_at__isnull', False)), fields=['hit', 'id'], name='marketplace_hit_submissions'), models.Index(condition=models.Q(('is_reusable', True)), fields=['hit', 'id'], name='marketplace_reusable_ids'), models.Index(fields=['worker', 'status', 'id'], name='marketplace_worker__4c7090_idx'), models.Index(condition=models.Q(('status', 'Open')), fields=['deadline'], name='marketplace_open_due'), models.Index(condition=models.Q(('status', 'Submitted')), fields=['auto_approval_at'], name='marketplace_approval_due')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ('Open', 'Submitted', 'Approved', 'Rejected'))), fields=('assignment_id',), name='marketplace_one_live_row_per_id'), models.UniqueConstraint(condition=models.Q(('status__in', ('Open', 'Submitted', 'Approved', 'Rejected'))), fields=('hit', 'worker'), name='marketplace_hit_once_per_worker'), models.CheckConstraint(condition=models.Q(('status__in', ['Open', 'Returned', 'Abandoned']), models.Q(('auto_approval_at__isnull', False), ('submitted_at__isnull', False)), _connector='OR'), name='marketplace_submitted_has_times'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'Approved'), _negated=True), ('approved_at__isnull', False), _connector='OR'), name='marketplace_approved_has_time'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'Rejected'), _negated=True), ('rejected_at__isnull', False), _connector='OR'), name='marketplace_rejected_has_time')],
            },
        ),
        migrations.CreateModel(
            name='Balance',
            fields=[
                ('requester', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='marketplace.requester')),
                ('available_cents', models.BigIntegerField(default=0)),
                ('held_cents', models.BigIntegerField(default=0)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('available_cents__gte', 0), ('held_cents__gte', 0)), name='marketplace_balance_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='AccessKey',
            fields=[
                ('key_id', models.CharField(max_length=32, primary_key=True, serialize=False, verbose_name='access key id')),
                ('salt', models.CharField(blank=True, editable=False, max_length=64)),
                ('known_secret', models.CharField(blank=True, editable=False, max_length=64)),
                ('loopback_only', models.BooleanField(default=False, editable=False)),
                ('is_active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='keys', to='marketplace.requester')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('known_secret', ''), ('loopback_only', True), _connector='OR'), name='stored_secret_is_loopback_only'), models.CheckConstraint(condition=models.Q(('known_secret', ''), ('salt', ''), _negated=True), name='key_has_a_secret')],
            },
        ),
        migrations.CreateModel(
            name='Bonus',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('cents', models.PositiveBigIntegerField()),
                ('fee_cents', models.PositiveBigIntegerField()),
                ('reason', models.TextField(blank=True)),
                ('paid_at', models.DateTimeField()),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bonuses', to='marketplace.assignment')),
            ],
            options={
                'verbose_name_plural': 'bonuses',
                'indexes': [models.Index(fields=['assignment', 'id'], name='marketplace_assignm_333243_idx')],
                'constraints': [models.CheckConstraint(condition=models.Q(('cents__gt', 0)), name='marketplace_bonus_pays')],
            },
        ),
        migrations.CreateModel(
            name='CallRate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('operation', models.CharField(max_length=64)),
                ('free_at', models.DateTimeField()),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='call_rates', to='marketplace.requester')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('requester', 'operation'), name='marketplace_one_rate_per_operation')],
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('destination', models.CharField(max_length=2048)),
                ('transport', models.CharField(choices=[('SQS', 'Sqs'), ('SNS', 'Sns')], max_length=8)),
                ('version', models.CharField(max_length=16)),
                ('body', models.JSONField()),
                ('document_id', models.UUIDField(blank=True, null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('due_at', models.DateTimeField(help_text="Real time, not the marketplace's.")),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='marketplace.requester')),
            ],
            options={
                'indexes': [models.Index(fields=['due_at', 'id'], name='marketplace_due_at_901ff2_idx'), models.Index(fields=['document_id'], name='marketplace_documen_6d7c2c_idx')],
                'constraints': [models.CheckConstraint(condition=models.Q(('attempts', 0), ('document_id__isnull', False), _connector='OR'), name='marketplace_tried_event_has_id')],
            },
        ),
        migrations.CreateModel(
            name='Fault',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('operation', models.CharField(blank=True, max_length=64)),
                ('kind', models.CharField(choices=[('throttle', 'Throttle'), ('service-fault', 'Service Fault'), ('timeout', 'Timeout'), ('lag', 'Lag'), ('duplicate', 'Duplicate'), ('reorder', 'Reorder')], max_length=16)),
                ('remaining', models.PositiveIntegerField()),
                ('seconds', models.FloatField(default=0)),
                ('requester', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='faults', to='marketplace.requester')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('seconds__gte', 0), ('seconds__lte', 300)), name='marketplace_fault_ends')],
            },
        ),
        migrations.CreateModel(
            name='Entry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(choices=[('outside', 'Outside the marketplace'), ('available', 'Available to the requester'), ('held', 'Held for published work'), ('workers', 'Paid to workers'), ('fees', 'Fees')], max_length=16)),
                ('target', models.CharField(choices=[('outside', 'Outside the marketplace'), ('available', 'Available to the requester'), ('held', 'Held for published work'), ('workers', 'Paid to workers'), ('fees', 'Fees')], max_length=16)),
                ('cents', models.PositiveBigIntegerField()),
                ('reference', models.CharField(blank=True, help_text='The event behind a deposit, booked once.', max_length=64, null=True, unique=True)),
                ('created_at', models.DateTimeField()),
                ('assignment', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='marketplace.assignment')),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='marketplace.requester')),
                ('hit', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='marketplace.hit')),
            ],
            options={
                'verbose_name_plural': 'entries',
                'indexes': [models.Index(fields=['requester', 'id'], name='marketplace_request_c3f178_idx')],
                'constraints': [models.CheckConstraint(condition=models.Q(('cents__gt', 0)), name='marketplace_entry_moves_money'), models.CheckConstraint(condition=models.Q(('source', models.F('target')), _negated=True), name='marketplace_entry_has_two_sides')],
            },
        ),
    ]
