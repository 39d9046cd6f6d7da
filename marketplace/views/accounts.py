"""Signing in, joining, signing out, and what a worker has done."""

from django import forms
from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace import clock, engine_due, keys, ledger, qualifications
from marketplace.models import Assignment, Entry, Message, Qualification, Worker
from marketplace.views.session import SESSION_KEY, sign_in, worker_required

Status = Assignment.Status
SHOWN_PER_PAGE = 25


class SignInForm(forms.Form):
    """Worker id and access code, checked together so that neither is given away alone."""

    worker_id = forms.CharField(
        max_length=64,
        label="Worker id",
        widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "username"}),
    )
    access_code = forms.CharField(
        max_length=64,
        label="Access code",
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    worker: Worker

    def clean(self) -> dict[str, str]:
        worker_id = self.cleaned_data.get("worker_id", "").strip().upper()
        worker = Worker.objects.filter(worker_id=worker_id, is_active=True).first()
        if worker is None or not keys.check_code(worker, code=self.cleaned_data.get("access_code", "")):
            raise forms.ValidationError("This worker id and access code do not belong together.")
        self.worker = worker
        return self.cleaned_data


@require_http_methods(["GET", "POST"])
def sign_in_page(request: HttpRequest) -> HttpResponse:
    form = SignInForm(request.POST or None, label_suffix="")
    if request.method == "POST" and form.is_valid():
        sign_in(request, worker=form.worker)
        return redirect(_back(request))
    context = {"form": form, "next": _back(request), "may_join": settings.MARKETPLACE_OPEN_SIGNUP}
    return render(request, "marketplace/sign_in.html", context, status=422 if form.is_bound else 200)


def _back(request: HttpRequest) -> str:
    """Return where to go after signing in: a page of this site only."""
    given = request.POST.get("next") or request.GET.get("next") or "/"
    return given if url_has_allowed_host_and_scheme(given, allowed_hosts=None) else "/"


@require_POST
def join(request: HttpRequest) -> HttpResponse:
    """Make a worker in one click, and show the access code this once."""
    if not settings.MARKETPLACE_OPEN_SIGNUP:
        raise Http404
    worker, code = keys.create_worker()
    sign_in(request, worker=worker)
    response = render(
        request, "marketplace/joined.html", {"worker": worker, "code": code, "next": _back(request)}
    )
    response["Cache-Control"] = "no-store"
    return response


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    request.session.pop(SESSION_KEY, None)
    return redirect("hit-list")


@require_safe
@worker_required
def my_work(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Show the queue, what was submitted and decided, and the earnings."""
    engine_due.sweep(now=clock.now())
    rows = Assignment.objects.filter(worker=worker).select_related("hit__hit_type__requester")
    done = rows.filter(status__in=[Status.SUBMITTED, Status.APPROVED, Status.REJECTED]).order_by(
        "-submitted_at"
    )
    done = done.prefetch_related("bonuses")
    earned = Entry.objects.filter(assignment__worker=worker, target=Entry.Account.WORKERS).aggregate(
        cents=Sum("cents")
    )
    context = {
        "worker": worker,
        "queue": rows.filter(status=Status.OPEN).order_by("deadline"),
        "done": Paginator(done, SHOWN_PER_PAGE).get_page(request.GET.get("page")),
        "earned": ledger.dollars(earned["cents"] or 0),
        "record": qualifications.record_of(worker),
        "held": Qualification.objects.filter(worker=worker, status=Qualification.Status.GRANTED)
        .select_related("qualification_type__requester")
        .order_by("pk"),
        "messages_received": Message.objects.filter(worker=worker)
        .select_related("requester")
        .order_by("-pk")[:SHOWN_PER_PAGE],
        "waiting": rows.filter(status=Status.SUBMITTED).count(),
    }
    return render(request, "marketplace/my_work.html", context)
