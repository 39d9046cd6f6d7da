"""Addresses of the marketplace: `/` for requesters and workers, the worker site, the control API."""

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt

from marketplace.accounts.sessions import current_worker
from marketplace.api import dispatch
from marketplace.site import hit_list


@csrf_exempt
def root(request: HttpRequest) -> HttpResponse:
    """Requesters post their calls to `/`; workers read the list of HITs there."""
    return dispatch.handle(request) if request.method == "POST" else hit_list.hit_list(request)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say what was wrong with the form; what a worker typed is still there one page back."""
    is_too_large = isinstance(exception, RequestDataTooBig | TooManyFieldsSent)
    return render(request, "marketplace/site/bad_request.html", {"is_too_large": is_too_large}, status=400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Lead back to the list; whoever is signed in stays so."""
    return render(request, "marketplace/site/not_found.html", {"worker": current_worker(request)}, status=404)


handler400, handler404 = bad_request, not_found
urlpatterns = [
    path("", root, name="hit-list"),
    path("", include("marketplace.site.urls")),
    path("control/", include("marketplace.rehearsing.urls")),
]
