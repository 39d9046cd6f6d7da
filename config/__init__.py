"""Wiring only: settings, URLs, the Celery app. Nobody imports this package but Django and Celery."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
