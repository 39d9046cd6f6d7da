"""Is this server alive, can it work, and how much is there to do?"""

from ipaddress import ip_address

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from annotators.outbox import holds
from surveys.operations import disk, gauges, health

NO_STORE = {"Cache-Control": "no-store"}
OF_A_PROXY = (
    "HTTP_FORWARDED",
    "HTTP_X_FORWARDED",
    "HTTP_X_REAL_IP",
    "HTTP_VIA",
    "HTTP_CF_",
)  # and what begins so


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer "ok" if the database answers, and how little room is left on the disk where it is little.

    A load balancer and the container's health check ask here.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    said = f"ok, but {disk.free_share():.1%} of the disk is free" if disk.is_low() else "ok"
    return HttpResponse(said, content_type="text/plain", headers=NO_STORE)


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 if database, broker, a worker and beat are all there, else 503; the JSON says which is not.

    It names the version that answers, so that whoever upgrades sees that it is the new one.
    """
    checks = dict(health.readiness())
    if locked := disk.unwritable():
        checks["disk"] = {"state": "unwritable", "folders": locked}
    elif disk.is_low():
        checks["disk"] = {"state": "low", "free_share": round(disk.free_share(), 3)}
    is_ready = all(check["state"] == "ok" for check in checks.values())
    status = "ready" if is_ready else "not ready"
    answer = {"status": status, "version": settings.VERSION, "checks": checks}
    if checks["database"]["state"] == "ok" and holds.current():
        answer["sending"] = holds.HELD
    return JsonResponse(answer, status=200 if is_ready else 503, headers=NO_STORE)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with Prometheus' text to whoever holds METRICS_TOKEN; without one, to this machine only."""
    if settings.METRICS_TOKEN and not _holds_token(request):
        return HttpResponse("A bearer token is needed.\n", status=401, headers={"WWW-Authenticate": "Bearer"})
    if not settings.METRICS_TOKEN and not _is_from_here(request):
        return HttpResponse("From this machine only.\n", status=403, content_type="text/plain")
    return HttpResponse(gauges.measure(), content_type=CONTENT_TYPE_PLAIN_0_0_4, headers=NO_STORE)


def _holds_token(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and constant_time_compare(token.strip(), settings.METRICS_TOKEN)


def _is_from_here(request: HttpRequest) -> bool:
    """Tell whether it comes from a loopback address, and not through a proxy that stands there."""
    if any(name.startswith(OF_A_PROXY) for name in request.META):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
