"""The headers of pages that live in the marketplace's frame. Every other page keeps X-Frame-Options: DENY."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.log import log_response
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.csrf import csrf_exempt

from surveys.answering.arrival import CannotServe
from surveys.pages.answering.styles import style_sources
from surveys.pages.answering.tokens import TokenError, TokenExpired

logger = logging.getLogger(__name__)

View = Callable[..., HttpResponse]

# Too large, forged or broken off: what was sent, and none of our faults.
UNREADABLE_REQUEST = (SuspiciousOperation, MultiPartParserError, UnreadablePostError)
EXPIRED = gettext_lazy(
    "This page was open for too long. What you answered is kept: open the HIT again and carry on."
)
FOREIGN = gettext_lazy("This page does not belong to this HIT. Please open the HIT again from your queue.")
UNREADABLE = gettext_lazy(
    "What was sent is too large or damaged. What was saved before is kept: open the HIT again and carry on."
)
BROKEN = gettext_lazy("The fault is ours, and we have a record of it. Open the HIT again in a little while.")
NOT_KEPT = gettext_lazy(
    "The fault is ours, and we have a record of it. What you have just sent was not kept. What was saved before "
    "is kept: open this page again in a little while and carry on."
)
STATUS = {"not_published": 503, "unknown": 404}


def framed(view: View) -> View:
    """Allow the marketplaces' frames, turn refusals into pages a worker can read, and keep all of it uncached.

    A token in the request takes the place of the CSRF cookie, which browsers don't send from a frame. Any origin may
    read the answer to a post: in a sandboxed frame our own page's origin is "null", and the token, not the origin,
    says who asks.
    """

    @csrf_exempt
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except (CannotServe, TokenError, *UNREADABLE_REQUEST) as error:
            response = _refused(error, request)
        except Exception:  # without a page of its own the frame would stay blank
            record_fault(request)
            response = _broken(request)
        if request.method == "POST":
            response["Access-Control-Allow-Origin"] = "*"
        return with_frame_headers(response)

    return wrapped


def record_fault(request: HttpRequest) -> None:
    """Log the exception that is being handled, with its traceback, and tell whoever listens for faults."""
    logger.exception("HIT page failed: %s", request.path)
    got_request_exception.send(sender=None, request=request)


def _broken(request: HttpRequest) -> HttpResponse:
    """Say what is true: of what was sent nothing is kept, as a full disk keeps nothing. No way leads off its page."""
    if request.method == "POST":
        return refusal(gettext("This was not kept"), NOT_KEPT, status=500)
    return refusal(
        gettext("Something went wrong here"), BROKEN, status=500, reload_url=request.get_full_path()
    )


def _refused(error: Exception, request: HttpRequest) -> HttpResponse:
    """Return the page that says why, with the way back where opening it again helps."""
    if isinstance(error, CannotServe):
        return _not_served(error, request)
    url = request.get_full_path()
    if isinstance(error, TokenExpired):
        return refusal(gettext("This page has expired"), EXPIRED, status=403, reload_url=url)
    if isinstance(error, TokenError):
        return refusal(gettext("This page can't be used"), FOREIGN, status=403)
    return refusal(gettext("This could not be read"), UNREADABLE, status=400, reload_url=url)


def _not_served(error: CannotServe, request: HttpRequest) -> HttpResponse:
    title, status = gettext("This HIT can't be shown to you"), STATUS.get(error.kind, 403)
    if status != 503:
        return refusal(title, str(error), status=status)
    response = refusal(title, str(error), status=status, reload_url=request.get_full_path())
    # A worker who is quicker than our record of the HIT is no fault, which Django takes every 5xx for.
    log_response("%s: %s", error.kind, request.path, response=response, request=request, level="info")
    return response


def refusal(title: str, message: str | Promise, *, status: int, reload_url: str = "") -> HttpResponse:
    context: dict[str, Any] = {"title": title, "message": message, "reload_url": reload_url}
    return HttpResponse(render_to_string("answering/hits/refused.html", context), status=status)


def with_frame_headers(response: HttpResponse) -> HttpResponse:
    response.xframe_options_exempt = True
    response["Content-Security-Policy"] = content_security_policy()
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store"
    return response


def content_security_policy() -> str:
    origins = " ".join(settings.FRAME_ANCESTORS)
    return (
        f"default-src 'self'; {style_sources()}; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
        f"form-action 'self' {origins}; frame-ancestors {origins}"
    )
