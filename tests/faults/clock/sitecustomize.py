"""Loaded by Python as it starts: this process believes that it is CRASH_TEST_CLOCK seconds later than it is."""

import os
from datetime import datetime, timedelta

from django.utils import timezone

ahead = timedelta(seconds=float(os.environ.get("CRASH_TEST_CLOCK", "0")))
true_now = timezone.now


def now() -> datetime:
    return true_now() + ahead


timezone.now = now
