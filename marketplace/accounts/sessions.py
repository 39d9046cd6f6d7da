"""Who is signed in on the worker site."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from marketplace.models import Worker

SESSION_KEY = "marketplace_worker"
P = ParamSpec("P")
WorkerView = Callable[Concatenate[HttpRequest, Worker, P], HttpResponse]


def current_worker(request: HttpRequest) -> Worker | None:
    """Return the signed-in worker, unless the account was closed meanwhile."""
    pk = request.session.get(SESSION_KEY)
    return Worker.objects.filter(pk=pk, is_active=True).first() if pk else None


def sign_in(request: HttpRequest, *, worker: Worker) -> None:
    request.session.cycle_key()
    request.session[SESSION_KEY] = worker.pk


def worker_required(view: WorkerView[P]) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Hand the signed-in worker to a view, or send the visitor to the sign-in page and back."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        worker = current_worker(request)
        if worker is None:
            back = request.get_full_path() if request.method in {"GET", "HEAD"} else "/"
            return redirect(f"{reverse('sign-in')}?{urlencode({'next': back})}")
        return view(request, worker, *args, **kwargs)

    return guarded
