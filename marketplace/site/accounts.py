"""Signing in, joining by oneself or by invitation, signing out."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from marketplace import clock
from marketplace.accounts import invitations, keys, limits
from marketplace.accounts.sessions import SESSION_KEY, current_worker, sign_in
from marketplace.models import Worker
from marketplace.refusals import WorkerRefusal


class SignInForm(forms.Form):
    """Worker id and access code, checked together so that neither is given away alone."""

    worker_id = forms.CharField(
        max_length=64,
        label=gettext_lazy("Worker id"),
        widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "username"}),
    )
    access_code = forms.CharField(
        max_length=64,
        label=gettext_lazy("Access code"),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    worker: Worker
    is_blocked = False

    def __init__(self, *args: Any, address: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.address = address

    def clean(self) -> dict[str, str]:
        worker_id = self.cleaned_data.get("worker_id", "").strip().upper()
        visitor = {"worker_id": worker_id, "address": self.address}
        if limits.is_blocked(**visitor, now=timezone.now()):
            self.is_blocked = True
            raise forms.ValidationError(gettext("Too many attempts have failed. Wait a quarter of an hour."))
        worker = Worker.objects.filter(worker_id=worker_id, is_active=True).first()
        if worker is None or not keys.check_code(worker, code=self.cleaned_data.get("access_code", "")):
            limits.note_failure(**visitor, now=timezone.now())
            raise forms.ValidationError(gettext("This worker id and access code do not belong together."))
        limits.forget(worker_id=worker_id)
        self.worker = worker
        return self.cleaned_data


@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_page(request: HttpRequest) -> HttpResponse:
    form = SignInForm(
        request.POST if request.method == "POST" else None,
        label_suffix="",
        address=limits.address_of(request),
    )
    if request.method == "POST" and form.is_valid():
        sign_in(request, worker=form.worker)
        return redirect(_back(request))
    context = {"form": form, "next": _back(request), "may_join": settings.MARKETPLACE_OPEN_SIGNUP}
    return render(request, "marketplace/site/sign_in.html", context, status=_status(form))


def _status(form: SignInForm) -> int:
    if form.is_blocked:
        return 429
    return 422 if form.is_bound else 200


def _back(request: HttpRequest) -> str:
    """Return where to go after signing in: a page of this site only."""
    given = request.POST.get("next") or request.GET.get("next") or "/"
    return given if url_has_allowed_host_and_scheme(given, allowed_hosts=None) else "/"


@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest) -> HttpResponse:
    """Make a worker in one click, and show the access code this once; sent again, it makes no second one."""
    if not settings.MARKETPLACE_OPEN_SIGNUP:
        raise Http404
    if request.method != "POST":
        return redirect("sign-in")
    if (worker := current_worker(request)) is not None:
        messages.info(
            request, gettext("You are signed in already, as %(worker)s.") % {"worker": worker.worker_id}
        )
        return redirect(_back(request))
    return _welcome(request, *keys.create_worker())


@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation; whoever takes it up becomes a worker, and sees the access code this once."""
    now = clock.now()
    if request.method == "POST":
        try:
            return _welcome(request, *invitations.take(token, now=now))
        except WorkerRefusal as refusal:
            messages.error(request, str(refusal))
    found = invitations.find(token, now=now)
    context = {"invitation": found, "worker": current_worker(request)}
    return render(request, "marketplace/site/invitation.html", context, status=200 if found else 410)


def _welcome(request: HttpRequest, worker: Worker, code: str) -> HttpResponse:
    sign_in(request, worker=worker)
    context = {"worker": worker, "code": code, "next": _back(request)}
    response = render(request, "marketplace/site/joined.html", context)
    response["Cache-Control"] = "no-store"
    return response


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session, and leave nothing behind that was answered here and has not arrived (work.js)."""
    request.session.pop(SESSION_KEY, None)
    response = redirect("hit-list")
    response["Clear-Site-Data"] = '"storage"'  # over HTTPS, and from localhost
    return response
