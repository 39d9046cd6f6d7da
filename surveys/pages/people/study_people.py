"""Everybody who worked on a study, over all its batches, under one name, with the way to their work and back."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.core.paginator import Page, Paginator
from django.db.models import Count, F, FloatField, Max, Q, QuerySet, Value
from django.db.models.functions import Cast, NullIf
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotators.models import Assignment, Worker
from annotators.people.pseudonyms import called
from surveys.models import Survey
from surveys.pages.access import researcher, study_for
from surveys.pages.people.labels import SEES_LABELS, label
from surveys.pages.results.scope import published
from surveys.publishing.quota import has_slots
from surveys.teams import Person

PER_PAGE = 25
BATCHES_SHOWN = 10
OF_STUDY = "assignments__hit__questionnaire__batch__survey"
Status = Assignment.Status
FIRST = {"": "Most handed in", "fewest_right": "Fewest right", "most_noticed": "Most noticed by rules"}
_SHARE_RIGHT = Cast("n_right", FloatField()) / NullIf(F("n_graded"), 0)
ORDERS: dict[str, tuple[Any, ...]] = {
    "": ("-n_given", "worker"),
    "fewest_right": (_SHARE_RIGHT.asc(nulls_last=True), "-n_graded", "worker"),
    "most_noticed": ("-n_noticed", "-n_given", "worker"),
}


@never_cache
@require_safe
@researcher("surveys.view_batch", "annotators.view_assignment")
def study_people(request: HttpRequest, slug: str) -> HttpResponse:
    """List who worked on a study, in an order; found by id, pseudonym or what they are called."""
    survey = study_for(request, slug)
    words = request.GET.get("q", "").replace("\0", "").strip()
    first = request.GET.get("first", "")
    first = first if first in ORDERS else ""
    n_people, n_simulated = (_n_workers(survey, is_simulated=one) for one in (False, True))
    is_simulated = n_simulated > 0 and ("simulated" in request.GET or not n_people)
    found = workers(survey, words, reader=request.user, is_simulated=is_simulated)
    rows = found.order_by(*ORDERS[first])
    page: Page[Any] = Paginator(rows, PER_PAGE).get_page(request.GET.get("page", "1"))
    shown = "1" if is_simulated and n_people else ""
    kept = {name: value for name, value in (("q", words), ("first", first), ("simulated", shown)) if value}
    context = {
        **admin.site.each_context(request),
        "title": f"People of {survey}",
        "survey": survey,
        "page": page,
        "rows": _with_people(page),
        "q": words,
        "n_people": n_people,
        "n_simulated": n_simulated,
        "is_simulated": is_simulated,
        "first": first,
        "orders": FIRST.items(),
        "query": f"{urlencode(kept)}&" if kept else "",
        "by_link": [batch for batch in published(survey)[:BATCHES_SHOWN] if has_slots(batch)],
    }
    return render(request, "people/study.html", context)


def workers(survey: Survey, words: str, *, reader: Person, is_simulated: bool = False) -> QuerySet[Any, Any]:
    """Return a row for each worker of a study, who did most first, with what the page shows of each.

    worker (its key), n_batches, n_given, n_rejected, n_waiting, n_noticed (assignments in which a rule noticed
    something), n_right of n_graded answers, last_at, and label. Only work of the study is read: somebody who works on
    many costs no more. People, or those who are simulated: they work on batches of their own.
    """
    sees_labels = reader.has_perm(SEES_LABELS)
    of_study = _work(survey, is_simulated=is_simulated)
    found = (
        of_study.order_by()
        .values("worker")
        .annotate(label=label(survey, worker="worker") if sees_labels else Value(""))
    )
    if words:
        is_called = Q(worker__worker_id__icontains=words) | Q(label__icontains=words)
        found = found.filter(is_called | Q(worker__in=called(words, among=_all(survey))))
    return found.annotate(
        n_batches=Count("hit__questionnaire__batch", distinct=True),
        n_given=_n(~Q(status=Status.ACCEPTED)),
        n_rejected=_n(Q(status=Status.REJECTED)),
        n_waiting=_n(Q(status=Status.SUBMITTED)),
        n_noticed=_n(Q(decision__isnull=False) & ~Q(decision__flags=[])),
        last_at=Max("submitted_at"),
        n_right=_n(Q(responses__is_correct=True, responses__is_repeat=False), of="responses"),
        n_graded=_n(Q(responses__is_correct__isnull=False, responses__is_repeat=False), of="responses"),
    ).order_by(*ORDERS[""])


def _work(survey: Survey, *, is_simulated: bool) -> QuerySet[Assignment]:
    of_study = Assignment.objects.filter(hit__questionnaire__batch__survey=survey)
    return of_study.filter(hit__questionnaire__batch__is_simulated=is_simulated)


def _n_workers(survey: Survey, *, is_simulated: bool) -> int:
    return _work(survey, is_simulated=is_simulated).order_by().values("worker").distinct().count()


def _n(counted: Q, *, of: str = "pk") -> Count:
    """Count each once, though a row stands here for every answer of an assignment."""
    return Count(of, filter=counted, distinct=True)


def _with_people(page: Page[Any]) -> list[dict[str, Any]]:
    """Return the rows of a page with each one's worker in place of its key."""
    known = Worker.objects.in_bulk([row["worker"] for row in page])
    return [{**row, "worker": known[row["worker"]]} for row in page]


def _all(survey: Survey) -> QuerySet[Worker]:
    return Worker.objects.filter(**{OF_STUDY: survey}).distinct()
