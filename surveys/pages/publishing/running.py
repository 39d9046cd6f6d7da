"""What a researcher does with a batch: publish it, stop it, try again, raise its budget."""

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotators.failpoints import reach
from surveys import sync
from surveys.enqueue import enqueue
from surveys.models import Batch
from surveys.pages.access import batch_for, researcher
from surveys.pages.publishing.batches import page_context
from surveys.pages.publishing.money import BudgetForm
from surveys.publishing import budget, hits, launching, preconditions, pricing, questionnaires, stopping
from surveys.publishing.terms.batch_form import PublishForm


@require_POST
@researcher("surveys.publish_batch")
def publish(request: HttpRequest, pk: int) -> HttpResponse:
    """Publish a draft. Sent twice, the second changes nothing."""
    found = batch_for(request, pk)
    form = PublishForm(request.POST, batch=found)
    if found.status == Batch.Status.DRAFT and not form.is_valid():
        return render(request, "publishing/batch.html", page_context(request, found, form=form), status=422)
    start(request, found)
    return redirect(found)


def start(request: HttpRequest, batch: Batch) -> None:
    """Start publishing a batch that somebody has confirmed, and say what became of it."""
    try:
        started = launching.start(batch, by=request.user)
    except questionnaires.CannotPublish as error:
        messages.error(request, str(error))
        return
    if started.warning:
        messages.warning(request, started.warning)
    if started.is_first:
        reach("publish.started")
        enqueue(sync.publish_batch, batch.pk)
        reach("publish.requested")
        messages.success(request, "Publishing has started.")
    else:
        messages.info(request, "This batch is published already.")


@require_http_methods(["GET", "HEAD", "POST"])
@researcher("surveys.publish_batch")
def stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what remains in flight and ask, then take no more workers and expire every HIT. Safe to repeat."""
    found = batch_for(request, pk)
    if request.method != "POST":
        context = {
            "title": f"Stop {found.name}?",
            "batch": found,
            "progress": pricing.progress(found),
            "in_flight": stopping.in_flight(found),
            "money": budget.money(found),
        }
        return render(request, "publishing/stop.html", {**admin.site.each_context(request), **context})
    if stopping.stop(found, by=request.user):
        reach("stop.stopped")
        messages.success(request, "The batch is stopped. Its HITs are taken off the marketplace.")
    else:
        messages.info(request, "This batch is not running.")
        if found.status != Batch.Status.STOPPED:
            return redirect(found)
    enqueue(sync.expire_batch, found.pk)
    reach("stop.requested")
    return redirect(found)


@require_POST
@researcher("surveys.publish_batch")
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Try HITs again that the marketplace refused."""
    found = batch_for(request, pk)
    hits.retry_refused(found, by=request.user)
    enqueue(sync.publish_batch, found.pk)
    messages.success(request, "Trying again.")
    return redirect(found)


@require_POST
@researcher("surveys.publish_batch")
def set_budget(request: HttpRequest, pk: int) -> HttpResponse:
    """Raise the budget of a published batch, and let go on what it held back."""
    found = batch_for(request, pk)
    form = BudgetForm(request.POST)
    if found.status == Batch.Status.DRAFT or not form.is_valid():
        sentences = [str(text) for texts in form.errors.values() for text in texts]
        messages.error(request, " ".join(sentences) or "A draft's budget is changed with its other terms.")
        return redirect(found)
    try:
        preconditions.raise_budget(found, form.cleaned_data["budget"], by=request.user)
    except preconditions.CannotChangeBudget as error:
        messages.error(request, str(error))
    else:
        reach("budget.raised")
        enqueue(sync.sync_batch, found.pk)
        messages.success(request, f"The budget is ${form.cleaned_data['budget']:.2f} now.")
    return redirect(found)
