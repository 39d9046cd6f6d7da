"""What runs a site for as long as it is up."""

import json
import subprocess
import sys

from django.conf import settings

HEAVY = ["django", "celery", "boto3", "pandas", "numpy"]
LOADED = f"""
import json, sys
import surveys.operations.processes.__main__
print(json.dumps([name for name in {HEAVY} if name in sys.modules]))
"""


def test_what_watches_the_processes_loads_none_of_what_they_need() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=settings.BASE_DIR, check=True, capture_output=True, text=True
    )
    assert json.loads(done.stdout) == []
