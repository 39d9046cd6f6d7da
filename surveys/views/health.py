"""Is this server able to work?"""

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer "ok" if the database answers; a load balancer and the container's health check ask here."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok", content_type="text/plain", headers={"Cache-Control": "no-store"})
