"""A restore of our side only: the marketplace is somebody else's and has gone on."""

from pathlib import Path

from django.core.management.color import no_style
from django.db import connection, transaction

from annotators.outbox import holds
from surveys import sync
from surveys.models import Batch
from surveys.operations.backups import rows
from surveys.operations.backups.restoring import restore
from surveys.publishing import hits, questionnaires
from tests.market_site import Site


def restore_alone(archive: Path, *, is_held: bool = False) -> None:
    """Put our rows back as they were, and leave the marketplace's as they are; `is_held`: nobody has compared books."""
    of_market = [model for model in rows.models() if model._meta.app_label == "marketplace"]
    kept = [(model, list(rows.read(model))) for model in of_market]
    restore(archive, force=True)
    with transaction.atomic(), connection.cursor() as cursor:
        for model in of_market:
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(model._meta.db_table)}")
        for model, values in kept:
            rows.write(model, rows=values, order=[str(field.column) for field in rows.fields(model)])
        for statement in connection.ops.sequence_reset_sql(no_style(), of_market):
            cursor.execute(statement)
    if not is_held:
        holds.release(by="ada")


def publish(batch: Batch, site: Site) -> Batch:
    """Publish a draft as its page and the tasks do."""
    questionnaires.start_publishing(batch)
    sync.publish_batch(batch.pk)
    for pk in hits.to_publish(Batch.objects.get(pk=batch.pk)):
        sync.publish_questionnaire(str(pk))
    return Batch.objects.get(pk=batch.pk)
