"""The Content-Security-Policy of every answer that has none of its own, errors and static files included.

Our own twenty lines instead of django-csp: Django 6.0 has this middleware itself, and SECURE_CSP is spelled as it reads
it (https://docs.djangoproject.com/en/6.0/ref/csp/). With 6.0 this file goes.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

HEADER = "Content-Security-Policy"
# What a page says of frames for browsers before CSP level 2, in CSP's words.
ANCESTORS = {"DENY": "'none'", "SAMEORIGIN": "'self'"}
DJANGOS_DEBUG_PAGES = {404, 500}  # full of inline scripts


class ContentSecurityPolicyMiddleware:
    """Stands before all others, so that what they refuse has a policy too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_debug_page = settings.DEBUG and response.status_code in DJANGOS_DEBUG_PAGES
        if HEADER not in response and not is_debug_page:
            response[HEADER] = policy(frame_options=response.get("X-Frame-Options", "DENY"))
        return response


def policy(*, frame_options: str) -> str:
    """Return SECURE_CSP as one line, framed by whom X-Frame-Options (DENY or SAMEORIGIN) allows."""
    directives = {**settings.SECURE_CSP, "frame-ancestors": [ANCESTORS[frame_options.upper()]]}
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in directives.items())
