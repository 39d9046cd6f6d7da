"""One assignment: what was answered, and the decisions about its payment and about its use in the analysis."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotators.crowds.base import crowd_of
from annotators.failpoints import reach
from annotators.models import Assignment
from surveys import sync
from surveys.enqueue import enqueue
from surveys.models import Batch, Decision, Inclusion
from surveys.pages.access import batch_for, researcher
from surveys.pages.review.answers import answered_items
from surveys.pages.review.bonus import bonus_block
from surveys.pages.review.decision_forms import EXCLUDE, HOLD, RELEASE, FilterForm, UseForm
from surveys.pages.review.listing import place_of, query_of
from surveys.pages.review.trail import timeline
from surveys.protocols.rules import PROPOSE
from surveys.review import analysis_use, decisions, errors, replacements
from surveys.review.by_hand import ReasonForm, record
from surveys.review.decisions import rejection_stands

Status = Assignment.Status
FOLLOWS = {
    EXCLUDE: "The results follow it at once.",
    HOLD: "It waits for a person; what a marketplace has, it still approves by itself in its time.",
    RELEASE: "The rules decide again.",
}
PK = re.compile(r"[0-9]{1,18}", re.ASCII)  # what the database can hold
HANDED_IN = (Status.SUBMITTED, Status.APPROVED)


@dataclass(frozen=True, slots=True)
class Use:
    """Whether answers are used in the analysis, and what a person can change about that."""

    words: str
    can_exclude: bool = False
    can_include: bool = False
    can_replace: bool = False


def use_of(assignment: Assignment, *, is_replaced: bool) -> Use:
    """Say it of one assignment. `is_replaced`: somebody else gives, or is to give, its answers."""
    inclusion: Inclusion | None = getattr(assignment, "inclusion", None)
    if rejection_stands(assignment):
        return Use("Not used: it is rejected.")
    if assignment.status == Status.ACCEPTED:
        return Use("Not used: it is not handed in.")
    is_stopped = assignment.hit.questionnaire.batch.status == Batch.Status.STOPPED
    if inclusion and not inclusion.is_included:
        is_collected = inclusion.is_replaced and (is_replaced or not is_stopped)
        return Use("Left out, and collected once more." if is_collected else "Left out.", can_include=True)
    if assignment.status == Status.REJECTED:
        return Use("Used as soon as the marketplace has paid it.")
    return Use(
        "Used.", can_exclude=assignment.status in HANDED_IN, can_replace=not (is_replaced or is_stopped)
    )


@require_safe
@researcher("surveys.view_batch", "annotators.view_assignment")
def assignment(request: HttpRequest, pk: int, assignment_pk: int) -> HttpResponse:
    """Show one assignment: the decisions, the answers beside the gold ones, and what happened when."""
    return _detail(request, _assignment(batch_for(request, pk), assignment_pk))


@require_POST
@researcher("surveys.view_batch", "annotators.change_assignment")
def decide(request: HttpRequest, pk: int, assignment_pk: int) -> HttpResponse:
    """Record a person's decision about the payment; a task tells the marketplace."""
    assignment = _assignment(batch_for(request, pk), assignment_pk)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _detail(request, assignment, form=form)
    try:
        record(assignment, by=request.user, **form.cleaned_data)
    except errors.CannotDecide as error:
        return _refused(request, assignment, form=form, error=error)
    reach("decide.recorded")
    enqueue(sync.sync_hit, assignment.hit_id)
    reach("decide.requested")
    messages.success(
        request, f"Your decision is recorded. {what_follows([assignment], form.cleaned_data['action'])}"
    )
    return _go_on(request, assignment)


def _go_on(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """Lead to the assignment that stood next when the page was shown, where that was asked for, else back."""
    batch, then = assignment.hit.questionnaire.batch, request.POST.get("then", "")
    beside = Assignment.objects.filter(hit__questionnaire__batch=batch)
    shown = beside.filter(pk=int(then)).first() if PK.fullmatch(then) else None
    query = request.META["QUERY_STRING"]
    return redirect(
        reverse("assignment", args=[batch.pk, (shown or assignment).pk]) + (f"?{query}" if query else "")
    )


@require_POST
@researcher("surveys.view_batch", "annotators.change_assignment")
def use(request: HttpRequest, pk: int, assignment_pk: int) -> HttpResponse:
    """Record whether the answers are used in the analysis; a task opens what is to be collected once more."""
    assignment = _assignment(batch_for(request, pk), assignment_pk)
    form = UseForm(request.POST)
    if not form.is_valid():
        return _detail(request, assignment, form=form)
    try:
        _record_use(assignment, by=request.user, **form.cleaned_data)
    except errors.CannotDecide as error:
        return _refused(request, assignment, form=form, error=error)
    enqueue(sync.sync_hit, assignment.hit_id)
    messages.success(request, "Your decision is recorded. The results follow it at once.")
    return redirect("assignment", pk=pk, assignment_pk=assignment.pk)


def _refused(
    request: HttpRequest, assignment: Assignment, *, form: ReasonForm | UseForm, error: errors.CannotDecide
) -> HttpResponse:
    """Show the page as things stand by now, with what was typed."""
    messages.error(request, str(error))
    by_now = _assignment(assignment.hit.questionnaire.batch, assignment.pk)
    return _detail(request, by_now, form=form)


def suggested_reason(assignment: Assignment, *, batch: Batch) -> str:
    """Return the sentence a rejection would send: as it was proposed, or what the rules have hit; else empty."""
    decision: Decision | None = getattr(assignment, "decision", None)
    if decision and decision.verdict == PROPOSE:
        return decision.reason
    flags = decisions.decide(assignment, batch=batch).flags
    return " ".join(flag.sentence for flag in flags if flag.is_hit)


def what_follows(decided: Iterable[Assignment], action: str) -> str:
    """Return what happens next to what a person decided."""
    if action in FOLLOWS:
        return FOLLOWS[action]
    is_elsewhere = any(crowd_of(assignment).has_market for assignment in decided)
    return "The marketplace is told next." if is_elsewhere else "It takes effect in a moment."


def _record_use(assignment: Assignment, *, action: str, by: Any, reason: str, replace: bool) -> Inclusion:
    if action == "exclude":
        return analysis_use.exclude(assignment, by=by, reason=reason, replace=replace)
    return analysis_use.include(assignment, by=by, reason=reason)


def _assignment(batch: Batch, pk: int) -> Assignment:
    """Return one of the batch's assignments; 404 for anybody else's."""
    assignments = Assignment.objects.select_related(
        "worker",
        "hit__questionnaire__batch__survey",
        "decision__decided_by",
        "decision__overturned_by",
        "inclusion__decided_by",
    )
    return get_object_or_404(assignments, pk=pk, hit__questionnaire__batch=batch)


def _detail(
    request: HttpRequest, assignment: Assignment, *, form: ReasonForm | UseForm | None = None
) -> HttpResponse:
    batch, query = assignment.hit.questionnaire.batch, query_of(request)
    decision: Decision | None = getattr(assignment, "decision", None)
    is_replaced = replacements.is_replaced(assignment)
    context = {
        **admin.site.each_context(request),
        "title": f"Assignment of {assignment.worker}",
        "batch": batch,
        "assignment": assignment,
        "place": place_of(assignment, batch=batch, form=FilterForm(request.GET), reader=request.user),
        "walk": f"?{query}" if query else "",
        "decision": decision,
        "use": use_of(assignment, is_replaced=is_replaced),
        "items": answered_items(assignment, definition=batch.definition),
        "bonus": bonus_block(assignment, user=request.user),
        "timeline": timeline(assignment),
        "form": form,
        "typed": {form.data.get("action", ""): form.data} if form else {},
        "suggested_reason": suggested_reason(assignment, batch=batch)
        if assignment.status == Status.SUBMITTED
        else "",
        "can_overturn": decisions.can_overturn(assignment),
        "overturn_refused": decisions.overturn_refused(assignment),
        "is_replaced": assignment.status == Status.REJECTED and is_replaced,
    }
    return render(request, "review/assignment.html", context, status=422 if form else 200)
