"""The list of HITs: those that still have an assignment for exactly this worker, one line for each type."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from marketplace import ids
from marketplace.accounts.sessions import Visit, visit
from marketplace.models import HIT, LIVE, Assignment, HITType, Worker
from marketplace.qualifications import requirements
from marketplace.qualifications.requirements import Line
from marketplace.questions import documents
from marketplace.site.arrivals import arrive, arrive_with
from marketplace.site.pace import Pace, paces
from statements import Hole, Statement

GROUPS_PER_PAGE = 25


@dataclass(frozen=True, slots=True)
class Offered:
    """A type with so many HITs for a worker, the newest of that time."""

    hit_type: HITType
    available: int
    newest: datetime

    def age(self) -> tuple[datetime, int]:
        return self.newest, self.hit_type.pk


# Each sorts what is sorted by age, the newest first.
SORTS: dict[str, tuple[Promise, Callable[[Offered], int]]] = {
    "newest": (gettext_lazy("Newest first"), lambda one: 0),
    "reward": (gettext_lazy("Highest reward first"), lambda one: -one.hit_type.reward_cents),
    "time": (gettext_lazy("Least time allowed first"), lambda one: one.hit_type.duration_seconds),
    "hits": (gettext_lazy("Most HITs first"), lambda one: -one.available),
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
    kinds: Sequence[Any], *, worker: Worker | None, number: str | None, sort: str = "newest"
) -> "Page[Offered]":
    """Return one page of these types, of those that have something for the worker, in one of the orders of SORTS.

    Whose time is over is counted until that is noticed, which is done before anything is read. One query.
    """
    own = _own_by_type(worker)
    offered = [Offered(kind, kind.open_hits - own.get(kind.pk, 0), kind.newest) for kind in kinds]
    left = sorted((one for one in offered if one.available), key=Offered.age, reverse=True)
    return Paginator(sorted(left, key=SORTS[sort][1]), GROUPS_PER_PAGE).get_page(number)


def _kinds_on_offer(request: HttpRequest, *, words: Sequence[str]) -> list[HITType]:
    """Return the types that have something, with all done that is due."""
    if not words:
        return arrive_with(request, KINDS)[1]
    arrive(request)
    return list(_kinds(words))


def _kinds(words: Sequence[str]) -> QuerySet[HITType]:
    """Return the types that have something and every one of these words, each with the time of its newest HIT."""
    kinds = HITType.objects.filter(open_hits__gt=0).select_related("requester")
    for word in words:
        kinds = kinds.filter(_matches(word))
    newest = HIT.objects.filter(hit_type=OuterRef("pk"), is_open=True).order_by("-created_at")
    return kinds.annotate(newest=Subquery(newest.values("created_at")[:1]))


KINDS = Statement(lambda: _kinds([]))
OWN = Statement(
    lambda: (
        Assignment.objects.filter(worker=Hole("worker", Worker._meta.pk), status__in=LIVE, hit__is_open=True)
        .order_by()
        .values_list("hit__hit_type")
        .annotate(n=Count("pk"))
    )
)


def _own_by_type(worker: Worker | None) -> dict[int, int]:
    """Return how many open HITs the worker has or has done already, by the type's key."""
    if worker is None:
        return {}
    return dict(OWN.rows(worker=worker.pk))


def _matches(word: str) -> Q:
    fields = ("title", "description", "keywords", "requester__name")
    found = Q()
    for field in fields:
        found |= Q(**{f"{field}__icontains": word})
    return found


def _described(page: "Page[Offered]", *, visitor: Visit) -> list[Group]:
    """Describe a page of groups, without those the worker may not even discover. At most five queries."""
    kinds = [one.hit_type for one in page]
    record = requirements.record_of(visitor.worker, hit_types=kinds, may_be_blocked=visitor.may_be_blocked)
    asking = [kind for kind in kinds if requirements.asks_own(kind)]
    prefetch_related_objects(asking, "qualification_types")
    measured = paces(kinds)
    return [
        Group(
            kind,
            one.available,
            requirements.may("Accept", kind, record=record),
            requirements.lines(kind, record=record),
            measured.get(kind.pk),
        )
        for one in page
        if requirements.may("Discover", kind := one.hit_type, record=record)
    ]


@require_safe
def hit_list(request: HttpRequest) -> HttpResponse:
    search = documents.legal(request.GET.get("q", "")).strip()[:100]
    kinds = _kinds_on_offer(request, words=search.split()[:10])
    visitor = visit(request)
    sort = request.GET.get("sort", "")
    sort = sort if sort in SORTS else "newest"
    page = _groups(kinds, worker=visitor.worker, number=request.GET.get("page"), sort=sort)
    context = {
        "worker": visitor.worker,
        "page": page,
        "groups": _described(page, visitor=visitor),
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
