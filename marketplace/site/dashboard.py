"""What a worker holds, has done, has earned and was told."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from marketplace.accounts.sessions import worker_required
from marketplace.models import Assignment, Message, Qualification, Worker
from marketplace.money import statements
from marketplace.qualifications import requirements
from marketplace.site.arrivals import arrive

Status = Assignment.Status
SHOWN_PER_PAGE = 25


@require_safe
@worker_required
def my_work(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Show the queue, what was submitted and decided, and the earnings."""
    arrive(request)
    context = {
        "worker": worker,
        "earnings": statements.earnings_of(worker),
        "record": requirements.record_of(worker),
        "done": Paginator(_done(worker), SHOWN_PER_PAGE).get_page(request.GET.get("page")),
        **_possessions(worker),
    }
    return render(request, "marketplace/site/my_work.html", context)


@require_safe
@worker_required
def earnings(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Show what was paid on which day, and what is still to be decided."""
    arrive(request)
    days = statements.earned_by_day(worker)
    context = {
        "worker": worker,
        "earnings": statements.earnings_of(worker),
        "days": Paginator(days, SHOWN_PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "marketplace/site/earnings.html", context)


def _done(worker: Worker) -> Any:
    rows = Assignment.objects.filter(
        worker=worker, status__in=[Status.SUBMITTED, Status.APPROVED, Status.REJECTED]
    )
    ordered = rows.select_related("hit__hit_type__requester").order_by("-submitted_at", "-pk")
    return ordered.prefetch_related("bonuses")


def _possessions(worker: Worker) -> dict[str, Any]:
    """Return what the worker holds or gave up: open, returned and timed out HITs, qualifications, messages."""
    rows = Assignment.objects.filter(worker=worker)
    given_up = rows.filter(status__in=[Status.RETURNED, Status.ABANDONED]).order_by("-pk")
    either = Q(status=Status.OPEN) | Q(pk__in=given_up.values("pk")[:SHOWN_PER_PAGE])
    shown = list(rows.filter(either).select_related("hit__hit_type__requester").order_by("-pk"))
    granted = Qualification.objects.filter(worker=worker, status=Qualification.Status.GRANTED)
    received = Message.objects.filter(worker=worker).select_related("requester")
    return {
        "queue": sorted((row for row in shown if row.status == Status.OPEN), key=lambda row: row.deadline),
        "given_up": [row for row in shown if row.status != Status.OPEN],
        "held": granted.select_related("qualification_type__requester").order_by("pk"),
        "messages_received": received.order_by("-pk")[:SHOWN_PER_PAGE],
    }
