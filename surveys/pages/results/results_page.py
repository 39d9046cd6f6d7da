"""The page of results, of one batch or of several of a study: what the answers say, and metrics beside them."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from surveys.models import Batch
from surveys.pages.access import batch_for, researcher, study_for
from surveys.pages.results.chosen_form import ChosenForm
from surveys.pages.results.responses import SEES_WORK
from surveys.pages.results.results import is_awaited, metric_results, results
from surveys.pages.results.scope import Scope, of_batch, of_study, published
from surveys.results import kept
from surveys.results.reports import wait_for
from surveys.studies import scoring


@require_safe
@researcher("surveys.view_batch")
def batch_results(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what is kept of a published batch's results; a draft has none, and leads to its own page."""
    batch = batch_for(request, pk)
    if batch.status == Batch.Status.DRAFT:
        return redirect(batch)
    return _page(request, Scope(batch.survey, (batch,), batch), batch=batch)


@require_safe
@researcher("surveys.view_batch")
def study_results(request: HttpRequest, slug: str, batches: str = "") -> HttpResponse:
    """Show what is kept of the results of a study's batches together; ticked, lead to the address of those."""
    survey = study_for(request, slug)
    if ticked := [pk for pk in request.GET.getlist("batch") if pk.isdecimal()]:
        return redirect("study_results_of", slug, ",".join(dict.fromkeys(ticked)))
    scope = of_study(request, slug, batches)
    if scope is None:
        return redirect("study", slug)
    return _page(request, scope, survey=survey, to_choose=published(survey))


def _page(request: HttpRequest, scope: Scope, **more: Any) -> HttpResponse:
    form = ChosenForm(request.GET, batches=scope.batches)
    chosen = form.chosen
    shown = results(scope.batches, chosen)
    metrics = metric_results(scope.batches) if chosen.is_everything else None
    if is_awaited(shown):
        key, text = kept.report_key(scope.batches, chosen), f"The results of {scope.name} are ready."
        wait_for(key, person=request.user, text=text, url=request.get_full_path())
    context = {
        **admin.site.each_context(request),
        "title": f"Results of {scope.name}",
        "scope": scope,
        "form": form,
        "is_chosen": not chosen.is_everything,
        "choice": chosen.as_query(),
        "answers_url": scope.answers_url,
        "review_url": scope.review_url if request.user.has_perm(SEES_WORK) else "",
        "report": shown,
        "results": shown and shown.value,
        "metrics_report": metrics,
        "metrics": metrics and metrics.value,
        "awaits_scores": metrics is None and chosen.is_everything and scoring.awaits_scores(scope.survey),
        "is_awaited": is_awaited(shown, metrics),
        **more,
    }
    return render(request, "results/page.html", context)


@require_safe
@researcher("surveys.view_batch")
def results_progress(request: HttpRequest, pk: int) -> JsonResponse:
    """Answer with how far the batch's reports are, for the page that waits for one."""
    return _progress(request, of_batch(request, pk))


@require_safe
@researcher("surveys.view_batch")
def study_results_progress(request: HttpRequest, slug: str, batches: str) -> JsonResponse:
    """Answer with how far the reports of these batches together are."""
    scope = of_study(request, slug, batches)
    return _progress(request, scope) if scope else JsonResponse({"reports": []})


def _progress(request: HttpRequest, scope: Scope) -> JsonResponse:
    chosen = ChosenForm(request.GET, batches=scope.batches).chosen
    keys = [
        kept.report_key(scope.batches, chosen),
        *([kept.metrics_key(scope.batches)] if chosen.is_everything else []),
    ]
    return JsonResponse({"reports": kept.progress(*keys)})
