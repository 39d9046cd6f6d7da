"""Do what is due and send waiting notifications, where no Celery beat does it."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from marketplace import clock
from marketplace.engine import deadlines
from marketplace.notifications import delivery


class Command(BaseCommand):
    help = "Expire, abandon and approve what is due, then send the notifications that wait."

    def handle(self, *args: Any, **options: Any) -> None:
        deadlines.sweep(now=clock.now())
        arrived = delivery.deliver(now=timezone.now())
        self.stdout.write(f"Messages that arrived: {arrived}")
