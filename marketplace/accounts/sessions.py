"""Who is signed in on the worker site, and who works in its frame."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext

from marketplace.models import Worker
from marketplace.refusals import WorkerRefusal

SESSION_KEY = "marketplace_worker"
# What a task posts comes from a frame of another site, with which a browser sends no session (SameSite=Lax). This
# cookie goes with it: it says who works here, opens nothing, and only the address that frames post to ever gets it.
# Signing out leaves it: a tab that is still open stays the tab of whoever worked in it.
FRAME_COOKIE = "marketplace_frame_worker"
FRAME_POSTS_TO = "/mturk/externalSubmit"
P = ParamSpec("P")
WorkerView = Callable[Concatenate[HttpRequest, Worker, P], HttpResponse]


def current_worker(request: HttpRequest) -> Worker | None:
    """Return the signed-in worker, unless the account was closed meanwhile."""
    pk = request.session.get(SESSION_KEY)
    return Worker.objects.filter(pk=pk, is_active=True).first() if pk else None


def lock_account(worker: Worker) -> None:
    """Lock an account, so that it is not erased meanwhile. Raises WorkerRefusal where it was, or was closed.

    To be called in a transaction; erasing waits for its end.
    """
    locked = Worker.objects.select_for_update(no_key=True).filter(pk=worker.pk).first()
    if locked is None or not locked.is_active:
        raise WorkerRefusal(gettext("This account is closed."))


def sign_in(request: HttpRequest, *, worker: Worker) -> None:
    request.session.cycle_key()
    request.session[SESSION_KEY] = worker.pk


def remember_in_frames(response: HttpResponse, *, worker: Worker) -> None:
    """Let what this browser's frames submit say whose it is.

    SameSite=None needs Secure, which browsers take over HTTPS and, without it, from localhost
    (https://w3c.github.io/webappsec-secure-contexts/#is-origin-trustworthy).
    """
    response.set_signed_cookie(
        FRAME_COOKIE,
        worker.worker_id,
        salt=FRAME_COOKIE,
        path=FRAME_POSTS_TO,
        secure=True,
        httponly=True,
        samesite="None",
    )


def submitting_worker_id(request: HttpRequest) -> str:
    """Return who submits: whoever is signed in, else who works in this browser's frames; "" where nobody does."""
    worker = current_worker(request)
    return worker.worker_id if worker else str(request.get_signed_cookie(FRAME_COOKIE, "", salt=FRAME_COOKIE))


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
