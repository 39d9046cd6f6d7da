"""One qualification type as workers see it, their request for it, and its test on a page with a countdown."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from marketplace import clock
from marketplace.accounts.sessions import worker_required
from marketplace.models import Qualification, QualificationRequest, QualificationType, Worker
from marketplace.qualifications import qualification_requests
from marketplace.questions import question_forms
from marketplace.questions.answer_forms import AnswerForm
from marketplace.refusals import WorkerRefusal
from marketplace.site import frames

SHOWN = 100


@require_safe
@worker_required
def own_qualifications(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Show what a worker holds, has asked for, and which tests there are for them."""
    Status = QualificationRequest.Status
    granted = Qualification.objects.filter(worker=worker, status=Qualification.Status.GRANTED)
    asked = QualificationRequest.objects.filter(worker=worker).exclude(status=Status.GRANTED)
    known = {
        *granted.values_list("qualification_type", flat=True),
        *asked.values_list("qualification_type", flat=True),
    }
    tests = QualificationType.objects.filter(disposed_at=None, status=QualificationType.Status.ACTIVE)
    context = {
        "worker": worker,
        "held": granted.select_related("qualification_type__requester").order_by("-granted_at", "-pk"),
        "asked": asked.select_related("qualification_type__requester").order_by("-submitted_at", "-pk")[
            :SHOWN
        ],
        "tests": tests.exclude(test="")
        .exclude(pk__in=known)
        .select_related("requester")
        .order_by("name")[:SHOWN],
    }
    return render(request, "marketplace/site/qualifications.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@worker_required
def qualification(request: HttpRequest, worker: Worker, type_id: str) -> HttpResponse:
    kinds = QualificationType.objects.select_related("requester")
    kind = get_object_or_404(kinds, type_id=type_id, disposed_at=None)
    now = clock.now()
    if request.method == "POST":
        return redirect(_ask(request, worker, kind, now=now), type_id=type_id)
    context = {"worker": worker, "kind": kind, "obstacle": _obstacle(kind, worker=worker, now=now)}
    return render(
        request, "marketplace/site/qualification.html", context | _test(kind, worker=worker, now=now)
    )


def _ask(request: HttpRequest, worker: Worker, kind: QualificationType, *, now: datetime) -> str:
    """Ask for the qualification, or begin its test. Return the name of the page to go to."""
    if qualification_requests.running_test(kind, worker=worker, now=now):
        return "qualification-test"
    try:
        if kind.test:
            qualification_requests.start_test(kind, worker=worker, now=now)
            return "qualification-test"
        made = qualification_requests.submit(kind, worker=worker, now=now)
    except WorkerRefusal as refusal:
        messages.error(request, str(refusal))
        return "qualification"
    is_granted = made.status == QualificationRequest.Status.GRANTED
    granted, asked = gettext("The qualification is yours."), gettext("The requester will see your request.")
    messages.success(request, granted if is_granted else asked)
    return "qualification"


def _obstacle(kind: QualificationType, *, worker: Worker, now: datetime) -> str:
    """Return why the worker cannot ask now; empty when nothing is in the way."""
    try:
        qualification_requests.check(kind, worker=worker, now=now)
    except WorkerRefusal as refusal:
        return str(refusal)
    return ""


def _test(kind: QualificationType, *, worker: Worker, now: datetime) -> dict[str, Any]:
    """Return what the page says of the test, if there is one: its length, and what the worker has so far."""
    if not kind.test:
        return {}
    granted = Qualification.Status.GRANTED
    held = kind.qualifications.filter(worker=worker, status=granted).values_list("value", flat=True).first()
    return {
        "running": qualification_requests.running_test(kind, worker=worker, now=now),
        "questions": len(question_forms.read(kind.test).questions),
        "is_marked_at_once": bool(kind.answer_key),
        "held": held,
    }


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@worker_required
def qualification_test(request: HttpRequest, worker: Worker, type_id: str) -> HttpResponse:
    """Show the worker's test under way, or take its answers. Nothing of the AnswerKey is read here."""
    kind, now = get_object_or_404(QualificationType, type_id=type_id, disposed_at=None), clock.now()
    under_way = qualification_requests.running_test(kind, worker=worker, now=now)
    if under_way is None:
        if request.method == "POST":
            messages.error(request, qualification_requests.TIME_IS_UP)
        return redirect("qualification", type_id=type_id)
    asked = question_forms.read(under_way.test)
    form = AnswerForm(asked, request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return frames.page(request, "marketplace/site/qualification_test.html", _context(under_way, form))
    _hand_in(request, under_way, form)
    return redirect("qualification", type_id=type_id)


def _context(under_way: QualificationRequest, form: AnswerForm) -> dict[str, Any]:
    deadline = under_way.deadline or under_way.submitted_at
    return {
        "worker": under_way.worker,
        "kind": under_way.qualification_type,
        "form": form,
        "seconds_left": max(0, int((deadline - clock.now()).total_seconds())),
    }


def _hand_in(request: HttpRequest, under_way: QualificationRequest, form: AnswerForm) -> None:
    try:
        value = qualification_requests.hand_in_test(under_way, form=form, now=clock.now())
    except WorkerRefusal as refusal:
        messages.error(request, str(refusal))
        return
    if value is None:
        messages.success(request, gettext("The requester will see your answers and decide."))
    else:
        words = gettext("Your result is %(value)d. The qualification with this value is yours.")
        messages.success(request, words % {"value": value})
