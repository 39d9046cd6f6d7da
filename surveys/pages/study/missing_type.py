"""What the pages of a study say whose survey type is not installed, and was never published with."""

from collections.abc import Callable

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from surveys.protocols.registry import MissingTypeError
from surveys.teams import holds


class MissingTypeMiddleware:
    """Answer researchers with 409 and what can be done, wherever a page asks such a study for its survey type."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return the page that says so; None, which is Django's own page for errors, for all others."""
        if not isinstance(exception, MissingTypeError) or not holds(request.user, ["surveys.view_batch"]):
            return None
        context = {
            **admin.site.each_context(request),
            "title": "A survey type that is not installed",
            "reason": str(exception),
        }
        return render(request, "study/missing_type.html", context, status=409)
