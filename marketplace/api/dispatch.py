"""One request in, one answer out: target, signature, JSON, checks, operation."""

import json
import logging
import uuid
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError, transaction
from django.http import HttpRequest, HttpResponse

from marketplace import clock, engine_due
from marketplace.api import model
from marketplace.api.calls import Call
from marketplace.api.errors import ApiError, request_error, service_fault, throttled, wrong_type
from marketplace.api.operations import OPERATIONS
from marketplace.api.signature import authenticate
from marketplace.api.validation import validate
from marketplace.errors import Refusal

CONTENT_TYPE = "application/x-amz-json-1.1"
TARGET_PREFIX = "MTurkRequesterServiceV20170117."
logger = logging.getLogger(__name__)


def handle(request: HttpRequest) -> HttpResponse:
    """Answer a requester's call as MTurk would; nothing but a fault of ours is a 5xx."""
    try:
        return _response(_answer(request), status=200)
    except ApiError as error:
        return _response(error.body, status=error.status)
    except Refusal as refusal:
        return _response(request_error(refusal.code, refusal.message).body, status=400)
    except OperationalError:
        # The database was too busy to lock; nothing was written, and boto3 tries again after a throttle.
        logger.warning("A requester's call was throttled", exc_info=True)
        return _response(throttled().body, status=400)
    except Exception:
        logger.exception("A requester's call failed")
        return _response(service_fault().body, status=500)


def _answer(request: HttpRequest) -> dict[str, Any]:
    raw = _raw_body(request)
    requester = authenticate(request)
    operation = _operation(request.headers.get("X-Amz-Target", ""))
    body = validate(model.input_shape(operation), _json(raw))
    now = clock.now()
    engine_due.sweep(now=now)
    with transaction.atomic():
        return OPERATIONS[operation](Call(requester=requester, body=body, now=now))


def _raw_body(request: HttpRequest) -> bytes:
    try:
        return request.body
    except RequestDataTooBig as error:
        raise ApiError(
            "RequestEntityTooLargeException", status=413, message="The request is too large."
        ) from error


def _operation(target: str) -> str:
    name = target.removeprefix(TARGET_PREFIX)
    if not target.startswith(TARGET_PREFIX) or name not in model.operation_names():
        raise request_error("UnknownOperation", f'The operation "{name}" does not exist.')
    if name not in OPERATIONS:
        raise request_error("OperationNotSupported", f"This marketplace does not offer {name}.")
    return name


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw or b"{}")
    except (ValueError, RecursionError) as error:
        raise wrong_type("The body", expected="document") from error


def _response(body: dict[str, Any], *, status: int) -> HttpResponse:
    response = HttpResponse(json.dumps(body), status=status, content_type=CONTENT_TYPE)
    response["x-amzn-RequestId"] = str(uuid.uuid4())
    return response
