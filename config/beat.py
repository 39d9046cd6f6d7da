"""Beat's own Celery application (`celery -A config.beat beat`): it sends tasks by their names, and loads none of them.

So it needs no model, and 40 MB less memory than a worker that has just started. What config.celery does when a task is
sent is done here too: signals are Celery's own, not an application's.
"""

from celery import Celery
from celery.loaders.app import AppLoader
from django.conf import settings
from django.utils.log import configure_logging

import config.celery  # noqa: F401  for what it does when a task is sent


class NoTasks(AppLoader):
    def import_default_modules(self) -> list[object]:
        """Import nothing; config.celery would set Django up."""
        return []


configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
app = Celery("assent", loader=NoTasks, fixups=[], set_as_current=False)
app.config_from_object("django.conf:settings", namespace="CELERY")
