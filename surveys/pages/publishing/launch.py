"""Launching a batch from one screen: who, how much, by which rules; its price follows while nothing is saved yet."""

from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotators.models import Assignment
from surveys.models import Batch, Item, Survey
from surveys.pages.access import batch_for, researcher, study_for
from surveys.pages.publishing.batches import people_block
from surveys.pages.publishing.running import start
from surveys.protocols.policy import judges, read_policy
from surveys.publishing import preconditions, pricing
from surveys.publishing.comparisons import comparisons
from surveys.publishing.terms.batch_form import PublishForm, is_paying, write_draft
from surveys.publishing.terms.launch_form import FAIR_WAGE, LaunchForm, as_shown
from surveys.results.dry_run import dry_run
from surveys.teams import where

MAY_LAUNCH = ("surveys.view_batch", "surveys.add_batch")
OTHER_PRICE = "The price is not the one you saw: it is ${total:,.2f} now. Publish if that is right."
Context = dict[str, Any]


@require_safe
@researcher(*MAY_LAUNCH)
def choose_study(request: HttpRequest) -> HttpResponse:
    """Ask which study a new batch is of; where there is one with items, go on to it."""
    with_items = where(request.user, *MAY_LAUNCH).filter(Exists(Item.objects.filter(survey=OuterRef("pk"))))
    studies = [one for one in with_items.select_related("protocol").order_by("-pk") if one.has_type]
    if len(studies) == 1:
        return redirect("launch", studies[0].slug)
    context = {**admin.site.each_context(request), "title": "New batch", "studies": studies}
    return render(request, "publishing/choose_study.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@researcher(*MAY_LAUNCH)
def launch(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the screen for a new batch of a study; posted, price it, keep it as a draft, or publish it."""
    survey = study_for(request, slug)
    form = LaunchForm(request.POST if request.method == "POST" else None, survey=survey)
    return _answer(request, form, survey=survey)


@require_http_methods(["GET", "HEAD", "POST"])
@researcher("surveys.view_batch", "surveys.change_batch")
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the same screen for a draft. What is published is not changed here."""
    batch = batch_for(request, pk)
    if batch.status != Batch.Status.DRAFT:
        return redirect(batch)
    data = request.POST if request.method == "POST" else None
    form = LaunchForm(data, survey=batch.survey, instance=batch)
    return _answer(request, form, survey=batch.survey)


@require_POST
@researcher(*MAY_LAUNCH)
def price(request: HttpRequest, slug: str) -> HttpResponse:
    """Answer with the price of what the form says, as a part of the page. Nothing is saved."""
    survey = study_for(request, slug)
    drafts = survey.batches.filter(status=Batch.Status.DRAFT)
    number = request.POST.get("draft", "")
    draft = drafts.filter(pk=number).first() if number.isdecimal() else None
    form = LaunchForm(request.POST, survey=survey, instance=draft)
    return render(request, "publishing/launch_check.html", _priced(request, form, survey=survey))


def _answer(request: HttpRequest, form: LaunchForm, *, survey: Survey) -> HttpResponse:
    asked = request.POST.get("do", "price") if form.is_bound else "price"
    if asked == "publish" and not request.user.has_perm("surveys.publish_batch"):
        raise PermissionDenied
    if asked == "wage":
        return _page(request, form.with_reward(), survey=survey)
    if not form.is_bound or asked not in ("save", "publish") or not form.is_valid():
        return _page(request, form, survey=survey, status=422 if form.errors else 200)
    if asked == "publish" and (refusal := _refusal(request, form)):
        return _page(request, form, survey=survey, status=422, **refusal)
    batch = _saved(request, form)
    if asked == "publish":
        start(request, batch)
    return redirect(batch)


def _refusal(request: HttpRequest, form: LaunchForm) -> Context:
    """Return what speaks against publishing at once: a price that was not seen, problems, no confirmation."""
    total = pricing.quote(form.instance).total
    if request.POST.get("total") != f"{total:.2f}":
        return {"refusal": OTHER_PRICE.format(total=total)}
    confirmation = PublishForm(request.POST, batch=form.instance)
    if preconditions.problems(form.instance):
        return {"refusal": "It can’t be published yet."}
    return {} if confirmation.is_valid() else {"confirmation": confirmation}


def _saved(request: HttpRequest, form: LaunchForm) -> Batch:
    batch = form.instance
    if batch.pk is None:
        batch.created_by_id = request.user.pk
        batch.save()
    elif not write_draft(batch, form=form):
        messages.error(request, "The batch was published in the meantime. Nothing was changed.")
    return batch_for(request, batch.pk)


def _page(
    request: HttpRequest, form: LaunchForm, *, survey: Survey, status: int = 200, **more: Any
) -> HttpResponse:
    draft = form.instance if form.instance.pk else None
    context = {
        **admin.site.each_context(request),
        "title": f"Launch {survey}",
        "survey": survey,
        "batch": draft,
        "tried_on": _with_work(survey),
        **_priced(request, form, survey=survey),
        **more,
    }
    return render(request, "publishing/launch.html", context, status=status)


def _priced(request: HttpRequest, form: LaunchForm, *, survey: Survey) -> Context:
    """Return what the form would cost. A form that nobody has sent is priced as it stands there."""
    form = form if form.is_bound else as_shown(form)
    if not form.is_valid():
        return {"form": form, "survey": survey}
    draft: Batch = form.instance
    found = pricing.quote(draft)
    return {
        "form": form,
        "survey": survey,
        "draft": draft,
        "quote": found,
        "comparisons": comparisons(draft),
        **people_block(draft, price=found),
        "fair_wage": FAIR_WAGE,
        "fair_reward": pricing.reward_for(FAIR_WAGE, minutes=found.minutes),
        "wage_floor": settings.WAGE_FLOOR,
        "is_underpaid": found.hourly_wage < settings.WAGE_FLOOR and draft.reward > Decimal(0),
        "proposed_budget": preconditions.proposed_budget(draft, price=found),
        "problems": preconditions.problems(draft),
        "warnings": preconditions.warnings(draft),
        "is_paying": is_paying(draft),
        "confirmation": PublishForm(batch=draft),
        **_tried(request, draft),
    }


def _tried(request: HttpRequest, draft: Batch) -> Context:
    """Say what the rules would have done to the work of the study's last batch, if that is asked and there are any."""
    earlier = _with_work(draft.survey) if request.POST.get("do") == "try" else None
    if earlier is None or not judges(draft.review_policy):
        return {"has_no_rule": earlier is not None}
    policy = read_policy(draft.review_policy, items_per_hit=earlier.items_per_hit)
    return {"run": dry_run(earlier, policy=policy, scores=False), "run_on": earlier}


def _with_work(survey: Survey) -> Batch | None:
    handed_in = Assignment.objects.filter(
        submitted_at__isnull=False, hit__questionnaire__batch__survey=survey
    )
    worked = handed_in.values("hit__questionnaire__batch")
    return survey.batches.filter(pk__in=worked, is_simulated=False).order_by("-pk").first()
