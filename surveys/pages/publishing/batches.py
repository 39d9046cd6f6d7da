"""The page of one batch: what it will cost, how far it is."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import admin, messages
from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotators.models import Assignment
from annotators.outbox import holds
from surveys import sync, teams
from surveys.enqueue import enqueue
from surveys.models import Batch, Questionnaire, Simulation
from surveys.pages.access import batch_for, researcher
from surveys.pages.publishing.money import BudgetForm, money_block, money_counts
from surveys.pages.publishing.simulating import SimulateForm
from surveys.protocols.policy import judges
from surveys.publishing import gone, preconditions, pricing, stopping
from surveys.publishing.design import methods_in_words
from surveys.publishing.pilots import items_of
from surveys.publishing.quota import has_slots, is_at_work
from surveys.publishing.terms.batch_form import (
    ENDPOINTS,
    PublishForm,
    approved_after,
    duration_in_words,
    is_paying,
    policy_in_words,
)
from surveys.publishing.terms.languages import page_languages
from surveys.review.progress import undecided, urgent, warning_time
from surveys.review.surplus import surplus_of

HITS_PER_PAGE = 15


@require_safe
@researcher("surveys.view_batch")
def batch(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a batch: a draft with its price, a published one with its progress, money and HITs."""
    found = batch_for(request, pk)
    form = PublishForm(batch=found)
    return render(request, "publishing/batch.html", page_context(request, found, form=form))


@require_safe
@researcher("surveys.view_batch")
def progress(request: HttpRequest, pk: int) -> JsonResponse:
    """Answer with the batch's counts, for the page that shows them."""
    found = batch_for(request, pk)
    counts = pricing.progress(found)
    derived = {"n_kept": counts.n_kept, "n_urgent": urgent(found).count()}
    derived["n_surplus"] = surplus_of(found).count()
    return JsonResponse({**asdict(counts), **derived, **money_counts(found), **_expiring(found)})


@require_POST
@researcher("surveys.view_batch", "annotators.change_assignment")
def sync_now(request: HttpRequest, pk: int) -> HttpResponse:
    """Fetch what workers have submitted now instead of at the next sweep."""
    found = batch_for(request, pk)
    enqueue(sync.sync_batch, found.pk)
    messages.success(request, "Asked the marketplace for news.")
    return redirect(found)


def page_context(request: HttpRequest, batch: Batch, *, form: PublishForm) -> dict[str, Any]:
    """Return what the batch page shows, a draft's or a published batch's."""
    is_plan = batch.status == Batch.Status.DRAFT and not batch.is_simulated
    state = _draft(batch) if is_plan else _published(request, batch)
    return {
        **admin.site.each_context(request),
        "title": batch.name,
        "batch": batch,
        "is_plan": is_plan,
        "may_simulate": (
            is_plan or (batch.is_simulated and batch.status in (Batch.Status.DRAFT, *Batch.RUNNING))
        )
        and request.user.has_perm("surveys.publish_batch"),
        "simulation": Simulation.objects.filter(batch=batch).first() if batch.is_simulated else None,
        "simulate_form": SimulateForm(),
        "is_paying": is_paying(batch),
        "takes_people": has_slots(batch),
        "terms": terms(batch),
        "form": form,
        "hold": holds.current(),
        **state,
    }


def _draft(batch: Batch) -> dict[str, Any]:
    quote = pricing.quote(batch)
    return {
        "quote": quote,
        **people_block(batch, price=quote),
        "problems": preconditions.problems(batch),
        "warnings": preconditions.warnings(batch),
        "wage_floor": settings.WAGE_FLOOR,
        "proposed_budget": preconditions.proposed_budget(batch, price=quote),
        "is_underpaid": quote.hourly_wage < settings.WAGE_FLOOR,
    }


def people_block(batch: Batch, *, price: pricing.Quote) -> dict[str, Any]:
    """Return how many people a draft needs, and whether personal links, which no share binds, need fewer."""
    people = pricing.people_needed(batch, n_hits=price.n_hits)
    return {"people": people, "links_are_quicker": has_slots(batch) and people.n > people.without_cap}


def _published(request: HttpRequest, batch: Batch) -> dict[str, Any]:
    return {
        "progress": pricing.progress(batch),
        "is_running": batch.status in Batch.RUNNING,
        "in_flight": stopping.in_flight(batch) if batch.status == Batch.Status.STOPPED else None,
        "budget_form": BudgetForm(),
        **money_block(batch),
        "n_surplus": surplus_of(batch).count(),
        "n_urgent": urgent(batch).count(),
        "warning_time": duration_in_words(warning_time(batch)),
        "lost": gone.lost(batch),
        "hits": _hits(batch, page=request.GET.get("page", "1")),
        "marketplace_url": marketplace_url(batch),
    }


def _expiring(batch: Batch) -> dict[str, int]:
    """Count the HITs of a stopped batch and those of them that have expired."""
    if batch.status != Batch.Status.STOPPED:
        return {}
    found = stopping.in_flight(batch)
    return {"n_hits": found.n_hits, "n_expired": found.n_expired}


def _hits(batch: Batch, *, page: str) -> Page[Any]:
    """Return the HITs of one page, with how many assignments of each are in which state."""
    shown = Paginator(batch.questionnaires.order_by("position"), HITS_PER_PAGE).get_page(page)
    shown.object_list = _counted(batch, [one.pk for one in shown])
    return shown


def _counted(batch: Batch, shown: Sequence[UUID]) -> "QuerySet[Questionnaire, Any]":
    status = Assignment.Status
    of = {name: Count("hit__assignments", filter=Q(hit__assignments__status=name)) for name in status.values}
    here = Q(hit__questionnaire__in=shown)
    waiting = {
        name: Count("hit__assignments", filter=Q(hit__assignments__in=found.filter(here).values("pk")))
        for name, found in {"n_undecided": undecided(), "n_urgent": urgent(batch)}.items()
    }
    return (
        batch.questionnaires.filter(pk__in=shown)
        .select_related("hit", "sibling_of")
        .annotate(
            n_open=Count("hit__assignments", filter=is_at_work(batch, assignment="hit__assignments")),
            n_approved=of[status.APPROVED],
            n_rejected=of[status.REJECTED],
            **waiting,
        )
        .order_by("position")
    )


def marketplace_url(batch: Batch) -> str:
    """Return where workers find the batch's HITs; empty before the marketplace knows them."""
    if batch.hit_type is None or not batch.has_market:
        return ""
    origin = settings.MTURK_ENDPOINTS[batch.endpoint]["submit_origins"][-1]
    return f"{origin}/mturk/preview?groupId={batch.hit_type.hit_type_id}"


def terms(batch: Batch) -> list[tuple[str, str]]:
    """Return what was decided about a batch, as pairs of words."""
    return [
        ("Survey", f"{batch.survey} ({batch.definition.name})"),
        ("Seen by", teams.in_words(batch.survey)),
        ("HITs go to", ENDPOINTS[batch.endpoint]),  # type: ignore[index]
        ("Title", batch.title),
        ("Description", batch.description),
        ("Keywords", batch.keywords or "none"),
        ("Language of the pages", dict(page_languages()).get(batch.page_language, batch.page_language)),
        ("Items", _of_items(batch)),
        ("Items per HIT", str(batch.items_per_hit)),
        ("Asked twice", _of_repeats(batch)),
        *([("Draws per item", str(batch.draws_per_item))] if batch.definition.is_drawn else []),
        ("Assignments per HIT", str(batch.assignments_per_hit)),
        ("Reward", f"${batch.reward}"),
        ("Time for one assignment", duration_in_words(batch.assignment_duration)),
        ("HITs can be found for", duration_in_words(batch.lifetime)),
        ("Approved automatically after", approved_after(batch)),
        ("Review", policy_in_words(batch.review_policy)),
        ("Rejections", _of_rejections(batch)),
        *(
            [("Approved before the rule could reject it", _of_auto_approved(batch))]
            if batch.has_market
            else []
        ),
        ("Quiz", _of_quiz(batch)),
        ("Links and panels", "people may come by link" if has_slots(batch) else "none: marketplace only"),
        ("People", _of_people(batch)),
        ("Seed", str(batch.seed)),
        ("Design", _of_design(batch)),
    ]


def _of_people(batch: Batch) -> str:
    if not batch.leaves_people_out:
        return "whoever comes"
    left_out = (
        "only new ones: none of an earlier batch" if batch.only_new_people else f"none of {batch.follows}"
    )
    known = "; invited ones are known by e-mail address or worker id alone" if has_slots(batch) else ""
    return left_out + known


def _of_items(batch: Batch) -> str:
    n = items_of(batch).count()
    if batch.pilot_items:
        return f"{n}: a pilot, drawn by the seed"
    return (
        f"{n}: all but those of {batch.follows}, whose people it leaves out too"
        if batch.follows
        else f"all {n}"
    )


def _of_design(batch: Batch) -> str:
    if batch.status == Batch.Status.DRAFT:
        return "drawn by the seed when the batch is published: systems balanced within HITs and over time"
    return methods_in_words(batch.design, changes=batch.definition.changes)


def _of_quiz(batch: Batch) -> str:
    if batch.uses_quiz:
        return "two tries before the work"
    return "left out, though the survey type has one" if batch.definition.quiz else "none"


def _of_repeats(batch: Batch) -> str:
    n, size = batch.repeats_per_hit, batch.items_per_hit
    return f"{n} of {size} items of each HIT: {size + n} questions" if n else "none"


def _of_rejections(batch: Batch) -> str:
    if not judges(batch.review_policy):
        return "by a person alone"
    return "carried out by the rule" if batch.rejects_automatically else "proposed; a person decides"


def _of_auto_approved(batch: Batch) -> str:
    if batch.replaces_auto_approved:
        return "paid, left out and collected once more"
    return "paid and used"
