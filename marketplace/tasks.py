"""What the marketplace does by itself, run by Celery's clock. Lost or doubled, it does no harm."""

from celery import shared_task
from django.utils import timezone

from marketplace import clock
from marketplace.engine import deadlines
from marketplace.notifications import delivery


@shared_task
def keep_time() -> None:
    """Do what is due, so that it is told when it happens and not when somebody looks; then tell it."""
    deadlines.sweep(now=clock.now())
    delivery.deliver(now=timezone.now())
