"""The list of HITs: those that still have an assignment for exactly this worker, one line for each type."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Q, prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from marketplace import ids
from marketplace.accounts.sessions import current_worker
from marketplace.engine import assignments, deadlines
from marketplace.models import HITType, Worker
from marketplace.qualifications import requirements
from marketplace.qualifications.requirements import Line
from marketplace.questions import documents
from marketplace.site.pace import Pace, paces

GROUPS_PER_PAGE = 25
SORTS = {
    "newest": (gettext_lazy("Newest first"), "-newest"),
    "reward": (gettext_lazy("Highest reward first"), "-hit_type__reward_cents"),
    "time": (gettext_lazy("Least time allowed first"), "hit_type__duration_seconds"),
    "hits": (gettext_lazy("Most HITs first"), "-available"),
}


@dataclass(frozen=True)
class Group:
    """All HITs of one type, as one line of the list."""

    hit_type: HITType
    available: int
    is_open: bool
    requirements: list[Line]
    pace: Pace | None = None


def _groups(
    *, worker: Worker | None, now: datetime, search: str, number: str | None, sort: str = "newest"
) -> "Page[Any]":
    """Return one page of groups in one of the orders of SORTS, each with `hit_type` (its key) and `available`."""
    hits = assignments.offered(worker=worker, now=now)
    for word in search.split()[:10]:
        hits = hits.filter(_matches(word))
    found = hits.values("hit_type").annotate(available=Count("pk"), newest=Max("created_at"))
    ordered = found.order_by(SORTS[sort][1], "-newest", "-hit_type")
    return Paginator(list(ordered), GROUPS_PER_PAGE).get_page(number)


def _matches(word: str) -> Q:
    fields = ("title", "description", "keywords", "requester__name")
    found = Q()
    for field in fields:
        found |= Q(**{f"hit_type__{field}__icontains": word})
    return found


def _described(page: "Page[Any]", *, worker: Worker | None) -> list[Group]:
    """Add the types to a page of groups, without those the worker may not even discover. At most seven queries."""
    kinds = HITType.objects.select_related("requester").in_bulk([row["hit_type"] for row in page])
    record = requirements.record_of(worker, hit_types=kinds.values())
    asking = [kind for kind in kinds.values() if requirements.asks_own(kind)]
    prefetch_related_objects(asking, "qualification_types")
    measured = paces(kinds.values())
    return [
        Group(
            kind,
            row["available"],
            requirements.may("Accept", kind, record=record),
            requirements.lines(kind, record=record),
            measured.get(kind.pk),
        )
        for row in page
        if requirements.may("Discover", kind := kinds[row["hit_type"]], record=record)
    ]


@require_safe
def hit_list(request: HttpRequest) -> HttpResponse:
    now, worker = deadlines.arrive(), current_worker(request)
    search = documents.legal(request.GET.get("q", "")).strip()[:100]
    sort = request.GET.get("sort", "")
    sort = sort if sort in SORTS else "newest"
    page = _groups(worker=worker, now=now, search=search, number=request.GET.get("page"), sort=sort)
    context = {
        "worker": worker,
        "page": page,
        "groups": _described(page, worker=worker),
        "search": search,
        "sort": sort,
        "sorts": [(key, words) for key, (words, _) in SORTS.items()],
        "query": urlencode({"q": search, "sort": sort}),
    }
    return render(request, "marketplace/site/hit_list.html", context)


@require_safe
def preview_by_group(request: HttpRequest) -> HttpResponse:
    """Follow the older address, which some requesters' tools print."""
    identifier = request.GET.get("groupId", "")
    if not ids.is_entity_id(identifier):
        raise Http404("No such group of HITs.")
    return redirect("preview", identifier=identifier)
