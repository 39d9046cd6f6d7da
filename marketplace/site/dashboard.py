"""What a worker holds, has done, has earned and was told."""

import re
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
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
ADDRESS = re.compile(r"https?://\S+")


@require_safe
@worker_required
def my_work(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Show the queue, what was submitted and decided, and the earnings."""
    arrive(request)
    done = Paginator(_done(worker), SHOWN_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "worker": worker,
        "earnings": statements.earnings_of(worker),
        "record": requirements.record_of(worker),
        "done": _with_what_followed(done, worker=worker),
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


@require_safe
@worker_required
def given_up(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Show all that was returned or ran out of time, the last first."""
    arrive(request)
    rows = _given_up(worker).select_related("hit__hit_type__requester")
    shown = Paginator(rows, SHOWN_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "marketplace/site/all_given_up.html", {"worker": worker, "given_up": shown})


@require_safe
@worker_required
def messages(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Show all that requesters wrote to the worker, the last first."""
    arrive(request)
    shown = Paginator(_received(worker), SHOWN_PER_PAGE).get_page(request.GET.get("page"))
    return render(
        request, "marketplace/site/all_messages.html", {"worker": worker, "messages_received": shown}
    )


def _given_up(worker: Worker) -> QuerySet[Assignment]:
    rows = Assignment.objects.filter(worker=worker, status__in=[Status.RETURNED, Status.ABANDONED])
    return rows.order_by("-pk")


def _received(worker: Worker) -> QuerySet[Message]:
    return Message.objects.filter(worker=worker).select_related("requester").order_by("-pk")


def _done(worker: Worker) -> Any:
    rows = Assignment.objects.filter(
        worker=worker, status__in=[Status.SUBMITTED, Status.APPROVED, Status.REJECTED]
    )
    ordered = rows.select_related("hit__hit_type__requester").order_by("-submitted_at", "-pk")
    return ordered.prefetch_related("bonuses")


def _with_what_followed(page: Any, *, worker: Worker) -> Any:
    """Give each rejected row what its requester wrote later about an address in the rejection, as of an appeal."""
    rejected = [row for row in page if row.status == Status.REJECTED and _addresses(row.feedback)]
    if rejected:
        sent_by = {row.hit.hit_type.requester_id for row in rejected}
        written = list(_received(worker).filter(requester__in=sent_by))
        for row in rejected:
            row.followed = [message for message in written if _is_about(message, row)]
    return page


def _addresses(text: str) -> set[str]:
    return {address.rstrip(".,;:)") for address in ADDRESS.findall(text)}


def _is_about(message: Message, row: Assignment) -> bool:
    is_theirs = message.requester_id == row.hit.hit_type.requester_id
    return is_theirs and not _addresses(row.feedback).isdisjoint(_addresses(message.text))


def _possessions(worker: Worker) -> dict[str, Any]:
    """Return what the worker holds or gave up: open, returned and timed out HITs, qualifications, messages.

    Of what there may be hundreds of, the last, and whether there are more.
    """
    rows = Assignment.objects.filter(worker=worker)
    either = Q(status=Status.OPEN) | Q(pk__in=_given_up(worker).values("pk")[: SHOWN_PER_PAGE + 1])
    shown = list(rows.filter(either).select_related("hit__hit_type__requester").order_by("-pk"))
    given_up = [row for row in shown if row.status != Status.OPEN]
    received = list(_received(worker)[: SHOWN_PER_PAGE + 1])
    granted = Qualification.objects.filter(worker=worker, status=Qualification.Status.GRANTED)
    return {
        "queue": sorted((row for row in shown if row.status == Status.OPEN), key=lambda row: row.deadline),
        "given_up": given_up[:SHOWN_PER_PAGE],
        "has_more_given_up": len(given_up) > SHOWN_PER_PAGE,
        "held": granted.select_related("qualification_type__requester").order_by("pk"),
        "messages_received": received[:SHOWN_PER_PAGE],
        "has_more_messages": len(received) > SHOWN_PER_PAGE,
    }
