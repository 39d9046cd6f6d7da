"""The Celery application; every setting comes from Django's settings, prefixed CELERY_."""

import os
from pathlib import Path

from celery import Celery
from celery.signals import after_task_publish, task_prerun, worker_ready
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("assent")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def tell_ready(**kwargs: object) -> None:
    """Touch the file by which whoever started this worker learns that it takes tasks."""
    if settings.WORKER_READY_FILE:
        Path(settings.WORKER_READY_FILE).touch()


@after_task_publish.connect(sender="surveys.tasks.heartbeat")
def tell_beating(**kwargs: object) -> None:
    """Nobody but beat sends this task."""
    from surveys import operating  # its models need Django set up first

    operating.mark(operating.BEAT)


@task_prerun.connect
def tell_working(**kwargs: object) -> None:
    """Whichever task it is: behind a thousand others the heartbeat may come late."""
    from surveys import operating  # its models need Django set up first

    operating.mark(operating.WORKER)
