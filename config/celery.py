"""The Celery application; every setting comes from Django's settings, prefixed CELERY_."""

import inspect
import os
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import after_task_publish, before_task_publish, task_postrun, task_prerun, worker_ready
from django.conf import settings
from django.db import close_old_connections

from annotators.failpoints import reach
from surveys.operations import log_context

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Checks load every page, which no task needs. They are made by `migrate`, which runs before anything is started.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

app = Celery("assent")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["surveys"], related_name="sync")


@worker_ready.connect
def tell_ready(**kwargs: object) -> None:
    """Touch the file by which whoever started this worker learns that it takes tasks."""
    if settings.WORKER_READY_FILE:
        Path(settings.WORKER_READY_FILE).touch()


@after_task_publish.connect(sender="surveys.sync.heartbeat")
def tell_beating(**kwargs: object) -> None:
    """Nobody but beat sends this task."""
    from surveys.operations import health  # its models need Django set up first

    health.mark(health.BEAT)


@before_task_publish.connect(sender="surveys.sync.sweep")
def before_sweep(**kwargs: object) -> None:
    reach("beat.due")


@after_task_publish.connect(sender="surveys.sync.sweep")
def after_sweep(**kwargs: object) -> None:
    reach("beat.sent")


@task_prerun.connect
@task_postrun.connect
def close_connections(sender: Any, **kwargs: object) -> None:
    """As around a request: what is too old, or broke under the task, is not what the next one gets."""
    if not sender.request.is_eager:  # that is part of something else, which goes on with it
        close_old_connections()


@task_prerun.connect
def tell_working(**kwargs: object) -> None:
    """Whichever task it is: behind a thousand others the heartbeat may come late."""
    from surveys.operations import health  # its models need Django set up first

    health.mark(health.WORKER)


@before_task_publish.connect
def pass_request_id(headers: dict[str, Any], **kwargs: object) -> None:
    """Have the task log under the id of the request that started it."""
    if request_id := log_context.facts().get("request_id"):
        headers["request_id"] = request_id


@task_prerun.connect
def begin_lines(task: Any, task_id: str, args: Any, kwargs: Any, **others: object) -> None:
    """Have the task's lines say which task it is, and about which row: sync_hit(hit_pk=3) says hit_pk 3."""
    request_id = task.request.get("request_id") or log_context.facts().get("request_id")
    named = inspect.signature(task.run).bind(*args, **kwargs).arguments
    rows = {name: value for name, value in named.items() if name.endswith("_pk")}
    known = {"task": task.name, "task_id": task_id, **rows}
    task.request.log_token = log_context.begin(**known, **({"request_id": request_id} if request_id else {}))


@task_postrun.connect
def end_lines(task: Any, **kwargs: object) -> None:
    log_context.end(task.request.log_token)
