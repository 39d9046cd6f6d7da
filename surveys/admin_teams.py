"""Rows of surveys in the admin, without those that are hidden from whoever looks."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from annotators.admin import AssignmentAdmin, CallAdmin, HITAdmin, ModelAdmin
from annotators.models import HIT, Assignment, Call
from surveys.teams import hidden_from, seen_by


class OfTeams(ModelAdmin):
    """`survey` is the lookup from a row to its survey's key."""

    survey = ""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return seen_by(request.user, super().get_queryset(request), survey=self.survey)


@admin.register(HIT)
class HITsOfTeams(OfTeams, HITAdmin):
    survey = "questionnaire__batch__survey"


@admin.register(Assignment)
class AssignmentsOfTeams(OfTeams, AssignmentAdmin):
    survey = "hit__questionnaire__batch__survey"


@admin.register(Call)
class CallsOfTeams(OfTeams, CallAdmin):
    survey = "hit__questionnaire__batch__survey"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Call]:
        """A call without a HIT does not say whose it is: it is for those who see everything."""
        calls: QuerySet[Call] = super().get_queryset(request)
        return calls.exclude(hit=None) if hidden_from(request.user).exists() else calls
