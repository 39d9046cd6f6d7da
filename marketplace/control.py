"""For rehearsals and tests: move the clock, seed workers, read the ledger. Closed unless a token is set."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt

from marketplace import audit, clock, engine_due, keys

MOST_WORKERS = 10_000
LONGEST_STEP = 10 * 365 * 86_400
Answer = dict[str, Any] | list[dict[str, Any]]


class BadRequest(ValueError):
    """The request's JSON is not what the call takes."""


def control(
    method: str,
) -> Callable[[Callable[[dict[str, Any]], Answer]], Callable[[HttpRequest], HttpResponse]]:
    """Wrap a function of the request's JSON: 404 when closed, 401 without the token, 405, 400."""

    def wrap(action: Callable[[dict[str, Any]], Answer]) -> Callable[[HttpRequest], HttpResponse]:
        @csrf_exempt
        @wraps(action)
        def view(request: HttpRequest) -> HttpResponse:
            refused = _refusal(request, method=method)
            if refused is not None:
                return refused
            try:
                return JsonResponse(action(_body(request)), safe=False)
            except BadRequest as error:
                return JsonResponse({"error": str(error)}, status=400)

        return view

    return wrap


def _refusal(request: HttpRequest, *, method: str) -> HttpResponse | None:
    token = settings.MARKETPLACE_CONTROL_TOKEN
    if not token:
        return JsonResponse({"error": "The control API is closed."}, status=404)
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        return JsonResponse({"error": "The bearer token is missing or wrong."}, status=401)
    if request.method != method:
        return JsonResponse({"error": f"Use {method}."}, status=405)
    return None


def _body(request: HttpRequest) -> dict[str, Any]:
    try:
        body = json.loads(request.body or b"{}")
    except ValueError as error:
        raise BadRequest("The body is not JSON.") from error
    if not isinstance(body, dict):
        raise BadRequest("The body is not a JSON object.")
    return body


def _whole(body: dict[str, Any], name: str, *, low: int, high: int) -> int:
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadRequest(f"{name} is a whole number from {low} to {high}.")
    return value


@control("POST")
def advance(body: dict[str, Any]) -> Answer:
    """Move the clock by `seconds` and do what is due. Returns {"now": ISO time}."""
    now = clock.advance(seconds=_whole(body, "seconds", low=0, high=LONGEST_STEP))
    engine_due.sweep(now=now)
    return {"now": now.isoformat()}


@control("POST")
def workers(body: dict[str, Any]) -> Answer:
    """Make `count` workers that follow from `seed`. Returns [{"worker_id", "access_code"}]."""
    count = _whole(body, "count", low=1, high=MOST_WORKERS)
    seed = _whole(body, "seed", low=0, high=2**63)
    pairs = [keys.seeded_worker(seed=seed, number=number) for number in range(count)]
    return [{"worker_id": worker.worker_id, "access_code": code} for worker, code in pairs]


@control("GET")
def ledger(body: dict[str, Any]) -> Answer:
    """Return every requester's statement, as `marketplace_ledger --json` prints it."""
    engine_due.sweep(now=clock.now())
    return audit.report()


urlpatterns = [
    path("advance", advance, name="control-advance"),
    path("workers", workers, name="control-workers"),
    path("ledger", ledger, name="control-ledger"),
]
