"""Reviewing assignments: find them, and decide about many at once."""

from typing import Any

from django.contrib import admin, messages
from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotators.crowds.base import crowd_of
from annotators.models import Assignment
from surveys import sync
from surveys.enqueue import enqueue
from surveys.models import Batch
from surveys.pages.access import batch_for, researcher
from surveys.pages.review.decision_forms import BulkForm, FilterForm
from surveys.pages.review.decisions import suggested_reason, what_follows
from surveys.pages.review.listing import listed, query_of, thumbnails
from surveys.protocols.rules import PROPOSE
from surveys.review import errors
from surveys.review.by_hand import ACTIONS, record
from surveys.review.progress import urgent
from surveys.review.surplus import is_surplus

PER_PAGE = 25


@require_safe
@researcher("surveys.view_batch", "annotators.view_assignment")
def assignments(request: HttpRequest, pk: int) -> HttpResponse:
    """List a batch's assignments, the most urgent first."""
    batch = batch_for(request, pk)
    form = FilterForm(request.GET)
    proposed = Q(decision__verdict=PROPOSE, status=Assignment.Status.SUBMITTED)
    query = query_of(request)
    page = _page(listed(batch, form, reader=request.user), batch=batch, number=request.GET.get("page", "1"))
    context = {
        "batch": batch,
        "filter": form,
        "page": page,
        "can_select": any(found.status == Assignment.Status.SUBMITTED for found in page.object_list),
        "query": f"{query}&" if query else "",
        "walk": f"?{query}" if query else "",
        "thumbs": thumbnails(page.object_list),
        "n_proposed": Assignment.objects.filter(proposed, hit__questionnaire__batch=batch).count(),
    }
    return _render(request, "review/assignments.html", f"Assignments of {batch}", context)


@require_POST
@researcher("surveys.view_batch", "annotators.change_assignment")
def decide_many(request: HttpRequest, pk: int) -> HttpResponse:
    """Record the same decision about the selected assignments, once it is confirmed.

    What can't be decided is left as it is.
    """
    batch = batch_for(request, pk)
    form = BulkForm(request.POST, assignments=Assignment.objects.filter(hit__questionnaire__batch=batch))
    if form.is_valid() and not form.cleaned_data.pop("confirm"):
        return _confirm(request, batch, form)
    if form.is_valid():
        _decide_all(request, batch, **form.cleaned_data)
    else:
        messages.error(request, " ".join(str(text) for errors in form.errors.values() for text in errors))
    query = request.META["QUERY_STRING"]
    return redirect(reverse("assignments", args=[batch.pk]) + (f"?{query}" if query else ""))


def _confirm(request: HttpRequest, batch: Batch, form: BulkForm) -> HttpResponse:
    """Ask once more, and say what about: who is paid or not is not taken back by everybody."""
    data = form.cleaned_data
    selected = list(
        data["selected"].select_related("worker", "hit__questionnaire", "hit__hit_type").order_by("pk")
    )
    context = {
        "batch": batch,
        "action": data["action"],
        "verb": ACTIONS[data["action"]],
        "reason": data["reason"],
        "selected": selected,
        "total": batch.reward * sum(crowd_of(one).has_market for one in selected),
        "query": request.META["QUERY_STRING"],
    }
    return _render(request, "review/many.html", f"{ACTIONS[data['action']]} {len(selected)}", context)


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


def _page(found: QuerySet[Assignment], *, batch: Batch, number: str) -> Page[Any]:
    rows = found.select_related("worker", "hit__questionnaire", "decision__decided_by", "inclusion").annotate(
        is_surplus=is_surplus(), is_urgent=Exists(urgent(batch).filter(pk=OuterRef("pk")))
    )
    return Paginator(rows, PER_PAGE).get_page(number)


def _render(
    request: HttpRequest, template: str, title: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    common = {**admin.site.each_context(request), "title": title}
    return render(request, template, {**common, **context}, status=status)
