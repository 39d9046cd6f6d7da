"""What the marketplace does by itself, run by Celery's clock. Lost or doubled, it does no harm.

Beat alone sends these, by name: of which application they are, the worker knows that takes them.
"""

from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from marketplace import clock
from marketplace.engine import deadlines, forgetting
from marketplace.notifications import delivery


@shared_task
def keep_time() -> None:
    """Do what is due, so that it is told when it happens and not when somebody looks; then tell it."""
    deadlines.arrive()
    delivery.deliver(now=timezone.now())


@shared_task
def forget_unused() -> None:
    """Erase what a restore has brought back, and accounts that no requester knows of and could let go.

    The latter where a time is set for which ids are kept.
    """
    forgetting.erase_again(unless_held=clock.now())
    if (days := settings.KEEP_WORKER_IDS_DAYS) > 0:
        now = clock.now()
        forgetting.erase_unused(now - timedelta(days=days), now=now)
