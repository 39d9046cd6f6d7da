"""What an API answers where Django itself refuses or something breaks: a problem too. Elsewhere it is Django's page."""

import sys
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext
from django.views import defaults

from surveys.api.problems import Refusal
from surveys.operations import disk

HERE = "/api/"
UNREADABLE = "The request can't be read; is its Host this site's?"
BROKEN = (
    "Something broke here, and is in the site's log. What was asked may be asked again under the same key."
)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not request.path.startswith(HERE):
        return defaults.bad_request(request, exception)
    return _problem(Refusal(HTTPStatus.BAD_REQUEST, "malformed", UNREADABLE))


def server_error(request: HttpRequest) -> HttpResponse:
    """Say what broke where it is the disk, which can be mended. Django calls this while it handles the exception."""
    if fault := disk.fault(sys.exc_info()[1]):
        return _no_storage(request, fault)
    if not request.path.startswith(HERE):
        return defaults.server_error(request)
    return _problem(Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "broken", BROKEN))


def _no_storage(request: HttpRequest, fault: str) -> HttpResponse:
    if request.path.startswith(HERE):
        return _problem(Refusal(HTTPStatus.INSUFFICIENT_STORAGE, "unavailable", fault))
    return HttpResponse(
        render_to_string("507.html", {"fault": gettext(fault)}), status=HTTPStatus.INSUFFICIENT_STORAGE
    )


def _problem(refusal: Refusal) -> HttpResponse:
    response = refusal.response()
    response["Cache-Control"] = "no-store"
    return response
