"""The Celery application that settings name, loaded by whoever sends a task."""

from celery import Celery
from django.conf import settings
from django.utils.module_loading import import_string

app: Celery = import_string(settings.TASK_APPLICATION)
