"""What the marketplace does by itself, run by Celery's clock. Lost or doubled, it does no harm."""

from celery import shared_task
from django.utils import timezone

from marketplace import clock, engine_due, notification_delivery


@shared_task
def keep_time() -> None:
    """Do what is due, so that it is told when it happens and not when somebody looks; then tell it."""
    engine_due.sweep(now=clock.now())
    notification_delivery.deliver(now=timezone.now())
