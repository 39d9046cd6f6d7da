"""Many annotators at once, with every process a study in use has. LOAD_SECONDS and LOAD_ANNOTATORS make it more."""

import os
import sys
import time

import pytest

from tests.load.checks import bad_lines, charged, problems
from tests.load.report import report
from tests.load.rush import Rush
from tests.load.site import LoadSite

pytestmark = pytest.mark.processes

SECONDS = float(os.environ.get("LOAD_SECONDS", "5"))
ANNOTATORS = int(os.environ.get("LOAD_ANNOTATORS", "8"))


def test_nothing_is_lost_doubled_or_in_error_under_load(
    load_site: LoadSite, capsys: pytest.CaptureFixture[str]
) -> None:
    started = time.monotonic()
    rush = Rush(load_site, n=ANNOTATORS, seconds=SECONDS)
    try:
        rush.run()
    finally:
        with capsys.disabled():
            sys.stdout.write(report(rush, seconds=time.monotonic() - started))
    assert "\n".join(rush.meter.errors) == ""
    assert bad_lines(load_site.supervisor.log_dir) == []
    assert problems(rush.study.batches, rush.records) == []
    assert load_site.control.charged() == charged() > 0
