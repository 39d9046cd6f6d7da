"""One qualification type as workers see it, and their request for it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from marketplace import clock, qualification_requests
from marketplace.errors import WorkerRefusal
from marketplace.models import QualificationRequest, QualificationType, Worker
from marketplace.views.session import worker_required


@require_http_methods(["GET", "POST"])
@worker_required
def qualification(request: HttpRequest, worker: Worker, type_id: str) -> HttpResponse:
    kinds = QualificationType.objects.select_related("requester")
    kind = get_object_or_404(kinds, type_id=type_id, disposed_at=None)
    if request.method == "POST":
        _request(request, worker, kind)
        return redirect("qualification", type_id=type_id)
    context = {"worker": worker, "kind": kind, "obstacle": _obstacle(kind, worker=worker)}
    return render(request, "marketplace/qualification.html", context)


def _request(request: HttpRequest, worker: Worker, kind: QualificationType) -> None:
    try:
        made = qualification_requests.submit(kind, worker=worker, now=clock.now())
    except WorkerRefusal as refusal:
        messages.error(request, str(refusal))
        return
    if made.status == QualificationRequest.Status.GRANTED:
        messages.success(request, "The qualification is yours.")
    else:
        messages.success(request, "The requester will see your request.")


def _obstacle(kind: QualificationType, *, worker: Worker) -> str:
    """Return why the worker cannot ask now; empty when nothing is in the way."""
    try:
        qualification_requests.check(kind, worker=worker, now=clock.now())
    except WorkerRefusal as refusal:
        return str(refusal)
    return ""
