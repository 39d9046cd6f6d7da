"""The API's addresses. Each answers in JSON alone, looks at no cookie, and does what has a key once."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.urls import URLPattern, re_path
from django.views.decorators.csrf import csrf_exempt

from surveys.api import idempotency, problems
from surveys.api.document import api
from surveys.api.problems import Refusal
from surveys.api.security import token_of
from surveys.models import ApiRequest

View = Callable[..., HttpResponseBase]
app_name = "api"
UNREADABLE = (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent, MultiPartParserError)
TOO_MUCH = (
    "The body can't be read: it is no form, or holds more than belongs into one. Files are sent as files."
)
JSON = ("application/json", problems.CONTENT_TYPE)


def answering(view: View) -> View:
    """Wrap a view of the API: refusals are problems wherever they come from, and nobody's cache keeps an answer."""

    @wraps(view)
    def answer(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
        try:
            response = _once(view, request, arguments)
        except Refusal as refusal:
            response = refusal.response()
        except Http404:
            response = problems.not_found().response()
        except UNREADABLE:
            response = Refusal(HTTPStatus.BAD_REQUEST, "malformed", TOO_MUCH).response()
        if response.status_code >= HTTPStatus.BAD_REQUEST and response["Content-Type"] not in JSON:
            response = _as_problem(response)
        response["Cache-Control"] = "no-store"
        return response

    return csrf_exempt(answer)  # no cookie opens anything here


def missing(request: HttpRequest, rest: str) -> HttpResponseBase:
    raise problems.not_found()


def _once(view: View, request: HttpRequest, arguments: dict[str, Any]) -> HttpResponseBase:
    key, token = request.headers.get(idempotency.HEADER), token_of(request)
    if key is None or request.method != "POST" or token is None:
        return view(request, **arguments)
    row = idempotency.begin(request, token, key=key)
    if not isinstance(row, ApiRequest):
        setattr(request, idempotency.ANSWER, row)
        return view(request, **arguments)
    try:
        response = view(request, **arguments)
    except BaseException:
        idempotency.forget(row)
        raise
    idempotency.finish(row, response)
    return response


def _as_problem(response: HttpResponseBase) -> HttpResponse:
    """Return what ninja says in plain text, as a method that an address does not have."""
    if "Allow" not in response:
        return Refusal(response.status_code, "other", response.reason_phrase).response()
    allowed = ", ".join(sorted(response["Allow"].split(", ")))
    detail = f"There is no such method here; there is {allowed}."
    return Refusal(response.status_code, "other", detail, headers={"Allow": allowed}).response()


def _addresses() -> list[URLPattern]:
    """Return ninja's addresses with their views wrapped."""
    found = [pattern for pattern in api.urls[0] if isinstance(pattern, URLPattern)]
    return [URLPattern(one.pattern, answering(one.callback), name=one.name) for one in found]


urlpatterns = [
    *_addresses(),
    re_path(r"^(?P<rest>(?s:.*))\Z", answering(missing)),  # a path may hold line ends
]
