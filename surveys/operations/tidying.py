"""What is kept for a time only, and goes when that is over, whether or not anybody comes by."""

import logging
from importlib import import_module

from django.conf import settings
from django.db import DatabaseError

from surveys.operations.backups import media
from surveys.results import reports
from surveys.results.files import prepared
from surveys.studies import sample_files
from surveys.studies.importing import staging

logger = logging.getLogger(__name__)


def tidy() -> None:
    """Remove uploads, samples and prepared files of a day ago, expired sessions, and what killed restores left."""
    clear_sessions = import_module(settings.SESSION_ENGINE).SessionStore.clear_expired
    for discard in (
        staging.discard_old,
        sample_files.discard_old,
        prepared.discard_old,
        reports.forget_uploads,
        clear_sessions,
        media.discard_dead,
    ):
        try:
            discard()
        except (OSError, DatabaseError):  # what keeps one from being done keeps nothing of the rest
            logger.exception("Something of before could not be removed.")
