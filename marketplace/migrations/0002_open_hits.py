"""Which HITs have something to give, and how many of each type, so that a list of HITs counts none of them."""

from django.db import migrations, models
from django.db.models import Count, F, OuterRef, Q, Subquery


def count(apps, schema_editor):
    HIT, HITType = apps.get_model("marketplace", "HIT"), apps.get_model("marketplace", "HITType")
    taken = F("pending") + F("submitted") + F("approved") + F("rejected")
    closed = Q(disposed_at__isnull=False) | Q(is_expired=True) | Q(max_assignments=taken)
    HIT.objects.filter(closed).update(is_open=False)
    counted = HIT.objects.filter(hit_type=OuterRef("pk"), is_open=True).order_by().values("hit_type")
    offered = HITType.objects.filter(hits__is_open=True)
    HITType.objects.filter(pk__in=offered.values("pk")).update(
        open_hits=Subquery(counted.annotate(n=Count("pk")).values("n"))
    )


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="hit",
            name="is_open",
            field=models.BooleanField(default=True, editable=False),
        ),
        migrations.AddField(
            model_name="hittype",
            name="open_hits",
            field=models.PositiveIntegerField(default=0, editable=False),
        ),
        migrations.RunPython(count, migrations.RunPython.noop, elidable=True),
        migrations.AddIndex(
            model_name="hit",
            index=models.Index(
                condition=Q(("is_open", True)), fields=["hit_type", "id"], name="marketplace_open_oldest"
            ),
        ),
        migrations.AddIndex(
            model_name="hit",
            index=models.Index(
                condition=Q(("is_open", True)), fields=["hit_type", "created_at"], name="marketplace_open_newest"
            ),
        ),
        migrations.AddIndex(
            model_name="hittype",
            index=models.Index(
                condition=Q(("open_hits__gt", 0)), fields=["id"], name="marketplace_type_offered"
            ),
        ),
    ]
