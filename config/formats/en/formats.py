"""Dates and times in the admin as on our own pages; numbers, and what a date may be typed as, are British."""

from django.conf.locale.en_GB.formats import *  # type: ignore[import-untyped]  # noqa: F403

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j M Y, H:i"
