"""One line a request, under an id that follows it into the tasks it starts."""

import logging
import re
import time
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.encoding import escape_uri_path

from surveys.operations import log_context

logger = logging.getLogger("assent.access")

SANE_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


class AccessLogMiddleware:
    """Give each request an id, the proxy's own if it sent a sane one; return it, and log what came of the request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = _request_id(request)
        began = time.monotonic()
        token = log_context.begin(request_id=request_id)
        try:
            response = self.get_response(request)
            response["X-Request-Id"] = request_id
            _log(request, response, milliseconds=round(1000 * (time.monotonic() - began)))
        finally:
            log_context.end(token)
        return response


def _request_id(request: HttpRequest) -> str:
    sent = request.headers.get("X-Request-Id", "")
    return sent if SANE_ID.fullmatch(sent) else uuid.uuid4().hex


def _log(request: HttpRequest, response: HttpResponse, *, milliseconds: int) -> None:
    match = request.resolver_match
    if match and match.view_name and match.view_name.startswith("batch") and "pk" in match.kwargs:
        log_context.bind(batch=match.kwargs["pk"])
    if match and "assignment_pk" in match.kwargs:
        log_context.bind(assignment=match.kwargs["assignment_pk"], batch=match.kwargs["pk"])
    path = escape_uri_path(request.path)
    facts = {
        "method": request.method,
        "path": path,
        "view": match.view_name if match else None,
        "status": response.status_code,
        "duration_ms": milliseconds,
    }
    logger.info("%s %s %d", request.method, path, response.status_code, extra=facts)
