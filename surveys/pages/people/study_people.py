"""Everybody who worked on a study, over all its batches, under one name, with the way to their work and back."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.core.paginator import Page, Paginator
from django.db.models import Count, F, FloatField, IntegerField, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Cast, Coalesce, NullIf
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotators.models import Assignment, Worker
from annotators.people.pseudonyms import called
from surveys.models import Response, Survey
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
    "": ("-n_given", "pk"),
    "fewest_right": (_SHARE_RIGHT.asc(nulls_last=True), "-n_graded", "pk"),
    "most_noticed": ("-n_noticed", "-n_given", "pk"),
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
    rows = workers(survey, words, reader=request.user).order_by(*ORDERS[first])
    page: Page[Any] = Paginator(rows, PER_PAGE).get_page(request.GET.get("page", "1"))
    kept = {name: value for name, value in (("q", words), ("first", first)) if value}
    context = {
        **admin.site.each_context(request),
        "title": f"People of {survey}",
        "survey": survey,
        "page": page,
        "q": words,
        "first": first,
        "orders": FIRST.items(),
        "query": f"{urlencode(kept)}&" if kept else "",
        "by_link": [batch for batch in published(survey)[:BATCHES_SHOWN] if has_slots(batch)],
    }
    return render(request, "people/study.html", context)


def workers(survey: Survey, words: str, *, reader: Person) -> QuerySet[Worker, Any]:
    """Return the workers of a study, who did most first, with what the page shows of each.

    n_batches, n_given, n_rejected, n_waiting, n_noticed (assignments in which a rule noticed something), n_right of
    n_graded answers, last_at, and label.
    """
    sees_labels = reader.has_perm(SEES_LABELS)
    of_study = Q(**{OF_STUDY: survey})
    found = Worker.objects.filter(pk__in=_all(survey)).annotate(
        label=label(survey, worker="pk") if sees_labels else Value("")
    )
    if words:
        is_called = Q(worker_id__icontains=words) | Q(label__icontains=words)
        found = found.filter(is_called | Q(pk__in=called(words, among=_all(survey))))
    return found.annotate(
        n_batches=Count("assignments__hit__questionnaire__batch", filter=of_study, distinct=True),
        n_given=Count("assignments", filter=of_study & ~Q(assignments__status=Status.ACCEPTED)),
        n_rejected=Count("assignments", filter=of_study & Q(assignments__status=Status.REJECTED)),
        n_waiting=Count("assignments", filter=of_study & Q(assignments__status=Status.SUBMITTED)),
        n_noticed=Count(
            "assignments",
            filter=of_study & Q(assignments__decision__isnull=False) & ~Q(assignments__decision__flags=[]),
        ),
        last_at=Max("assignments__submitted_at", filter=of_study),
        n_right=_n_answers(survey, is_correct=True),
        n_graded=_n_answers(survey, is_correct__isnull=False),
    ).order_by(*ORDERS[""])


def _n_answers(survey: Survey, **graded: bool) -> Coalesce:
    """Count somebody's answers in a study; those to items that were shown again count once."""
    theirs = Response.objects.filter(
        assignment__worker=OuterRef("pk"),
        assignment__hit__questionnaire__batch__survey=survey,
        is_repeat=False,
        **graded,
    )
    counted = theirs.order_by().values("assignment__worker").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _all(survey: Survey) -> QuerySet[Worker]:
    return Worker.objects.filter(**{OF_STUDY: survey}).distinct()
