"""Reviewing assignments: find them, read one, decide about one or many."""

from typing import Any

from django.contrib import admin, messages
from django.core.paginator import Page, Paginator
from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotators.models import Assignment, Channel
from surveys import review, tasks
from surveys.forms.review import UNDECIDED, BulkForm, FilterForm, ReasonForm
from surveys.models import Batch, Decision
from surveys.overview import warning_time
from surveys.policies import APPROVE
from surveys.views.access import researcher
from surveys.views.answers import answered_items
from surveys.views.enqueue import enqueue
from surveys.views.timeline import timeline

PER_PAGE = 50


@require_safe
@researcher("surveys.view_batch", "annotators.view_assignment")
def assignments(request: HttpRequest, pk: int) -> HttpResponse:
    """List a batch's assignments, the most urgent first."""
    batch = _batch(pk)
    form = FilterForm(request.GET)
    page = _page(_filtered(batch, form), number=request.GET.get("page", "1"))
    context = {
        "batch": batch,
        "filter": form,
        "page": page,
        "query": _query(request),
        "urgent_before": timezone.now() + warning_time(batch),
    }
    return _render(request, "researcher/assignments.html", f"Assignments of {batch}", context)


@require_safe
@researcher("surveys.view_batch", "annotators.view_assignment")
def assignment(request: HttpRequest, pk: int, assignment_pk: int) -> HttpResponse:
    """Show one assignment: the answers beside the gold ones, and what happened when."""
    batch = _batch(pk)
    return _detail(request, batch, _assignment(batch, assignment_pk))


@require_POST
@researcher("surveys.view_batch", "annotators.change_assignment")
def decide(request: HttpRequest, pk: int, assignment_pk: int) -> HttpResponse:
    """Record one decision by a person; a task tells the marketplace."""
    batch = _batch(pk)
    found = _assignment(batch, assignment_pk)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _detail(request, batch, found, form=form)
    try:
        _record(found, form.cleaned_data["action"], by=request.user, reason=form.cleaned_data["reason"])
    except review.CannotDecide as error:
        messages.error(request, str(error))
    else:
        enqueue(tasks.sync_hit, found.hit_id)
        messages.success(request, f"Your decision is recorded. {_what_follows({found})}")
    return redirect("assignment", pk=batch.pk, assignment_pk=found.pk)


@require_POST
@researcher("surveys.view_batch", "annotators.change_assignment")
def decide_many(request: HttpRequest, pk: int) -> HttpResponse:
    """Record the same decision about the selected assignments. What can't be decided is left as it is."""
    batch = _batch(pk)
    form = BulkForm(request.POST, assignments=Assignment.objects.filter(hit__questionnaire__batch=batch))
    if form.is_valid():
        _decide_all(request, batch, **form.cleaned_data)
    else:
        messages.error(request, " ".join(str(text) for errors in form.errors.values() for text in errors))
    query = request.META["QUERY_STRING"]
    return redirect(reverse("assignments", args=[batch.pk]) + (f"?{query}" if query else ""))


def _decide_all(
    request: HttpRequest, batch: Batch, *, action: str, reason: str, selected: QuerySet[Assignment]
) -> None:
    done, refused = set(), []
    for found in selected.select_related("worker").prefetch_related("responses"):
        try:
            _record(
                found,
                action,
                by=request.user,
                reason=reason or suggested_reason(found, batch=batch, action=action),
            )
        except review.CannotDecide as error:
            refused.append(f"{found.worker}: {error}")
        else:
            done.add(found)
    for hit_pk in {found.hit_id for found in done}:
        enqueue(tasks.sync_hit, hit_pk)
    if done:
        messages.success(request, f"{len(done)} decided. {_what_follows(done)}")
    if refused:
        messages.error(request, f"{len(refused)} could not be decided. {' '.join(refused[:3])}")


def _what_follows(decided: set[Assignment]) -> str:
    is_elsewhere = any(assignment.channel == Channel.MARKETPLACE for assignment in decided)
    return "The marketplace is told next." if is_elsewhere else "It takes effect in a moment."


def suggested_reason(assignment: Assignment, *, batch: Batch, action: str = "reject") -> str:
    """Return the sentence the batch's policy would send with a rejection; empty if it would not reject."""
    verdict = review.decide(assignment, batch=batch)
    is_graded = verdict.n_graded == len(assignment.responses.all())
    return verdict.reason if action == "reject" and is_graded and verdict.verdict != APPROVE else ""


def _record(found: Assignment, action: str, *, by: Any, reason: str) -> Decision:
    if action == "approve":
        return review.approve(found, by=by, reason=reason)
    if action == "reject":
        return review.reject(found, by=by, reason=reason)
    return review.overturn(found, by=by, reason=reason)


def _batch(pk: int) -> Batch:
    return get_object_or_404(Batch.objects.select_related("survey"), pk=pk)


def _assignment(batch: Batch, pk: int) -> Assignment:
    """Return one of the batch's assignments; 404 for anybody else's."""
    assignments = Assignment.objects.select_related(
        "worker", "hit__questionnaire", "decision__decided_by", "decision__overturned_by"
    )
    return get_object_or_404(assignments, pk=pk, hit__questionnaire__batch=batch)


def _filtered(batch: Batch, form: FilterForm) -> QuerySet[Assignment]:
    wanted = form.cleaned_data if form.is_valid() else {}
    found = Assignment.objects.filter(hit__questionnaire__batch=batch)
    if status := wanted.get("status"):
        found = found.filter(status=status)
    if verdict := wanted.get("verdict"):
        found = (
            found.filter(decision=None) if verdict == UNDECIDED else found.filter(decision__verdict=verdict)
        )
    if worker := wanted.get("worker"):
        found = found.filter(worker__worker_id__icontains=worker)
    if hit := wanted.get("hit"):
        found = found.filter(hit__hit_id=hit)
    return found


def _query(request: HttpRequest) -> str:
    """Return the filter as the start of another page's query."""
    kept = request.GET.copy()
    kept.pop("page", None)
    return f"{kept.urlencode()}&" if kept else ""


def _page(found: QuerySet[Assignment], *, number: str) -> Page[Any]:
    undecided_first = Case(
        When(status=Assignment.Status.SUBMITTED, then=Value(0)), default=Value(1), output_field=IntegerField()
    )
    rows = (
        found.select_related("worker", "hit__questionnaire", "decision__decided_by")
        .annotate(
            n_right=Count("responses", filter=Q(responses__is_correct=True)),
            n_graded=Count("responses", filter=Q(responses__is_correct__isnull=False)),
        )
        .order_by(undecided_first, "auto_approval_at", "pk")
    )
    return Paginator(rows, PER_PAGE).get_page(number)


def _detail(
    request: HttpRequest, batch: Batch, found: Assignment, *, form: ReasonForm | None = None
) -> HttpResponse:
    decision: Decision | None = getattr(found, "decision", None)
    context = {
        "batch": batch,
        "assignment": found,
        "decision": decision,
        "items": answered_items(found, definition=batch.definition),
        "timeline": timeline(found, decision=decision),
        "form": form,
        "suggested_reason": suggested_reason(found, batch=batch),
        "can_overturn": found.status == Assignment.Status.REJECTED and _in_time(found),
    }
    status = 422 if form else 200
    return _render(
        request, "researcher/assignment.html", f"Assignment of {found.worker}", context, status=status
    )


def _in_time(found: Assignment) -> bool:
    return found.submitted_at is not None and timezone.now() <= found.submitted_at + review.OVERTURN_WITHIN


def _render(
    request: HttpRequest, template: str, title: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    common = {**admin.site.each_context(request), "title": title}
    return render(request, template, {**common, **context}, status=status)
