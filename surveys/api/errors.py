"""What an API answers where Django itself refuses or something breaks: a problem too. Elsewhere it is Django's page."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views import defaults

from surveys.api.problems import Refusal

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
    if not request.path.startswith(HERE):
        return defaults.server_error(request)
    return _problem(Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "broken", BROKEN))


def _problem(refusal: Refusal) -> HttpResponse:
    response = refusal.response()
    response["Cache-Control"] = "no-store"
    return response
