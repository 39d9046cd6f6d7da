"""Wiring only: settings, URLs, the Celery app. Nobody imports this package but Django and Celery."""

import gc
import os

# Before anything large is imported. With the default of 700, cycles are looked for through all of it, again and again:
# a sixth of the time until a process is up, and some of every request after that.
gc.set_threshold(50_000)
# Likewise before numpy is. Matrices are small here, and OpenBLAS keeps a thread a core spinning beside each of them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
