"""The WSGI application gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

from config.whole_bodies import insist_on_whole_bodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = insist_on_whole_bodies(get_wsgi_application())
