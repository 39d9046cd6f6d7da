"""Rows of surveys in the admin, without those that are hidden from whoever looks."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from annotators.admin import AssignmentAdmin, CallAdmin, HITAdmin, HITTypeAdmin, ModelAdmin, WorkerAdmin, n_of
from annotators.models import HIT, Assignment, Call, HITType, Worker
from surveys.models import Batch, Questionnaire, create_token
from surveys.teams import SURVEY_OF, Person, given_role, hidden_from, seen_by, within


class OfTeams(ModelAdmin):
    """Rows of a model that `teams` knows the survey of."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return seen_by(request.user, super().get_queryset(request))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        with _as_in_study_of(request, obj):
            return super().has_view_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        with _as_in_study_of(request, obj):
            return super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        with _as_in_study_of(request, obj):
            return super().has_delete_permission(request, obj)


def _as_in_study_of(request: HttpRequest, row: Any) -> AbstractContextManager[None]:
    """Have the reader act in their role in the study that a row belongs to."""
    if row is None or row.pk is None:
        return nullcontext()
    found = type(row)._default_manager.filter(pk=row.pk).values_list(SURVEY_OF[type(row)][0], flat=True)
    survey = found.first()
    return within(request.user, given_role(request.user, survey=survey) if survey else "")


@admin.register(Assignment)
class AssignmentsOfTeams(OfTeams, AssignmentAdmin):
    """Each belongs to a HIT that we have made."""


@admin.register(HIT)
class HITsOfTeams(OfTeams, HITAdmin):
    def get_queryset(self, request: HttpRequest) -> QuerySet[HIT]:
        """One that is not written down with its questionnaire yet tells by its annotation whose it is."""
        hits: QuerySet[HIT] = super().get_queryset(request)
        if not hidden_from(request.user).exists():
            return hits
        return hits.filter(Q(questionnaire__isnull=False) | Q(requester_annotation__in=_tokens(request.user)))


@admin.register(Call)
class CallsOfTeams(OfTeams, CallAdmin):
    def get_queryset(self, request: HttpRequest) -> QuerySet[Call]:
        """One that has no HIT yet, or none that is written down with its questionnaire, tells so by its token."""
        calls: QuerySet[Call] = super().get_queryset(request)
        if not hidden_from(request.user).exists():
            return calls
        return calls.filter(Q(hit__questionnaire__isnull=False) | Q(token__in=_tokens(request.user)))


@admin.register(HITType)
class HITTypesOfTeams(HITTypeAdmin):
    def get_queryset(self, request: HttpRequest) -> QuerySet[HITType]:
        """Equal terms are one HITType: it is seen with any of its batches."""
        types: QuerySet[HITType] = super().get_queryset(request)
        if not hidden_from(request.user).exists():
            return types
        seen = seen_by(request.user, Batch.objects.exclude(hit_type=None))
        return types.filter(pk__in=seen.values("hit_type"))


@admin.register(Worker)
class WorkersOfTeams(WorkerAdmin):
    """Workers are the installation's; what is counted is their work in surveys that are seen."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Worker]:
        workers: QuerySet[Worker] = super().get_queryset(request)
        if not hidden_from(request.user).exists():
            return workers
        return workers.annotate(n_assignments=n_of(seen_by(request.user, Assignment.objects.all())))

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Nobody asks by an address whose work something is."""
        return lookup.partition("__")[0] in self.list_filter


def _tokens(person: Person) -> list[str]:
    """Return the tokens of the HITs of seen questionnaires that are not written down yet."""
    waiting = seen_by(person, Questionnaire.objects.filter(hit=None))
    return [create_token(pk) for pk in waiting.values_list("pk", flat=True)]
