"""The review policy of a batch: tried out on what came in, then applied."""

import json
from hashlib import sha256
from typing import Any, cast

from django.contrib import admin, messages
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotators.models import Worker
from surveys import sync
from surveys.enqueue import enqueue
from surveys.models import Batch
from surveys.pages.access import batch_for, researcher
from surveys.pages.results.cells import places_of
from surveys.pages.results.charts import Chart, score_chart
from surveys.protocols.policy import Policy, label_of, parse, rule_version
from surveys.protocols.rules import PolicyError
from surveys.publishing.terms.batch_form import policy_in_words
from surveys.publishing.terms.policy_form import ApplyForm, PolicyForm
from surveys.results.dry_run import NOW, DryRun, dry_run
from surveys.results.kept import state_of
from surveys.results.printed import number
from surveys.results.statistics.numbers import Selection
from surveys.review.decisions import outdated
from surveys.review.errors import CannotDecide
from surveys.review.policy_change import apply_policy

ROWS_SHOWN = 20
VERSION = 7  # of what is cached: raise it when a class in it changes or moves
CACHED_SECONDS = 3600


@require_http_methods(["GET", "HEAD", "POST"])
@researcher("surveys.view_batch")
def policy(request: HttpRequest, pk: int) -> HttpResponse:
    """Try a policy out, as the address says it; posted, apply it."""
    batch = batch_for(request, pk)
    if request.method == "POST":
        return _apply(request, batch)
    form = PolicyForm(request.GET if "try" in request.GET else None, batch=batch)
    is_tried = form.is_bound and form.is_valid()
    rejects = form.cleaned_data["rejects_automatically"] if is_tried else batch.rejects_automatically
    apply_form = ApplyForm(
        initial={
            "policy": form.policy,
            "rejects_automatically": rejects,
            "instead_of": rule_version(batch.review_policy),
        }
    )
    status = 422 if form.is_bound and not is_tried else 200
    return _page(request, batch, form, apply_form, is_tried=is_tried, status=status)


def _apply(request: HttpRequest, batch: Batch) -> HttpResponse:
    if not request.user.has_perm("surveys.publish_batch"):
        raise PermissionDenied
    form = ApplyForm(request.POST)
    if not form.is_valid():
        return _page(request, batch, PolicyForm(batch=batch), form, is_tried=True, status=422)
    try:
        apply_policy(batch, by=request.user, **form.cleaned_data)
    except (PolicyError, CannotDecide) as error:
        messages.error(request, str(error))
    else:
        enqueue(sync.judge_again, batch.pk)
        messages.success(request, "The policy is applied. What no person has decided is judged again by it.")
    return redirect("batch_policy", batch.pk)


def _page(
    request: HttpRequest,
    batch: Batch,
    form: PolicyForm,
    apply_form: ApplyForm,
    *,
    is_tried: bool,
    status: int,
) -> HttpResponse:
    tried = _tried(apply_form, batch)
    run = _run(batch, policy=tried) if tried else None
    context = {
        **admin.site.each_context(request),
        "title": f"Review policy of {batch.name}",
        "batch": batch,
        "form": form,
        "apply_form": apply_form,
        "is_tried": is_tried,
        "is_running": batch.status in Batch.UNDER_REVIEW,
        "now_in_words": policy_in_words(batch.review_policy),
        "n_outdated": outdated(batch).count(),
        "run": run,
        **(_results(run, batch) if run else {}),
    }
    return render(request, "review/policy.html", context, status=status)


def _run(batch: Batch, *, policy: Policy) -> DryRun:
    """Try a policy out, anew only when the policy or what it judges has changed."""
    state = {
        **state_of(batch),
        "standing": _watched(batch),
        "policy": sha256(repr(policy).encode()).hexdigest(),
    }
    values = ":".join(str(value).replace(" ", "_") for value in state.values())
    name = f"{VERSION}:policy_run:{batch.pk}:{values}"
    return cast(DryRun, cache.get_or_set(name, lambda: dry_run(batch, policy=policy), CACHED_SECONDS))


def _watched(batch: Batch) -> int:
    of_watched = Worker.objects.filter(standing=Worker.Standing.WATCH)
    return of_watched.filter(assignments__hit__questionnaire__batch=batch).distinct().count()


def _tried(form: ApplyForm, batch: Batch) -> Policy | None:
    """Return the policy that is about to be applied, None if what was posted is none."""
    given = form["policy"].value()
    try:
        return parse(json.loads(given) if isinstance(given, str) else given)
    except (PolicyError, ValueError, TypeError):
        return None


def _results(run: DryRun, batch: Batch) -> dict[str, Any]:
    definition = batch.definition
    scales = [criterion for criterion in definition.output_criteria if criterion.is_scale]
    scales.sort(key=lambda scale: scale.key != definition.headline)
    shown = distinct(run.scores)
    return {
        "kinds": [(label_of(kind), n) for kind, n in run.kinds],
        "workers": [
            (one, [(label_of(kind), n) for kind, n in one.kinds]) for one in run.workers[:ROWS_SHOWN]
        ],
        "hits": run.hits[:ROWS_SHOWN],
        "n_more_workers": max(0, len(run.workers) - ROWS_SHOWN),
        "n_more_hits": max(0, len(run.hits) - ROWS_SHOWN),
        "charts": [_chart(shown, key=scale.key, title=scale.label) for scale in scales] if shown else [],
        "moves": list(_moves(run.scores)),
        "selections": list(run.scores),
    }


def distinct(scores: dict[str, Selection]) -> dict[str, Selection]:
    """Return the choices of rows that leave out more than those before them."""
    found: dict[str, Selection] = {}
    for name, selection in scores.items():
        if name == NOW or selection.responses not in {one.responses for one in found.values()}:
            found[name] = selection
    return found


def _chart(scores: dict[str, Selection], *, key: str, title: str) -> Chart:
    return score_chart(scores, key=key, title=f"{title} · mean and 95 % interval")


def _moves(scores: dict[str, Selection]) -> list[tuple[str, str, list[tuple[str, int]]]]:
    """Return a row per system and scale: their names, and the mean and number of ratings in each choice of rows."""
    rows = []
    selections = list(scores.values())
    for system in selections[0].systems if selections else ():
        for criterion in system.criteria:
            if criterion.score is None:
                continue
            found = [one.system(system.system).criterion(criterion.key) for one in selections]
            places = places_of(criterion)
            cells = [(number(c.score.rating_mean, places=places), c.score.ratings) for c in found if c.score]
            rows.append((system.system, criterion.label, cells))
    return rows
