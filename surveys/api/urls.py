"""The API's addresses. Each answers in JSON alone, looks at no cookie, and does what has a key once."""

from collections.abc import Callable
from functools import partial, wraps
from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.urls import URLPattern, re_path
from django.views.decorators.csrf import csrf_exempt

from annotators.failpoints import reach
from surveys.api import idempotency, problems
from surveys.api.document import api
from surveys.api.problems import Refusal
from surveys.api.security import token_of
from surveys.models import ApiRequest

View = Callable[..., HttpResponseBase]
Keeping = Callable[[ApiRequest, idempotency.Ask], HttpResponseBase]
app_name = "api"
UNREADABLE = (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent, MultiPartParserError)
TOO_MUCH = (
    "The body can't be read: it is no form, or holds more than belongs into one. Files are sent as files."
)
JSON = ("application/json", problems.CONTENT_TYPE)
# Outside of a transaction: the marketplace is asked for what an account holds, an upload's pictures are fetched, and no
# rollback takes back files that were written.
APART = {"batches/<int:pk>/publish", "studies/<slug:slug>/items", "studies/<slug:slug>/pictures"}


def answering(view: View, *, keeping: Keeping = idempotency.once) -> View:
    """Wrap a view of the API: refusals are problems wherever they come from, and nobody's cache keeps an answer.

    `keeping` does what has a key once.
    """

    @wraps(view)
    def answer(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
        try:
            response = _answer(view, request, arguments, keeping=keeping)
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


def _answer(
    view: View, request: HttpRequest, arguments: dict[str, Any], *, keeping: Keeping
) -> HttpResponseBase:
    key, token = request.headers.get(idempotency.HEADER), token_of(request)
    if key is None or request.method != "POST" or token is None:
        return view(request, **arguments)
    row = idempotency.begin(request, token, key=key)
    if not isinstance(row, ApiRequest):
        setattr(request, idempotency.ANSWER, row)
        return view(request, **arguments)
    setattr(request, idempotency.BEGUN, row)
    reach("key.begun")
    try:
        response = keeping(row, partial(view, request, **arguments))
    finally:
        idempotency.forget(row)
    reach("key.kept")
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
    return [URLPattern(one.pattern, _wrapped(one), name=one.name) for one in found]


def _wrapped(address: URLPattern) -> View:
    keeping = idempotency.apart if str(address.pattern) in APART else idempotency.once
    return answering(address.callback, keeping=keeping)


urlpatterns = [
    *_addresses(),
    re_path(r"^(?P<rest>(?s:.*))\Z", answering(missing)),  # a path may hold line ends
]
