"""Planning the whole from its pilot: the minutes it took, the reward that pays a wage, how sure the whole will be."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotators.models import Assignment
from surveys.enqueue import wanted
from surveys.models import Batch
from surveys.pages.access import batch_for, researcher
from surveys.publishing import pilots, pricing
from surveys.publishing.terms.launch_form import FAIR_WAGE
from surveys.results.chosen import Chosen
from surveys.results.files.report import Report
from surveys.results.kept import report_key, report_version
from surveys.results.printed import number
from surveys.results.statistics.planning import Expected, expected, reach_of


class WageForm(forms.Form):
    wage = forms.DecimalField(
        label="Wage to aim at, US dollars an hour",
        min_value=Decimal("0.01"),
        max_digits=6,
        decimal_places=2,
        initial=FAIR_WAGE,
    )


@dataclass(frozen=True, slots=True)
class Planned:
    """One number of the pilot: of a system, or of a system less another, on one criterion."""

    what: str
    criterion: str
    value: float
    width: Expected

    @property
    def written(self) -> str:
        return number(self.value, places=2)


@require_http_methods(["GET", "HEAD", "POST"])
@researcher("surveys.view_batch", "surveys.add_batch")
def pilot(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what a pilot says of the whole; posted, plan the rest as a draft with the reward of that wage."""
    batch = batch_for(request, pk)
    if batch.pilot_items is None or batch.status == Batch.Status.DRAFT:
        return redirect(batch)
    form = WageForm(request.POST or (request.GET if "wage" in request.GET else {"wage": FAIR_WAGE}))
    reward = _reward(batch, form)
    if request.method == "POST" and form.is_valid():
        return _plan(request, batch, reward=reward)
    context = {**admin.site.each_context(request), "title": f"Plan from {batch.name}", "batch": batch}
    status = 422 if form.errors else 200
    return render(request, "publishing/pilot.html", context | _facts(batch, form, reward), status=status)


def _reward(batch: Batch, form: WageForm) -> Decimal | None:
    return pricing.measured_reward(batch, wage=form.cleaned_data["wage"]) if form.is_valid() else None


def _plan(request: HttpRequest, batch: Batch, *, reward: Decimal | None) -> HttpResponse:
    try:
        rest = pilots.plan_rest(batch, reward=reward, by=request.user)
    except pilots.CannotFollow as error:
        messages.error(request, str(error))
        return redirect("batch_pilot", batch.pk)
    messages.success(request, "The rest is a draft now: none of the pilot’s items, none of its people.")
    return redirect(rest if rest.is_simulated else f"{rest.get_absolute_url()}launch/")


def _facts(batch: Batch, form: WageForm, reward: Decimal | None) -> dict[str, Any]:
    n_all, n_shown = batch.survey.items.count(), pilots.items_of(batch).count()
    found = wanted(report_key(batch, Chosen()), version=report_version(batch))
    report: Report | None = found.value
    done = Assignment.objects.filter(hit__questionnaire__batch=batch, submitted_at__isnull=False)
    return {
        "form": form,
        "reward": reward,
        "price": pricing.quote(batch),
        "n_all": n_all,
        "n_shown": n_shown,
        "n_rest": n_all - n_shown,
        "n_done": done.count(),
        "planned": list(_planned(report, growth=n_all / n_shown)) if report and n_shown else [],
        "report": found,
        "is_awaited": not found.is_current,
        "rest": batch.rest.order_by("pk").first(),
    }


def _planned(report: Report, *, growth: float) -> Iterator[Planned]:
    """Yield the differences that the study is about, then each system's mean on each criterion."""
    labels = {}
    kept = next(selection for selection in report.summary.selections if selection.name == "kept")
    means = []
    for system in kept.systems:
        for one in system.criteria:
            labels[one.key] = one.label
            if one.interval and one.score and (mean := one.score.rating_mean) is not None:
                reach = reach_of(one.interval, mean, scale=one.scale if one.score.sd else ())
                width = expected(one.interval, reach=reach, growth=growth)
                means.append(Planned(system.system, one.label, mean, width))
    for found in report.comparison.differences:
        if found.interval and found.mean is not None:
            reach = found.interval.high - found.mean
            what = f"{found.system} less {report.comparison.against}"
            width = expected(found.interval, reach=reach, growth=growth)
            yield Planned(what, labels.get(found.criterion, found.criterion), found.mean, width)
    yield from means
