# A batch may leave out whoever worked in an earlier one of its study.

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('surveys', '0032_appeals_told'),
    ]

    operations = [
        migrations.AddField(
            model_name='batch',
            name='only_new_people',
            field=models.BooleanField(db_default=False, default=False, help_text='Whoever has worked in an earlier batch of this study gets nothing of this one.', verbose_name='only new people'),
        ),
    ]
