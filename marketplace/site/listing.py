"""What a worker can find: HITs that still have an assignment for exactly this worker."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Q

from marketplace.engine import assignments
from marketplace.models import HITType, Worker
from marketplace.qualifications import requirements
from marketplace.qualifications.requirements import Line, Record

GROUPS_PER_PAGE = 25
NEWCOMER = Record()
SORTS = {
    "newest": ("Newest first", "-newest"),
    "reward": ("Highest reward first", "-hit_type__reward_cents"),
    "time": ("Least time allowed first", "hit_type__duration_seconds"),
    "hits": ("Most HITs first", "-available"),
}


@dataclass(frozen=True)
class Group:
    """All HITs of one type, as one line of the list."""

    hit_type: HITType
    available: int
    is_open: bool
    requirements: list[Line]


def groups(
    *, worker: Worker | None, now: datetime, search: str, number: str | None, sort: str = "newest"
) -> "Page[Any]":
    """Return one page of groups in one of the orders of SORTS, each with `hit_type` (its key) and `available`."""
    hits = assignments.offered(worker=worker, now=now)
    for word in search.split()[:10]:
        hits = hits.filter(_matches(word))
    found = hits.values("hit_type").annotate(available=Count("pk"), newest=Max("created_at"))
    ordered = found.order_by(SORTS[sort][1], "-newest", "-hit_type")
    return Paginator(ordered, GROUPS_PER_PAGE).get_page(number)


def _matches(word: str) -> Q:
    fields = ("title", "description", "keywords", "requester__name")
    found = Q()
    for field in fields:
        found |= Q(**{f"hit_type__{field}__icontains": word})
    return found


def described(page: "Page[Any]", *, worker: Worker | None) -> list[Group]:
    """Add the types to a page of groups, without those the worker may not even discover. Three queries."""
    record = requirements.record_of(worker) if worker else NEWCOMER
    types = HITType.objects.select_related("requester").prefetch_related("qualification_types")
    kinds = types.in_bulk([row["hit_type"] for row in page])
    return [
        Group(
            kind,
            row["available"],
            requirements.may("Accept", kind, record=record),
            requirements.lines(kind, record=record),
        )
        for row in page
        if requirements.may("Discover", kind := kinds[row["hit_type"]], record=record)
    ]
