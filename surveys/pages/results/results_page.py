"""The page of one batch's results: what the answers say, and metrics beside them."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from surveys.models import Batch
from surveys.pages.access import batch_for, researcher
from surveys.pages.results.chosen_form import ChosenForm
from surveys.pages.results.responses import SEES_WORK
from surveys.pages.results.results import is_awaited, metric_results, results
from surveys.results import kept


@require_safe
@researcher("surveys.view_batch")
def batch_results(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what is kept of a published batch's results; a draft has none, and leads to its own page."""
    batch = batch_for(request, pk)
    if batch.status == Batch.Status.DRAFT:
        return redirect(batch)
    form = ChosenForm(request.GET, batch=batch)
    chosen = form.chosen
    shown = results(batch, chosen)
    metrics = metric_results(batch) if chosen.is_everything else None
    context = {
        **admin.site.each_context(request),
        "title": f"Results of {batch.name}",
        "batch": batch,
        "form": form,
        "is_chosen": not chosen.is_everything,
        "choice": chosen.as_query(),
        "answers_url": reverse("batch_responses", args=[batch.pk]),
        "review_url": reverse("assignments", args=[batch.pk]) if request.user.has_perm(SEES_WORK) else "",
        "report": shown,
        "results": shown and shown.value,
        "metrics_report": metrics,
        "metrics": metrics and metrics.value,
        "is_awaited": is_awaited(shown, metrics),
    }
    return render(request, "results/page.html", context)


@require_safe
@researcher("surveys.view_batch")
def results_progress(request: HttpRequest, pk: int) -> JsonResponse:
    """Answer with how far the batch's reports are, for the page that waits for one."""
    found = batch_for(request, pk)
    chosen = ChosenForm(request.GET, batch=found).chosen
    keys = [kept.report_key(found, chosen), *([kept.metrics_key(found)] if chosen.is_everything else [])]
    return JsonResponse({"reports": kept.progress(*keys)})
