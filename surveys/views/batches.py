"""One batch: what it will cost, how far it is, what came out; publish and stop."""

from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.paginator import Page, Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotators.models import Assignment, Endpoint
from surveys import publishing, tasks
from surveys.forms.batch import ENDPOINTS, PublishForm, is_paying, policy_in_words
from surveys.forms.durations import in_words
from surveys.models import Batch
from surveys.overview import urgent, warning_time
from surveys.quota import has_slots
from surveys.views.access import researcher
from surveys.views.downloads import downloads
from surveys.views.enqueue import enqueue
from surveys.views.metric_results import metric_results
from surveys.views.results import results

HITS_PER_PAGE = 30
RUNNING = (Batch.Status.PUBLISHING, Batch.Status.OPEN)


@require_safe
@researcher("surveys.view_batch")
def batch(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a batch: a draft with its price, a published one with its progress and results."""
    found = _batch(pk)
    form = PublishForm(batch=found)
    return render(request, "researcher/batch.html", _context(request, found, form=form))


@require_safe
@researcher("surveys.view_batch")
def progress(request: HttpRequest, pk: int) -> JsonResponse:
    """Answer with the batch's counts, for the page that shows them."""
    found = _batch(pk)
    counts = publishing.progress(found)
    derived = {"n_kept": counts.n_kept, "n_urgent": urgent(found).count()}
    return JsonResponse({**asdict(counts), **derived})


@require_POST
@researcher("surveys.publish_batch")
def publish(request: HttpRequest, pk: int) -> HttpResponse:
    """Publish a draft. Sent twice, the second changes nothing."""
    found = _batch(pk)
    form = PublishForm(request.POST, batch=found)
    if found.status == Batch.Status.DRAFT and not form.is_valid():
        return render(request, "researcher/batch.html", _context(request, found, form=form), status=422)
    try:
        is_first = publishing.start_publishing(found)
    except publishing.CannotPublish as error:
        messages.error(request, str(error))
        return redirect(found)
    if is_first:
        enqueue(tasks.publish_batch, found.pk)
        messages.success(request, "Publishing has started.")
    else:
        messages.info(request, "This batch is published already.")
    return redirect(found)


@require_http_methods(["GET", "HEAD", "POST"])
@researcher("surveys.publish_batch")
def stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, then take no more workers."""
    found = _batch(pk)
    if request.method != "POST":
        counts = publishing.progress(found)
        context = {**admin.site.each_context(request), "title": f"Stop {found.name}?", "batch": found}
        return render(request, "researcher/stop.html", {**context, "progress": counts})
    if publishing.stop(found):
        enqueue(tasks.expire_batch, found.pk)
        messages.success(request, "The batch is stopped. Its HITs are taken off the marketplace.")
    else:
        messages.info(request, "This batch is not running.")
    return redirect(found)


@require_POST
@researcher("surveys.publish_batch")
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Try HITs again that the marketplace refused."""
    found = _batch(pk)
    publishing.retry_refused(found)
    enqueue(tasks.publish_batch, found.pk)
    messages.success(request, "Trying again.")
    return redirect(found)


@require_POST
@researcher("surveys.view_batch", "annotators.change_assignment")
def sync(request: HttpRequest, pk: int) -> HttpResponse:
    """Fetch what workers have submitted now instead of at the next sweep."""
    found = _batch(pk)
    enqueue(tasks.sync_batch, found.pk)
    messages.success(request, "Asked the marketplace for news.")
    return redirect(found)


def _batch(pk: int) -> Batch:
    return get_object_or_404(Batch.objects.select_related("survey", "hit_type", "created_by"), pk=pk)


def _context(request: HttpRequest, batch: Batch, *, form: PublishForm) -> dict[str, Any]:
    state = _draft(batch) if batch.status == Batch.Status.DRAFT else _published(request, batch)
    return {
        **admin.site.each_context(request),
        "title": batch.name,
        "batch": batch,
        "is_paying": is_paying(batch),
        "takes_people": has_slots(batch),
        "terms": terms(batch),
        "form": form,
        **state,
    }


def _draft(batch: Batch) -> dict[str, Any]:
    quote = publishing.quote(batch)
    return {
        "quote": quote,
        "problems": publishing.problems(batch),
        "warnings": publishing.warnings(batch),
        "wage_floor": settings.WAGE_FLOOR,
        "is_underpaid": quote.hourly_wage < settings.WAGE_FLOOR,
    }


def _published(request: HttpRequest, batch: Batch) -> dict[str, Any]:
    return {
        "progress": publishing.progress(batch),
        "is_running": batch.status in RUNNING,
        "n_urgent": urgent(batch).count(),
        "warning_time": in_words(warning_time(batch)),
        "hits": _hits(batch, page=request.GET.get("page", "1")),
        "marketplace_url": marketplace_url(batch),
        "results": results(batch),
        "metrics": metric_results(batch),
        "downloads": downloads(request, batch),
    }


def _hits(batch: Batch, *, page: str) -> Page[Any]:
    status = Assignment.Status
    of = {name: Count("hit__assignments", filter=Q(hit__assignments__status=name)) for name in status.values}
    near = urgent(batch).values("pk")
    questionnaires = (
        batch.questionnaires.select_related("hit", "sibling_of")
        .annotate(
            n_open=of[status.ACCEPTED],
            n_submitted=of[status.SUBMITTED],
            n_approved=of[status.APPROVED],
            n_rejected=of[status.REJECTED],
            n_urgent=Count("hit__assignments", filter=Q(hit__assignments__in=near)),
        )
        .order_by("position")
    )
    return Paginator(questionnaires, HITS_PER_PAGE).get_page(page)


def marketplace_url(batch: Batch) -> str:
    """Return where workers find the batch's HITs; empty before the marketplace knows them."""
    if batch.hit_type is None or batch.endpoint == Endpoint.LINK:
        return ""
    origin = settings.MTURK_ENDPOINTS[batch.endpoint]["submit_origins"][-1]
    return f"{origin}/mturk/preview?groupId={batch.hit_type.hit_type_id}"


def terms(batch: Batch) -> list[tuple[str, str]]:
    """Return what was decided about a batch, as pairs of words."""
    return [
        ("Survey", f"{batch.survey} ({batch.definition.name})"),
        ("HITs go to", ENDPOINTS[batch.endpoint]),  # type: ignore[index]
        ("Title", batch.title),
        ("Description", batch.description),
        ("Keywords", batch.keywords or "none"),
        ("Items per HIT", str(batch.items_per_hit)),
        ("Assignments per HIT", str(batch.assignments_per_hit)),
        ("Reward", f"${batch.reward}"),
        ("Time for one assignment", in_words(batch.assignment_duration)),
        ("HITs can be found for", in_words(batch.lifetime)),
        ("Approved automatically after", in_words(batch.auto_approval_delay)),
        ("Review", policy_in_words(batch.review_policy)),
        ("Seed", str(batch.seed)),
    ]
