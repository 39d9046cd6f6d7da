"""Everybody who worked on a study, over all its batches, under one name, with the way to their work and back."""

from typing import Any

from django.contrib import admin
from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Q, QuerySet, Value
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


@never_cache
@require_safe
@researcher("surveys.view_batch", "annotators.view_assignment")
def study_people(request: HttpRequest, slug: str) -> HttpResponse:
    """List who worked on a study, who did most first; found by id, pseudonym or what they are called."""
    survey = study_for(request, slug)
    words = request.GET.get("q", "").replace("\0", "").strip()
    page: Page[Any] = Paginator(workers(survey, words, reader=request.user), PER_PAGE).get_page(
        request.GET.get("page", "1")
    )
    context = {
        **admin.site.each_context(request),
        "title": f"People of {survey}",
        "survey": survey,
        "page": page,
        "q": words,
        "by_link": [batch for batch in published(survey)[:BATCHES_SHOWN] if has_slots(batch)],
    }
    return render(request, "people/study.html", context)


def workers(survey: Survey, words: str, *, reader: Person) -> QuerySet[Worker, Any]:
    """Return the workers of a study with n_batches, n_given, n_rejected, n_waiting, last_at and label."""
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
        last_at=Max("assignments__submitted_at", filter=of_study),
    ).order_by("-n_given", "pk")


def _all(survey: Survey) -> QuerySet[Worker]:
    return Worker.objects.filter(**{OF_STUDY: survey}).distinct()
