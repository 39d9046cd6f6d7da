"""One request in, one answer out: signature, target, limit, JSON, checks, operation; in a rehearsal, planned faults."""

import json
import logging
import socket
import time
import uuid
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError, transaction
from django.http import HttpRequest, HttpResponse, UnreadablePostError

from marketplace import clock
from marketplace.accounts import limits
from marketplace.api import (
    account_operations,
    call_log,
    hit_operations,
    money_operations,
    notification_operations,
    qualification_operations,
    service_model,
    structures,
    worker_operations,
)
from marketplace.api.call_log import Trace
from marketplace.api.calls import Call
from marketplace.api.errors import ApiError, request_error, service_fault, throttled, wrong_type
from marketplace.api.service_model import validate
from marketplace.api.signature import authenticate
from marketplace.engine import deadlines
from marketplace.models import Fault, Requester
from marketplace.refusals import Refusal

CONTENT_TYPE = "application/x-amz-json-1.1"
TARGET_PREFIX = "MTurkRequesterServiceV20170117."
OWN_PREFIX = "AssentMarketplaceV20261123."
OPERATIONS = {
    **hit_operations.OPERATIONS,
    **money_operations.OPERATIONS,
    **notification_operations.OPERATIONS,
    **qualification_operations.OPERATIONS,
    **worker_operations.OPERATIONS,
}
OWN_OPERATIONS = account_operations.OPERATIONS
# Of a success: when it was carried out, as times stand in the bodies; what was decided by it was decided then.
TIME_HEADER = "X-Assent-Time"
CUT = 0  # the status logged for a call that got no answer
logger = logging.getLogger(__name__)


class Unanswered(Exception):
    """The work is done, and a planned fault keeps the answer back."""


def handle(request: HttpRequest) -> HttpResponse:
    """Answer a requester's call as MTurk would; nothing but a fault of ours is a 5xx."""
    trace = Trace()
    try:
        body, status = _answered(request, trace)
    except Unanswered:
        call_log.write(trace, status=CUT, code="")
        return _cut(request)
    if settings.MARKETPLACE_CONTROL_TOKEN:
        call_log.write(trace, status=status, code=code_of(body) if status != 200 else "")
    response = _response(body, status=status)
    if status == 200:
        response[TIME_HEADER] = str(structures.epoch(trace.now))
    return response


def code_of(body: dict[str, Any]) -> str:
    """Return the most telling name in an error's body."""
    return str(body.get("TurkErrorCode") or body["__type"])


def _answered(request: HttpRequest, trace: Trace) -> tuple[dict[str, Any], int]:
    """Return the JSON body and the HTTP status. Raises Unanswered."""
    try:
        return _answer(request, trace), 200
    except ApiError as error:
        return error.body, error.status
    except Refusal as refusal:
        return request_error(refusal.code, refusal.message).body, 400
    except OperationalError:
        # The database was too busy to lock; nothing was written, and boto3 tries again after a throttle.
        logger.warning("A requester's call was throttled", exc_info=True)
        return throttled().body, 400
    except Unanswered:
        raise
    except Exception:
        logger.exception("A requester's call failed")
        return service_fault().body, 500


def _answer(request: HttpRequest, trace: Trace) -> dict[str, Any]:
    raw = _raw_body(request)
    trace.requester = requester = authenticate(request)
    trace.operation = operation = _operation(request.headers.get("X-Amz-Target", ""))
    if settings.MARKETPLACE_RATE_LIMITS:
        _check_rate(requester, operation)
    fault = None
    if settings.MARKETPLACE_CONTROL_TOKEN:
        fault = Fault.objects.take_for_call(requester, operation=operation)
    if fault is not None:
        _before(fault)
    trace.body = body = validate(service_model.input_shape(operation), _json(raw))
    trace.now = now = deadlines.arrive()
    with transaction.atomic():
        answer = (OPERATIONS | OWN_OPERATIONS)[operation](Call(requester=requester, body=body, now=now))
    if fault is not None:
        _after(fault)
    return answer


def _check_rate(requester: Requester, operation: str) -> None:
    if not limits.may_call(requester, operation=operation, now=clock.now()):
        raise throttled()


def _before(fault: Fault) -> None:
    """Act a planned fault out that comes before the work."""
    if fault.kind == Fault.Kind.LAG:
        time.sleep(fault.seconds)
    elif fault.kind == Fault.Kind.THROTTLE:
        raise throttled()
    elif fault.kind == Fault.Kind.SERVICE_FAULT:
        raise service_fault()


def _after(fault: Fault) -> None:
    """Act a planned fault out that comes after the work was committed."""
    if fault.kind == Fault.Kind.TIMEOUT:
        time.sleep(fault.seconds)
        raise Unanswered


def _cut(request: HttpRequest) -> HttpResponse:
    """Close the connection under gunicorn, which then has nobody to answer; elsewhere answer 504."""
    connection = request.META.get("gunicorn.socket")
    if connection is not None:
        connection.shutdown(socket.SHUT_RDWR)
    return HttpResponse(status=504)


def _raw_body(request: HttpRequest) -> bytes:
    try:
        return request.body
    except RequestDataTooBig as error:
        raise ApiError(
            "RequestEntityTooLargeException", status=413, message="The request is too large."
        ) from error
    except UnreadablePostError as error:
        raise request_error("RequestError", "The connection ended before the request had arrived.") from error


def _operation(target: str) -> str:
    prefix, _, name = target.rpartition(".")
    known = {
        TARGET_PREFIX: service_model.operation_names(),
        OWN_PREFIX: service_model.own_operation_names(),
    }
    if name not in known.get(f"{prefix}.", ()):
        raise request_error("UnknownOperation", f'The operation "{name}" does not exist.')
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
