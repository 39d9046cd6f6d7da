"""Arriving at a page: the time, with all done that is due by then."""

from datetime import datetime

from django.http import HttpRequest

from marketplace.accounts.sessions import visit
from marketplace.engine import deadlines


def arrive(request: HttpRequest) -> datetime:
    """Return the marketplace's time. No statement of its own where who visits is asked, and nothing is due."""
    return deadlines.arrive(visit(request).moments)
