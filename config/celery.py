"""The Celery application; every setting comes from Django's settings, prefixed CELERY_."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("assent")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
