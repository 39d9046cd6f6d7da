"""Wiring only: settings, URLs, the Celery app. Nobody imports this package but Django and Celery."""

import gc

# Before anything large is imported. With the default of 700, cycles are looked for through all of it, again and again:
# a sixth of the time until a process is up, and some of every request after that.
gc.set_threshold(50_000)

from config.celery import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
