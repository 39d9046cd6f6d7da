"""Beat sends tasks by their names, and knows nothing else of them."""

import json
import subprocess
import sys

from django.conf import settings

from config.beat import app
from config.celery import app as workers

UNWANTED = ["django.contrib.admin", "surveys.sync", "surveys.models", "annotators.models", "pandas", "numpy"]
LOADED = f"""
import json, sys
from config.beat import app
app.loader.init_worker()
app.finalize()
print(json.dumps([name for name in {UNWANTED} if name in sys.modules]))
"""


def test_beat_loads_no_model_and_no_task() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=settings.BASE_DIR, check=True, capture_output=True, text=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_beat_sends_what_workers_know_to_where_they_look() -> None:
    workers.loader.import_default_modules()
    sent = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert sent - set(workers.tasks) == set()
    names = (
        "broker_url",
        "broker_transport",
        "broker_transport_options",
        "task_default_queue",
        "task_routes",
    )
    assert [app.conf[name] for name in names] == [workers.conf[name] for name in names]
