"""Reviewing assignments: find them, and decide about many at once."""

from typing import Any

from django.contrib import admin, messages
from django.core.paginator import Page, Paginator
from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotators.models import Assignment
from surveys import sync
from surveys.models import Batch, is_used
from surveys.pages.access import batch_for, researcher
from surveys.pages.enqueue import enqueue
from surveys.pages.review.decision_forms import LEFT_OUT, UNDECIDED, USED, BulkForm, FilterForm
from surveys.pages.review.decisions import record, suggested_reason, what_follows
from surveys.protocols.rules import PROPOSE
from surveys.review import errors
from surveys.review.progress import undecided, urgent
from surveys.review.surplus import is_surplus

PER_PAGE = 50
_OF_USE = {USED: is_used(), LEFT_OUT: Q(inclusion__is_included=False)}


@require_safe
@researcher("surveys.view_batch", "annotators.view_assignment")
def assignments(request: HttpRequest, pk: int) -> HttpResponse:
    """List a batch's assignments, the most urgent first."""
    batch = batch_for(request, pk)
    form = FilterForm(request.GET)
    proposed = Q(decision__verdict=PROPOSE, status=Assignment.Status.SUBMITTED)
    page = _page(_filtered(batch, form), batch=batch, number=request.GET.get("page", "1"))
    context = {
        "batch": batch,
        "filter": form,
        "page": page,
        "can_select": any(found.status == Assignment.Status.SUBMITTED for found in page.object_list),
        "query": _query(request),
        "n_proposed": Assignment.objects.filter(proposed, hit__questionnaire__batch=batch).count(),
    }
    return _render(request, "review/assignments.html", f"Assignments of {batch}", context)


@require_POST
@researcher("surveys.view_batch", "annotators.change_assignment")
def decide_many(request: HttpRequest, pk: int) -> HttpResponse:
    """Record the same decision about the selected assignments. What can't be decided is left as it is."""
    batch = batch_for(request, pk)
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
    related = ("worker", "decision", "hit__questionnaire__batch")
    for found in selected.select_related(*related).prefetch_related("responses"):
        try:
            own = suggested_reason(found, batch=batch) if action == "reject" else ""
            record(found, action, by=request.user, reason=reason or own)
        except errors.CannotDecide as error:
            refused.append(f"{found.worker}: {error}")
        else:
            done.add(found)
    for hit_pk in {found.hit_id for found in done}:
        enqueue(sync.sync_hit, hit_pk)
    if done:
        messages.success(request, f"{len(done)} decided. {what_follows(done)}")
    if refused:
        messages.error(request, f"{len(refused)} could not be decided. {' '.join(refused[:3])}")


def _filtered(batch: Batch, form: FilterForm) -> QuerySet[Assignment]:
    wanted = form.cleaned_data if form.is_valid() else {}
    found = Assignment.objects.filter(hit__questionnaire__batch=batch)
    if status := wanted.get("status"):
        found = found.filter(status=status)
    if verdict := wanted.get("verdict"):
        found = (
            found.filter(decision=None) if verdict == UNDECIDED else found.filter(decision__verdict=verdict)
        )
    if use := wanted.get("use"):
        found = found.filter(_OF_USE[use])
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


def _page(found: QuerySet[Assignment], *, batch: Batch, number: str) -> Page[Any]:
    undecided_first = Case(
        When(pk__in=undecided(), then=Value(0)), default=Value(1), output_field=IntegerField()
    )
    rows = (
        found.select_related("worker", "hit__questionnaire", "decision__decided_by", "inclusion")
        .annotate(
            n_right=Count("responses", filter=Q(responses__is_correct=True, responses__is_repeat=False)),
            n_graded=Count(
                "responses", filter=Q(responses__is_correct__isnull=False, responses__is_repeat=False)
            ),
            is_surplus=is_surplus(),
            is_urgent=Exists(urgent(batch).filter(pk=OuterRef("pk"))),
        )
        .order_by(undecided_first, F("auto_approval_at").asc(nulls_last=True), "pk")
    )
    return Paginator(rows, PER_PAGE).get_page(number)


def _render(
    request: HttpRequest, template: str, title: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    common = {**admin.site.each_context(request), "title": title}
    return render(request, template, {**common, **context}, status=status)
