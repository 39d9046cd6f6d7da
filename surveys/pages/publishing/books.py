"""Our books beside the marketplaces', and a person's word that sending may go on after a restore."""

from collections.abc import Callable

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotators.crowds.mturk.gateway import MarketError
from annotators.models import HIT, Hold
from annotators.outbox import holds
from surveys import sync
from surveys.operations import reconciling
from surveys.pages.access import researcher
from surveys.pages.enqueue import enqueue


@never_cache
@require_safe
@researcher("annotators.view_hold")
def books(request: HttpRequest) -> HttpResponse:
    """Show what the last comparison found, and whether sending is held."""
    hold = holds.current()
    context = {
        **admin.site.each_context(request),
        "title": "Compare books",
        "hold": hold,
        "rows": hold.books.get("rows", []) if hold else [],
        "last": Hold.objects.exclude(released_at=None).order_by("-released_at").first(),
    }
    return render(request, "publishing/books.html", context)


@require_POST
@researcher("annotators.change_hold")
def settle_books(request: HttpRequest) -> HttpResponse:
    """Compare again, settle one difference, or let sending go on. Sent twice, the second changes nothing."""
    do = _DEEDS.get(request.POST.get("action", ""))
    if do is None:
        return redirect("books")
    try:
        messages.success(request, do(request))
    except (reconciling.CannotSettle, MarketError, HIT.DoesNotExist) as error:
        messages.error(request, str(error))
    return redirect("books")


def _where(request: HttpRequest) -> tuple[str, str]:
    endpoint = request.POST.get("endpoint", "")
    if endpoint not in reconciling.endpoints():
        raise reconciling.CannotSettle("No batch here is on that marketplace.")
    return endpoint, request.POST.get("hit_id", "")


def _compare(request: HttpRequest) -> str:
    enqueue(sync.compare_books)
    return "The books are being compared; reload this page in a moment."


def _adopt(request: HttpRequest) -> str:
    batch = reconciling.adopt(*_where(request), by=request.user)
    enqueue(sync.compare_books)
    return f"{batch.name} has its HITs back."


def _expire(request: HttpRequest) -> str:
    reconciling.expire(*_where(request), by=request.user.get_username())
    enqueue(sync.compare_books)
    return "The HIT takes nobody any more."


def _take_size(request: HttpRequest) -> str:
    reconciling.take_size(*_where(request))
    enqueue(sync.compare_books)
    return "The number of assignments is the marketplace's now."


def _release(request: HttpRequest) -> str:
    reconciling.release(by=request.user.get_username())
    enqueue(sync.sweep)
    return "Sending goes on."


_DEEDS: dict[str, Callable[[HttpRequest], str]] = {
    "compare": _compare,
    "adopt": _adopt,
    "expire": _expire,
    "size": _take_size,
    "release": _release,
}
