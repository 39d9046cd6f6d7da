"""A mail to those named for alarms, once a day for as long as something is wrong with the server itself."""

from django.conf import settings
from django.core.cache import caches
from django.core.mail import EmailMessage

MAILED_EVERY = 24 * 3600  # seconds


def mail_once_a_day(about: str, *, subject: str, body: str) -> int:
    """Mail it unless that was done about the same within a day; return how many mails were sent."""
    if not settings.ALARM_RECIPIENTS or not caches["heartbeats"].add(about, 1, timeout=MAILED_EVERY):
        return 0
    try:
        return EmailMessage(subject, body, to=settings.ALARM_RECIPIENTS).send()
    except (OSError, ValueError):
        caches["heartbeats"].delete(about)
        return 0
