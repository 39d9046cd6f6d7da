from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("surveys", "0023_simulated_batches_and_pilots"),
    ]

    operations = [
        migrations.AlterField(
            model_name="picture",
            name="block",
            field=models.CharField(blank=True, default="", editable=False, max_length=72),
        ),
    ]
