"""Arriving at a page: the time, with all done that is due by then."""

from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Model
from django.http import HttpRequest

from marketplace.accounts.sessions import visit, visit_with
from marketplace.engine import deadlines
from statements import Statement

M = TypeVar("M", bound=Model)


def arrive(request: HttpRequest) -> datetime:
    """Return the marketplace's time. No statement of its own where who visits is asked, and nothing is due."""
    return deadlines.arrive(visit(request).moments)


def arrive_with(request: HttpRequest, statement: Statement[M], **values: Any) -> tuple[datetime, list[M]]:
    """Return the marketplace's time and the rows of a statement; its hole `worker`, if it has one, is for the visitor.

    They come with who visits, all in one statement, and are asked for again where something was due.
    """
    visitor, found = visit_with(request, statement, **values)
    now, may_be_outdated = deadlines.caught_up(visitor.moments)
    if found is None or may_be_outdated:
        found = statement.all(worker=visitor.worker and visitor.worker.pk, **values)
    return now, found
