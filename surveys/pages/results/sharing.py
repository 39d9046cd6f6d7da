"""Read-only links to results: making and withdrawing them, and the page they open, which asks nobody who they are."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surveys.enqueue import wanted
from surveys.models import Batch, SharedResults
from surveys.pages.access import batch_for, researcher
from surveys.pages.answering.link_page import with_headers
from surveys.pages.results.chosen_form import ChosenForm
from surveys.pages.results.results import arranged
from surveys.results import sharing
from surveys.results.chosen import Chosen, read_chosen
from surveys.results.kept import report_key, report_version
from surveys.results.printed import number
from surveys.results.reports import Kept

SHARE = ("surveys.view_batch", "surveys.change_batch")
NOT_YET = "There is no report to share yet. Open the results, and come back when they are there."


class ShareForm(forms.Form):
    """Whom a link is for, and how much it shows."""

    name = forms.CharField(
        label="Whom is it for?",
        max_length=200,
        help_text="For you and the audit trail, as “Reviewers of the paper”.",
    )
    has_outputs = forms.BooleanField(
        label="Show the outputs people disagree about most, with their texts", required=False
    )
    has_key = forms.BooleanField(label="Show the right answers of those items too", required=False)

    def clean_has_key(self) -> bool:
        return bool(self.cleaned_data["has_key"] and self.cleaned_data.get("has_outputs"))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@researcher(*SHARE)
def share_results(request: HttpRequest, pk: int) -> HttpResponse:
    """List the links to a batch's results, and make one. Its address is shown once: only its hash is kept."""
    batch = batch_for(request, pk)
    if batch.status == Batch.Status.DRAFT:
        return redirect(batch)
    chosen = ChosenForm(request.GET, batches=[batch]).chosen
    found: Kept[Any] = wanted(report_key(batch, chosen), version=report_version(batch))
    form = ShareForm(request.POST or None)
    address = ""
    if form.is_valid() and found.value is not None and found.made_at is not None:
        token = sharing.share(
            batch, found.value, numbers_at=found.made_at, chosen=chosen, by=request.user, **form.cleaned_data
        )
        address = request.build_absolute_uri(reverse("shared_results", args=[token]))
        form = ShareForm()
    context = {
        **admin.site.each_context(request),
        "title": f"Share the results of {batch.name}",
        "batch": batch,
        "form": form,
        "address": address,
        "links": SharedResults.objects.filter(batch=batch).select_related("created_by"),
        "is_chosen": not chosen.is_everything,
        "choice": chosen.as_query(),
        "made_at": found.made_at,
        "not_yet": NOT_YET if found.value is None else "",
    }
    return render(request, "results/share.html", context, status=422 if form.errors else 200)


@require_POST
@researcher(*SHARE)
def withdraw_results(request: HttpRequest, pk: int, shared_pk: int) -> HttpResponse:
    """Close one of a batch's links."""
    batch = batch_for(request, pk)
    shared = get_object_or_404(SharedResults, pk=shared_pk, batch=batch)
    if sharing.withdraw(shared, by=request.user):
        messages.success(request, f"The link for {shared.name} is withdrawn: it opens nothing any more.")
    return redirect("share_results", pk=batch.pk)


@require_safe
def shared_results(request: HttpRequest, token: str) -> HttpResponse:
    """Show frozen results to whoever has the link. An unknown and a withdrawn one look alike."""
    shared = sharing.shared_under(token)
    frozen = sharing.frozen_of(shared) if shared else None
    if shared is None or frozen is None:
        return _alone("results/shared_gone.html", {}, status=404)
    chosen = read_chosen(shared.choice)
    context = {
        "shared": shared,
        "report": shared,
        "results": arranged(frozen.report, chosen=chosen),
        "is_frozen": True,
        "is_chosen": chosen != Chosen(),
        "criterion": frozen.criterion,
        "outputs": [
            (one, number(one.spread, places=2), number(one.mean, places=2)) for one in frozen.outputs
        ],
    }
    return _alone("results/shared.html", context)


def _alone(template: str, context: dict[str, object], *, status: int = 200) -> HttpResponse:
    """Render without the request, which would bring a session, and keep the page out of caches and search engines."""
    response = with_headers(HttpResponse(render_to_string(template, context), status=status))
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response
