"""Going from one HIT to the next: a switch of the worker's, kept in the session."""

from datetime import datetime, timedelta

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from marketplace.accounts.sessions import worker_required
from marketplace.models import Assignment, Worker

SESSION_KEY = "marketplace_accept_next"
FIELD = "accept_next"
JUST_NOW = timedelta(minutes=1)


def is_on(request: HttpRequest) -> bool:
    return bool(request.session.get(SESSION_KEY, False))


def switch(request: HttpRequest) -> None:
    """Keep what a form with the switch on it says."""
    request.session[SESSION_KEY] = FIELD in request.POST


@require_POST
@worker_required
def accept_next(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Turn the switch while a HIT is open; the page stays as it is."""
    switch(request)
    return HttpResponse(status=204)


def queued(worker: Worker) -> Assignment | None:
    """Return the open assignment that has to be done first."""
    rows = Assignment.objects.filter(worker=worker, status=Assignment.Status.OPEN)
    return rows.select_related("hit__hit_type").order_by("deadline", "pk").first()


def goes_on(request: HttpRequest, assignment: Assignment, *, now: datetime) -> bool:
    """Tell whether the page may go on by itself: just submitted, and not come back to (`?stay`)."""
    submitted_at = assignment.submitted_at
    is_new = submitted_at is not None and now - submitted_at < JUST_NOW
    return is_on(request) and is_new and "stay" not in request.GET
