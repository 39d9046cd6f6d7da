"""The WSGI application gunicorn serves."""

import os

import langcodes  # noqa: F401 - which pages in some languages load: here once for all workers
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config.whole_bodies import insist_on_whole_bodies
from surveys.protocols.registry import DEFINITIONS

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = insist_on_whole_bodies(get_wsgi_application())
# Every page there is, before workers are forked off: else the first visitor of each waits for half a second of loading.
get_resolver().url_patterns  # noqa: B018 (a property that loads)
# Likewise the built-in survey types, which are read when they are first asked for.
tuple(DEFINITIONS.values())
