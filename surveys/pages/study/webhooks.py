"""Where a study tells that a batch is done or that work waits: set up, tried out, removed, and what became of it."""

import logging

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from surveys import sync
from surveys.enqueue import enqueue
from surveys.models import Delivery, Survey, Webhook
from surveys.operations import webhooks
from surveys.pages.access import researcher, study_for
from surveys.studies.importing.pictures import PictureError

MAY = ("surveys.view_batch", "surveys.change_survey")
SHOWN = 30
MOST = 10  # of one study
logger = logging.getLogger(__name__)


class WebhookForm(forms.Form):
    """The address to be told."""

    url = forms.URLField(
        label="Address", max_length=500, assume_scheme="https", help_text="It is sent a POST."
    )

    def __init__(self, *args: object, survey: Survey) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.survey = survey

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        if self.survey.webhooks.filter(url=url).exists():
            raise forms.ValidationError("This address is told already.")
        if self.survey.webhooks.count() >= MOST:
            raise forms.ValidationError(f"A study tells {MOST} addresses at most.")
        return url


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@researcher(*MAY)
def study_webhooks(request: HttpRequest, slug: str) -> HttpResponse:
    """List a study's webhooks and their last messages; posted, set one up. Its secret is shown once."""
    survey = study_for(request, slug)
    form = WebhookForm(request.POST if request.method == "POST" else None, survey=survey)
    made = _added(request, survey, form) if form.is_bound and form.is_valid() else None
    context = {
        **admin.site.each_context(request),
        "title": f"Webhooks of {survey}",
        "survey": survey,
        "form": WebhookForm(survey=survey) if made else form,
        "made": made,
        "webhooks": survey.webhooks.all(),
        "deliveries": Delivery.objects.filter(webhook__survey=survey).select_related("webhook")[:SHOWN],
    }
    return render(request, "study/webhooks.html", context, status=422 if form.errors else 200)


@require_POST
@researcher(*MAY)
def try_webhook(request: HttpRequest, slug: str, webhook_pk: int) -> HttpResponse:
    """Have a message sent that says nothing but that it came."""
    webhook = _webhook(request, slug, webhook_pk)
    webhooks.test(webhook)
    enqueue(sync.send_webhooks)
    messages.success(request, "A test is on its way. What becomes of it stands below in a moment.")
    return redirect("study_webhooks", slug)


@require_POST
@researcher(*MAY)
def remove_webhook(request: HttpRequest, slug: str, webhook_pk: int) -> HttpResponse:
    """Tell an address nothing any more; what was told it is forgotten too."""
    webhook = _webhook(request, slug, webhook_pk)
    logger.info("%s has removed webhook %d of %s.", request.user, webhook.pk, slug)
    webhook.delete()
    messages.success(request, "The webhook is removed.")
    return redirect("study_webhooks", slug)


def _added(request: HttpRequest, survey: Survey, form: WebhookForm) -> Webhook | None:
    try:
        webhook = webhooks.add(survey, form.cleaned_data["url"], by=request.user)
    except PictureError as error:
        form.add_error("url", str(error))
        return None
    logger.info("%s has set up webhook %d of %s.", request.user, webhook.pk, survey.slug)
    return webhook


def _webhook(request: HttpRequest, slug: str, pk: int) -> Webhook:
    return get_object_or_404(Webhook, pk=pk, survey=study_for(request, slug))
