"""Our books beside the marketplaces', and a person's word that sending may go on after a restore.

A difference is shown to, and settled by, who may see the study it is about and publish its batches. The hold is on all
studies, so it is ended by who may see all that are on a marketplace.
"""

from collections.abc import Callable

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotators.crowds.base import on_market
from annotators.crowds.mturk.gateway import MarketError
from annotators.models import HIT, Hold
from annotators.outbox import holds
from surveys import sync
from surveys.enqueue import enqueue
from surveys.models import Batch
from surveys.operations import reconciling
from surveys.operations.reconciling import CannotSettle, Row
from surveys.pages.access import researcher
from surveys.teams import Person, hidden_from, seen_by


@never_cache
@require_safe
@researcher("annotators.view_hold", "surveys.publish_batch")
def books(request: HttpRequest) -> HttpResponse:
    """Show what the last comparison found of the reader's studies, and whether sending is held."""
    hold = holds.current()
    rows = _seen(hold, request.user)
    context = {
        **admin.site.each_context(request),
        "title": "Compare books",
        "hold": hold,
        "rows": rows,
        "unread": [row for row in rows if row["kind"] == "unread"],
        "is_comparing": bool(hold and reconciling.is_being_compared(hold)),
        "may_release": _may_release(request.user),
        "last": Hold.objects.exclude(released_at=None).order_by("-released_at").first(),
    }
    return render(request, "publishing/books.html", context)


@require_POST
@researcher("annotators.change_hold", "surveys.publish_batch")
def settle_books(request: HttpRequest) -> HttpResponse:
    """Compare again, settle one difference, or let sending go on. Sent twice, the second changes nothing."""
    do = _DEEDS.get(request.POST.get("action", ""))
    if do is None:
        return redirect("books")
    try:
        messages.success(request, do(request))
    except (CannotSettle, MarketError, HIT.DoesNotExist) as error:
        messages.error(request, str(error))
    return redirect("books")


def _seen(hold: Hold | None, person: Person) -> list[Row]:
    """Return the differences without those of studies that are hidden from somebody."""
    rows: list[Row] = hold.books.get("rows", []) if hold else []
    hits = HIT.objects.filter(hit_id__in={row["hit_id"] for row in rows})
    hidden = set(hits.values_list("hit_type__endpoint", "hit_id"))
    hidden -= set(seen_by(person, hits).values_list("hit_type__endpoint", "hit_id"))
    batches = Batch.objects.filter(pk__in={row["batch"] for row in rows if row.get("batch")})
    seen = {None, *seen_by(person, batches).values_list("pk", flat=True)}
    return [
        row for row in rows if row.get("batch") in seen and (row["endpoint"], row["hit_id"]) not in hidden
    ]


def _may_release(person: Person) -> bool:
    """Tell whether somebody sees every study that could lose money: there may be more than they are shown."""
    could_lose = Batch.objects.filter(on_market())
    return not could_lose.filter(survey__in=hidden_from(person)).exists()


def _where(request: HttpRequest, kind: str) -> tuple[str, str]:
    """Return the endpoint and HITId of the row that was clicked, which has to be one that its reader is shown."""
    where = (request.POST.get("endpoint", ""), request.POST.get("hit_id", ""))
    rows = [row for row in _seen(holds.current(), request.user) if row["kind"] == kind]
    if where not in [(row["endpoint"], row["hit_id"]) for row in rows]:
        raise CannotSettle("This difference is none that is shown here any more.")
    return where


def _compare(request: HttpRequest) -> str:
    enqueue(sync.compare_books)
    return "The books are being compared; reload this page in a moment."


def _adopt(request: HttpRequest) -> str:
    batch = reconciling.adopt(*_where(request, "unknown"), by=request.user)
    return f"{batch.name} has its HITs back."


def _expire(request: HttpRequest) -> str:
    reconciling.expire(*_where(request, "unknown"), by=request.user.get_username())
    return "The HIT takes nobody any more."


def _take_size(request: HttpRequest) -> str:
    reconciling.take_size(*_where(request, "size"))
    return "The number of assignments is the marketplace's now."


def _release(request: HttpRequest) -> str:
    if not _may_release(request.user):
        raise CannotSettle("Sending is held for studies of other teams too: a superuser lets it go on.")
    is_warned = request.POST.get("uncompared") == "on"
    reconciling.release(by=request.user.get_username(), uncompared=is_warned)
    enqueue(sync.sweep)
    return "Sending goes on."


_DEEDS: dict[str, Callable[[HttpRequest], str]] = {
    "compare": _compare,
    "adopt": _adopt,
    "expire": _expire,
    "size": _take_size,
    "release": _release,
}
