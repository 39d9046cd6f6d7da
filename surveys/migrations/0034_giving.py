# What nobody had yet is found in the order it is given in, and what reopens another one by its batch.

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotators', '0009_long_lists'),
        ('surveys', '0033_only_new_people'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='annotationslot',
            name='surveys_ann_batch_i_4cb112_idx',
        ),
        migrations.AddIndex(
            model_name='annotationslot',
            index=models.Index(condition=models.Q(('leased_until', None)), fields=['batch', 'replicate', 'number'], name='annotation_never_given'),
        ),
        migrations.AddIndex(
            model_name='annotationslot',
            index=models.Index(condition=models.Q(('reopens__isnull', False)), fields=['batch'], name='annotation_that_reopens'),
        ),
    ]
