"""The app as it is served, and one bare Django page beside it, to have something to measure by."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.bare_urls"
