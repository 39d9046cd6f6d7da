"""Reviewing assignments: find them, and decide about many at once."""

from typing import Any

from django.contrib import admin, messages
from django.core.paginator import Page
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotators.crowds.base import crowd_of
from annotators.models import Assignment
from statements.long_lists import KeyPaginator
from surveys import sync
from surveys.enqueue import enqueue_in
from surveys.models import Batch, Survey, is_held_by_hand, is_used
from surveys.pages.access import batch_for, researcher, study_for
from surveys.pages.review import undoing
from surveys.pages.review.decision_forms import EXCLUDE, OF_MANY, BulkForm, FilterForm
from surveys.pages.review.decisions import suggested_reason, what_follows
from surveys.pages.review.listing import listed, of, query_of, thumbnails
from surveys.protocols.rules import PROPOSE
from surveys.review import analysis_use, errors
from surveys.review.by_hand import record
from surveys.review.progress import is_soon, undecided
from surveys.review.surplus import surplus_among

PER_PAGE = 15  # so the page stays within a few screens
DECIDED = ("action", "reason", "replace", "selected")
UNDO_SECONDS = 15  # until a decision about many is carried out, unless a sweep comes first


@require_safe
@researcher("surveys.view_batch", "annotators.view_assignment")
def assignments(request: HttpRequest, pk: int) -> HttpResponse:
    """List a batch's assignments, the most urgent first."""
    return _list(request, batch_for(request, pk))


@require_safe
@researcher("surveys.view_batch", "annotators.view_assignment")
def study_review(request: HttpRequest, slug: str) -> HttpResponse:
    """List the assignments of all batches of a study, what waits for a person first."""
    return _list(request, study_for(request, slug))


@require_POST
@researcher("surveys.view_batch", "annotators.change_assignment")
def decide_many(request: HttpRequest, pk: int) -> HttpResponse:
    """Record the same decision about the selected assignments of a batch, once it is confirmed."""
    return _decide(request, batch_for(request, pk))


@require_POST
@researcher("surveys.view_batch", "annotators.change_assignment")
def decide_many_of_study(request: HttpRequest, slug: str) -> HttpResponse:
    """Record the same decision about assignments of whatever batches of a study, once it is confirmed."""
    return _decide(request, study_for(request, slug))


def _list(request: HttpRequest, about: Batch | Survey) -> HttpResponse:
    form = FilterForm(request.GET)
    proposed = Q(decision__verdict=PROPOSE, status=Assignment.Status.SUBMITTED)
    query = query_of(request)
    assignments = listed(about, form, reader=request.user)
    page = _page(assignments, about=about, number=request.GET.get("page", "1"))
    context = {
        **_addresses(about),
        "filter": form,
        "page": page,
        "can_decide": any(one.status == Assignment.Status.SUBMITTED for one in page.object_list),
        "can_release": any(one.is_held_by_hand for one in page.object_list),
        "runs_out": any(
            one.auto_approval_at and one.status == Assignment.Status.SUBMITTED for one in page.object_list
        ),
        "can_select": any(one.can_select for one in page.object_list),
        "query": f"{query}&" if query else "",
        "walk": f"?{query}" if query and isinstance(about, Batch) else "",
        "thumbs": thumbnails(page.object_list),
        "n_proposed": Assignment.objects.filter(proposed, of(about)).count(),
        "undoable": undoing.undoable(request, of(about)),
    }
    return _render(request, "review/assignments.html", f"Assignments of {about}", context)


def _addresses(about: Batch | Survey) -> dict[str, Any]:
    """Return what a page is about, with where its list is and where decisions about many go."""
    if isinstance(about, Batch):
        urls = (reverse("assignments", args=[about.pk]), reverse("decide_many", args=[about.pk]))
        undo_url = reverse("undo_many", args=[about.pk])
        return _named(batch=about, about=about.name, urls=(*urls, undo_url))
    urls = (reverse("study_review", args=[about.slug]), reverse("decide_many_of_study", args=[about.slug]))
    undo_url = reverse("undo_many_of_study", args=[about.slug])
    return _named(survey=about, about="All batches", urls=(*urls, undo_url))


def _named(*, urls: tuple[str, str, str], **about: Any) -> dict[str, Any]:
    return {**about, "list_url": urls[0], "decide_url": urls[1], "undo_url": urls[2]}


def _decide(request: HttpRequest, about: Batch | Survey) -> HttpResponse:
    """What can't be decided is left as it is."""
    found = listed(about, FilterForm(request.GET), reader=request.user)
    form = BulkForm(request.POST, assignments=Assignment.objects.filter(of(about)), found=found)
    if form.is_valid() and not form.cleaned_data["confirm"]:
        return _confirm(request, about, form)
    if form.is_valid():
        _decide_all(request, **{name: form.cleaned_data[name] for name in DECIDED})
    else:
        messages.error(request, " ".join(str(text) for errors in form.errors.values() for text in errors))
    query = request.META["QUERY_STRING"]
    return redirect(_addresses(about)["list_url"] + (f"?{query}" if query else ""))


def _confirm(request: HttpRequest, about: Batch | Survey, form: BulkForm) -> HttpResponse:
    """Ask once more, and say what about: who is paid or not is not taken back by everybody."""
    data = form.cleaned_data
    selected = list(
        data["selected"].select_related("worker", "hit__questionnaire__batch", "hit__hit_type").order_by("pk")
    )
    context = {
        **_addresses(about),
        "action": data["action"],
        "verb": OF_MANY[data["action"]],
        "reason": data["reason"],
        "selected": selected,
        "total": sum(one.hit.questionnaire.batch.reward for one in selected if crowd_of(one).has_market),
        "replaceable": any(one.hit.questionnaire.batch.status != Batch.Status.STOPPED for one in selected),
        "query": request.META["QUERY_STRING"],
    }
    return _render(request, "review/many.html", f"{OF_MANY[data['action']]} {len(selected)}", context)


def _decide_all(
    request: HttpRequest, *, action: str, reason: str, replace: bool, selected: QuerySet[Assignment]
) -> None:
    done, refused = set(), []
    related = ("worker", "decision", "hit__questionnaire__batch")
    for assignment in selected.select_related(*related).prefetch_related("responses"):
        try:
            _decide_one(assignment, action, by=request.user, reason=reason, replace=replace)
        except errors.CannotDecide as error:
            refused.append(f"{assignment.worker}: {error}")
        else:
            done.add(assignment)
    for hit_pk in {assignment.hit_id for assignment in done}:
        enqueue_in(UNDO_SECONDS, sync.sync_hit, hit_pk)
    if done:
        undoing.remember(request, action=action, decided=done)
        messages.success(request, f"{len(done)} decided. {what_follows(done, action)}")
    if refused:
        messages.error(request, f"{len(refused)} could not be decided. {' '.join(refused[:3])}")


def _decide_one(assignment: Assignment, action: str, *, by: Any, reason: str, replace: bool) -> None:
    if action == EXCLUDE:
        analysis_use.exclude_used(assignment, by=by, reason=reason, replace=replace)
        return
    batch = assignment.hit.questionnaire.batch
    own = suggested_reason(assignment, batch=batch) if action == "reject" else ""
    record(assignment, action, by=by, reason=reason or own)


def _page(assignments: QuerySet[Assignment], *, about: Batch | Survey, number: str) -> Page[Any]:
    """Return the assignments of one page; what else is shown of each is asked for these only."""
    page: Page[Any] = KeyPaginator(assignments, PER_PAGE).get_page(number)
    related = ("worker", "hit__questionnaire__batch", "decision__decided_by", "inclusion")
    shown: Any = page.object_list
    page.object_list = list(
        shown.select_related(*related).annotate(
            is_undecided=Exists(undecided().filter(pk=OuterRef("pk"))),
            is_held_by_hand=is_held_by_hand(),
            can_select=Q(status=Assignment.Status.SUBMITTED) | is_used(),
        )
    )
    now, surplus = timezone.now(), surplus_among(page.object_list)
    for one in page.object_list:
        one.is_surplus = one.pk in surplus
        one.is_urgent = one.is_undecided and is_soon(one, batch=one.hit.questionnaire.batch, now=now)
    return page


def _render(
    request: HttpRequest, template: str, title: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    common = {**admin.site.each_context(request), "title": title}
    return render(request, template, {**common, **context}, status=status)
