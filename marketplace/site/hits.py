"""Previewing, accepting, doing and returning HITs; and going from one to the next, a switch kept in the session."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from marketplace.accounts.sessions import (
    current_worker,
    remember_in_frames,
    to_sign_in,
    visit,
    worker_required,
)
from marketplace.engine import assignments
from marketplace.models import HIT, Assignment, HITType, Worker
from marketplace.qualifications import requirements
from marketplace.questions import documents, hit_questions
from marketplace.questions.answer_forms import AnswerForm
from marketplace.questions.question_forms import QuestionForm
from marketplace.refusals import WorkerRefusal
from marketplace.site import frames
from marketplace.site.arrivals import arrive, arrive_with
from statements import Hole, Statement

SESSION_KEY = "marketplace_accept_next"
FIELD = "accept_next"
JUST_NOW = timedelta(minutes=1)
ACCEPT_TRIES = 5


def _hit_type(identifier: str) -> HITType:
    """Find a type by HITTypeId or HITGroupId; tools use either."""
    types = HITType.objects.select_related("requester")
    return get_object_or_404(types, Q(type_id=identifier) | Q(group_id=identifier))


def _offer(
    identifier: str,
    *,
    worker: Worker | None,
    now: datetime,
    ask: Callable[..., HIT | None],
) -> tuple[HITType, HIT | None]:
    """Return the type and the HIT that comes next, in one statement where there is one and the id is a HITTypeId."""
    if hit := ask(identifier, worker=worker, now=now):
        return hit.hit_type, hit
    hit_type = _hit_type(identifier)
    is_asked = hit_type.type_id == identifier
    return hit_type, None if is_asked else ask(hit_type, worker=worker, now=now)


@require_safe
def preview(request: HttpRequest, identifier: str) -> HttpResponse:
    now, oldest = arrive_with(request, assignments.OLDEST, hit_type=identifier)
    visitor = visit(request)
    worker = visitor.worker
    ask = partial(assignments.next_hit, oldest=next(iter(oldest), None))
    hit_type, hit = _offer(identifier, worker=worker, now=now, ask=ask)
    record = requirements.record_of(worker, hit_types=[hit_type], may_be_blocked=visitor.may_be_blocked)
    context = {
        "worker": worker,
        "hit_type": hit_type,
        "hit": hit,
        "requirements": requirements.lines(hit_type, record=record),
        "may_accept": requirements.may("Accept", hit_type, record=record),
        "accepts_next": _goes_to_next(request),
    }
    if hit and requirements.may("Preview", hit_type, record=record):
        context |= frames.shown(hit, language=_chosen_language(request))
    return frames.page(request, "marketplace/site/preview.html", context)


@require_POST
@worker_required
def accept(request: HttpRequest, worker: Worker, identifier: str) -> HttpResponse:
    """Accept the HIT that was shown, or the next of its type when somebody was quicker."""
    now, shown = arrive(request), documents.legal(request.POST.get("hitId", ""))
    _keep_switch(request)
    for attempt in range(ACCEPT_TRIES):
        try:
            accepted = _take(request, worker, identifier, shown="" if attempt else shown, now=now)
        except WorkerRefusal:
            continue
        if accepted is None:
            break
        return _to_work(accepted)
    hit_type = _hit_type(identifier)
    problem = (
        gettext("There is no more of these HITs for you at the moment.")
        if _may_accept(request, hit_type)
        else gettext("Your account does not meet the requirements of these HITs.")
    )
    messages.error(request, problem)
    return redirect("preview", identifier=hit_type.type_id)


@transaction.atomic
def _take(
    request: HttpRequest, worker: Worker, identifier: str, *, shown: str, now: datetime
) -> Assignment | None:
    """Accept the HIT of this HITId if it is of the type, else the next; None where there is none they may accept.

    Whether they may is asked under the HIT's lock, of the few types that ask for something. Raises WorkerRefusal when
    somebody was quicker.
    """
    hit = HIT.objects.locked_by_name(shown, of=identifier) if shown else None
    if hit is None:
        hit = _offer(identifier, worker=worker, now=now, ask=assignments.lock_next)[1]
    may_accept = hit is not None and _may_accept(request, hit.hit_type)
    return assignments.accept_locked(hit, worker=worker, now=now) if hit and may_accept else None


def _may_accept(request: HttpRequest, hit_type: HITType) -> bool:
    visitor = visit(request)
    record = requirements.record_of(
        visitor.worker, hit_types=[hit_type], may_be_blocked=visitor.may_be_blocked
    )
    return requirements.may("Accept", hit_type, record=record)


def _to_work(assignment: Assignment) -> HttpResponse:
    hit = assignment.hit
    address = reverse("work", kwargs={"identifier": hit.hit_type.type_id, "hit_id": hit.hit_id})
    return redirect(f"{address}?assignment_id={assignment.assignment_id}")


@require_safe  # and not `worker_required`, which would ask who visits before a statement can go along
def work(request: HttpRequest, identifier: str, hit_id: str) -> HttpResponse:
    now, found = arrive_with(request, LATEST_OF_HIT, hit_id=hit_id)
    if (worker := current_worker(request)) is None:
        return to_sign_in(request)
    if not found:
        raise Http404("You have no such assignment.")
    (assignment,) = found
    if assignment.status != Assignment.Status.OPEN:
        address = reverse("after", kwargs={"assignment_id": assignment.assignment_id})
        return redirect(f"{address}?stay")
    context = _work_context(assignment, now=now)
    task = frames.shown(assignment.hit, assignment, language=_chosen_language(request))
    response = _work_page(request, context | task)
    remember_in_frames(response, worker=worker)
    return response


def _chosen_language(request: HttpRequest) -> str:
    """Return the language the worker chose on this site; "" where the browser's is good enough for both."""
    return str(getattr(request, "chosen_language", ""))


def _theirs(**lookup: Hole) -> QuerySet[Assignment]:
    """Return a worker's own latest go."""
    rows = Assignment.objects.filter(worker=Hole("worker", Worker._meta.pk), **lookup)
    return rows.select_related("hit__hit_type__requester", "worker").order_by("-pk")[:1]


LATEST_OF_HIT = Statement(lambda: _theirs(hit__hit_id=Hole("hit_id", HIT._meta.get_field("hit_id"))))
LATEST = Statement(
    lambda: _theirs(assignment_id=Hole("assignment_id", Assignment._meta.get_field("assignment_id")))
)


def _latest(worker: Worker, *, assignment_id: str) -> Assignment:
    """Return the worker's own latest go; the same AssignmentId may by now be another worker's."""
    found = LATEST.first(worker=worker.pk, assignment_id=assignment_id)
    if found is None:
        raise Http404("You have no such assignment.")
    return found


def _work_context(assignment: Assignment, *, now: datetime) -> dict[str, Any]:
    """Return what the page of an accepted HIT says besides the task."""
    return {
        "worker": assignment.worker,
        "assignment": assignment,
        "hit_type": assignment.hit.hit_type,
        "seconds_left": int((assignment.deadline - now).total_seconds()),
        "more_seconds": int(assignments.more_time(assignment).total_seconds()),
    }


def _work_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Answer with the page of an accepted HIT.

    Where the task is in a frame, the page that Back comes to is asked for again: the time goes on, and the HIT may be
    submitted. A form of our own stays in the browser, with what was typed into it (countdown.js).
    """
    template = "marketplace/site/work_form.html" if "form" in context else "marketplace/site/work.html"
    response = frames.page(request, template, context | {"accepts_next": _goes_to_next(request)})
    if "frame" in context:
        response["Cache-Control"] = "no-store"
    return response


@require_POST
@worker_required
def answer(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    """Record the answers, or show the form again with the first gap focused."""
    now = arrive(request)
    assignment = _latest(worker, assignment_id=assignment_id)
    if assignment.status != Assignment.Status.OPEN:
        return redirect("after", assignment_id=assignment_id)
    form = _form(request, assignment)
    if not form.is_valid():
        context = _work_context(assignment, now=now)
        return _work_page(request, context | {"form": form})
    try:
        assignments.submit(assignment, answer=form.document(), now=now)
    except WorkerRefusal as refusal:
        messages.error(request, str(refusal))
    return redirect("after", assignment_id=assignment_id)


def _form(request: HttpRequest, assignment: Assignment) -> AnswerForm:
    question = hit_questions.parse(assignment.hit.question)
    if not isinstance(question, QuestionForm):
        raise Http404("This HIT is answered in its frame.")
    return AnswerForm(question, request.POST)


@require_POST
@worker_required
def give_back(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    """Return a HIT; `ask` asks first, for nobody here knows what was answered in a frame."""
    now = arrive(request)
    assignment = _latest(worker, assignment_id=assignment_id)
    if "ask" in request.POST and assignment.status == Assignment.Status.OPEN:
        return render(request, "marketplace/site/returning.html", _work_context(assignment, now=now))
    try:
        assignments.give_back(assignment, now=now)
    except WorkerRefusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, gettext("You returned the HIT. Returning does not count against you."))
    return redirect("preview", identifier=assignment.hit.hit_type.type_id)


@require_POST
@worker_required
def more_time(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    """Give more time, once. A script is told the seconds left, whoever gave them, and leaves the task as it is."""
    now = arrive(request)
    assignment = _latest(worker, assignment_id=assignment_id)
    try:
        assignments.extend(assignment, now=now)
    except WorkerRefusal as refusal:
        problem = str(refusal)
    else:
        problem = ""
    assignment.refresh_from_db(fields=["deadline"])
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"seconds": max(0, (assignment.deadline - now).total_seconds())})
    if problem:
        messages.error(request, problem)
    return _to_work(assignment)


@require_safe
@worker_required
def after(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    """Say what became of an assignment, and offer the next of the queue or the next HIT of the same kind."""
    now = arrive(request)
    assignment = _latest(worker, assignment_id=assignment_id)
    hit_type = assignment.hit.hit_type
    may_accept = _may_accept(request, hit_type)
    context = {
        "worker": worker,
        "assignment": assignment,
        "hit_type": hit_type,
        "queued": _queued(worker),
        "next_hit": assignments.next_hit(hit_type, worker=worker, now=now) if may_accept else None,
        "accepts_next": _goes_to_next(request),
        "goes_on": _goes_on(request, assignment, now=now),
    }
    return render(request, "marketplace/site/after.html", context)


def _queued(worker: Worker) -> Assignment | None:
    """Return the open assignment that has to be done first."""
    return QUEUED.first(worker=worker.pk)


QUEUED = Statement(
    lambda: (
        Assignment.objects.filter(worker=Hole("worker", Worker._meta.pk), status=Assignment.Status.OPEN)
        .select_related("hit__hit_type")
        .order_by("deadline", "pk")[:1]
    )
)


def _goes_on(request: HttpRequest, assignment: Assignment, *, now: datetime) -> bool:
    """Tell whether the page may go on by itself: just submitted, and not come back to (`?stay`)."""
    submitted_at = assignment.submitted_at
    is_new = submitted_at is not None and now - submitted_at < JUST_NOW
    return _goes_to_next(request) and is_new and "stay" not in request.GET


def _goes_to_next(request: HttpRequest) -> bool:
    """Tell whether the worker wants to go from one HIT to the next."""
    return bool(request.session.get(SESSION_KEY, False))


def _keep_switch(request: HttpRequest) -> None:
    """Keep what a form with the switch on it says; a session that says so already is not written."""
    if (is_on := FIELD in request.POST) != _goes_to_next(request):
        request.session[SESSION_KEY] = is_on


@require_POST
@worker_required
def accept_next(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Turn the switch while a HIT is open; the page stays as it is."""
    _keep_switch(request)
    return HttpResponse(status=204)
