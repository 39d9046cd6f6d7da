"""Wiring only: settings, URLs, the Celery app. Nobody imports this package but Django and Celery."""

import gc

# Before anything large is imported: with the default, cycles are looked for through all of it, again and again,
# which is a sixth of the time until a process is up.
gc.set_threshold(50_000, 20, 100)

from config.celery import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
