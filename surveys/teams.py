"""Whose survey it is: one that is not shared is seen by its team and by superusers only, each within their role.

What is hidden is left out of lists and answered with 404, so nobody learns that it is there.
"""

from typing import TypeVar

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model, Q, QuerySet
from django.shortcuts import get_object_or_404

from annotators.models import HIT, Assignment, Call
from surveys.models import (
    Appeal,
    AuditEntry,
    Batch,
    Decision,
    Item,
    PersonLabel,
    Questionnaire,
    Survey,
    TaskAccuracy,
)

OF_ASSIGNMENT = "hit__questionnaire__batch__survey"
SURVEY_OF: dict[type[Model], str] = {
    Survey: "pk",
    Item: "survey",
    TaskAccuracy: "survey",
    PersonLabel: "survey",
    Batch: "survey",
    Questionnaire: "batch__survey",
    HIT: "questionnaire__batch__survey",
    Assignment: OF_ASSIGNMENT,
    Call: OF_ASSIGNMENT,
    Decision: f"assignment__{OF_ASSIGNMENT}",
    Appeal: f"assignment__{OF_ASSIGNMENT}",
    AuditEntry: "batch__survey",
}
Row = TypeVar("Row", bound=Model)
Person = User | AnonymousUser


def hidden_from(person: Person) -> QuerySet[Survey]:
    """Return the surveys somebody may not see, whatever their role."""
    if person.is_superuser:
        return Survey.objects.none()
    return Survey.objects.filter(is_shared=False).exclude(team=person.pk or 0)


def seen_by(person: Person, rows: QuerySet[Row]) -> QuerySet[Row]:
    """Return the rows without those of hidden surveys; rows that belong to no survey stay."""
    return rows.exclude(**{f"{SURVEY_OF[rows.model]}__in": hidden_from(person).values("pk")})


def batch_for(person: Person, pk: int) -> Batch:
    """Return a batch. Raises Http404 if there is none, or its survey is hidden from who asks."""
    batches = Batch.objects.select_related("survey__protocol", "hit_type", "created_by")
    return get_object_or_404(seen_by(person, batches), pk=pk)


def study_for(person: Person, slug: str) -> Survey:
    """Return a study. Raises Http404 if there is none, or it is hidden from who asks."""
    return get_object_or_404(seen_by(person, Survey.objects.select_related("protocol")), slug=slug)


def sees(person: Person, survey: Survey) -> bool:
    """Tell whether somebody may see a survey, if their role lets them see any."""
    return not hidden_from(person).filter(pk=survey.pk).exists()


def may_join() -> "QuerySet[User]":
    """Return the people who can be in a team: active staff, and who is away but in one."""
    choice = Q(is_staff=True, is_active=True) | Q(surveys__isnull=False)
    return User.objects.filter(choice).order_by("username").distinct()


def keep_access(survey: Survey, *, by: Person, ended_sharing: bool) -> None:
    """Nobody shuts themselves out, nor, by ending the sharing, those who have made batches of a survey."""
    if ended_sharing:
        makers = survey.batches.exclude(created_by=None).values_list("created_by", flat=True)
        survey.team.add(*makers)
    if not sees(by, survey) and by.pk:
        survey.team.add(by.pk)


def in_words(survey: Survey) -> str:
    """Return who sees a survey, as its pages say it."""
    if survey.is_shared:
        return "everybody with a role here"
    return ", ".join(survey.team.order_by("username").values_list("username", flat=True)) or "superusers only"
