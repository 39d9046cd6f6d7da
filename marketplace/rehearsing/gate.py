"""Who may use the control API, and how its JSON is read."""

import json
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt

from marketplace.models import Requester
from marketplace.questions.documents import ILLEGAL
from marketplace.refusals import Refusal

Body = dict[str, Any]
Answer = dict[str, Any] | list[dict[str, Any]]
Action = Callable[[Body], Answer]


class BadRequest(ValueError):
    """The request's JSON is not what the call takes."""


def control(**actions: Action) -> Callable[[HttpRequest], HttpResponse]:
    """Make a view of one action a method: 404 when closed, 401 without the token, 405, 400."""

    @csrf_exempt
    def view(request: HttpRequest) -> HttpResponse:
        refused = _refusal(request, methods=list(actions))
        if refused is not None:
            return refused
        try:
            return JsonResponse(actions[request.method or ""](_body(request)), safe=False)
        except (BadRequest, Refusal) as error:
            return JsonResponse({"error": str(error)}, status=400)

    return view


def _refusal(request: HttpRequest, *, methods: list[str]) -> HttpResponse | None:
    token = settings.MARKETPLACE_CONTROL_TOKEN
    if not token:
        return JsonResponse({"error": "The control API is closed."}, status=404)
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        return JsonResponse({"error": "The bearer token is missing or wrong."}, status=401)
    if request.method not in methods:
        return JsonResponse({"error": f"Use {' or '.join(methods)}."}, status=405)
    return None


def _body(request: HttpRequest) -> Body:
    """Return the JSON object of a POST, else the parameters of the address, all of them texts."""
    if request.method != "POST":
        return dict(request.GET.items())
    try:
        body = json.loads(request.body or b"{}")
    except (ValueError, RecursionError) as error:
        raise BadRequest("The body is not JSON.") from error
    if not isinstance(body, dict):
        raise BadRequest("The body is not a JSON object.")
    return body


def whole(body: Body, name: str, *, low: int, high: int) -> int:
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadRequest(f"{name} is a whole number from {low} to {high}.")
    return value


def seconds(body: Body, name: str, *, high: float) -> float:
    """Read a number of seconds that may be left out."""
    value = body.get(name, 0)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= high:
        raise BadRequest(f"{name} is a number from 0 to {high}.")
    return float(value)


def text(body: Body, name: str, *, default: str | None = None) -> str:
    value = body.get(name, default)
    if not isinstance(value, str) or ILLEGAL.search(value):
        raise BadRequest(f"{name} is a text.")
    return value


def one_of(body: Body, name: str, *, allowed: list[str]) -> str:
    value = text(body, name, default="")
    if value not in allowed:
        raise BadRequest(f"{name} is one of {', '.join(allowed)}.")
    return value


def requester(body: Body) -> Requester:
    """Return the requester of the name that is given."""
    name = text(body, "requester")
    found = Requester.objects.filter(name=name).first()
    if found is None:
        raise BadRequest(f"There is no requester {name}.")
    return found


def any_requester(body: Body) -> Requester | None:
    """Return the requester of the name, None where none is given."""
    return requester(body) if "requester" in body else None
