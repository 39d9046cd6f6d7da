"""Whose survey it is: one that is not shared is seen by its team and by superusers only, each within their role.

What is hidden is left out of lists and answered with 404, so nobody learns that it is there.

A member may have a role in one study (`TeamRole`). There it stands in the place of what their account may do anywhere,
be that more or less; who has an account without any right sees the studies they have a role in, and no others.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
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
    Role,
    Survey,
    TaskAccuracy,
    TeamRole,
)

OF_ASSIGNMENT = "hit__questionnaire__batch__survey"
SURVEY_OF: dict[type[Model], tuple[str, ...]] = {
    Survey: ("pk",),
    Item: ("survey",),
    TaskAccuracy: ("survey",),
    PersonLabel: ("survey",),
    Batch: ("survey",),
    Questionnaire: ("batch__survey",),
    HIT: ("questionnaire__batch__survey",),
    Assignment: (OF_ASSIGNMENT,),
    Call: (OF_ASSIGNMENT,),
    Decision: (f"assignment__{OF_ASSIGNMENT}",),
    Appeal: (f"assignment__{OF_ASSIGNMENT}",),
    AuditEntry: ("batch__survey", "survey"),
}
Row = TypeVar("Row", bound=Model)
Person = User | AnonymousUser
READS = frozenset(
    {
        "surveys.view_survey",
        "surveys.view_item",
        "surveys.view_output",
        "surveys.view_picture",
        "surveys.view_batch",
        "surveys.view_questionnaire",
        "surveys.view_questionnaireitem",
        "surveys.view_decision",
        "surveys.view_taskaccuracy",
        "annotators.view_hit",
        "annotators.view_hittype",
        "annotators.view_assignment",
    }
)
REVIEWS = frozenset({"annotators.change_assignment"})
LAUNCHES = frozenset(
    {
        "surveys.add_item",
        "surveys.delete_item",
        "surveys.add_taskaccuracy",
        "surveys.add_batch",
        "surveys.change_batch",
        "surveys.delete_batch",
        "surveys.publish_batch",
        "surveys.export_raw",
        "surveys.view_invitation",
        "surveys.add_invitation",
        "surveys.change_invitation",
        "surveys.view_panel",
        "surveys.change_panel",
        "surveys.view_panelvisit",
        "surveys.view_auditentry",
    }
)
OWNS = frozenset({"surveys.change_survey", "surveys.delete_survey"})
RIGHTS: dict[str, frozenset[str]] = {
    Role.OWNER: READS | REVIEWS | LAUNCHES | OWNS,
    Role.RESEARCHER: READS | REVIEWS | LAUNCHES,
    Role.ASSISTANT: READS | REVIEWS,
    Role.READER: READS,
}
HERE = "role_here"  # of a user: their role in the study that a request is about


class StudyRoles:
    """Says what somebody may do in the study they are `within`, whatever their account may do elsewhere.

    It stands first among the backends: what it refuses no other is asked. What belongs to no study (workers' standing,
    the outbox, accounts) is not for it to say.
    """

    def authenticate(self, request: object) -> None:
        """Sign nobody in."""

    def has_perm(self, person: Person, permission: str, obj: object = None) -> bool:
        role = getattr(person, HERE, "")
        if not role or permission not in RIGHTS[Role.OWNER]:
            return False
        if person.is_active and permission in RIGHTS[role]:
            return True
        raise PermissionDenied


def enter(person: Person, *, role: str) -> None:
    """Have a person act in a role until they enter another; "": as far as their account goes."""
    setattr(person, HERE, role)


@contextmanager
def within(person: Person, role: str) -> Iterator[None]:
    """Have a person act in a role for a while."""
    before = getattr(person, HERE, "")
    enter(person, role=role)
    try:
        yield
    finally:
        enter(person, role=before)


def given_role(person: Person, **study: Any) -> str:
    """Return the role somebody was given in a study, as a lookup finds it (`survey`, `survey__slug`); "" without."""
    found = TeamRole.objects.filter(person=person.pk or 0, **study).values_list("role", flat=True)
    return found.first() or ""


def given_roles(person: Person) -> dict[int, str]:
    """Return {survey: role} of all that somebody was given."""
    return dict(TeamRole.objects.filter(person=person.pk or 0).values_list("survey", "role"))


def holds(person: Person, permissions: Collection[str]) -> bool:
    """Tell whether somebody may do something somewhere: by their account, or by their role in one study or more."""
    if person.has_perms(permissions):
        return True
    return any(RIGHTS[role].issuperset(permissions) for role in set(given_roles(person).values()))


IN_ADDRESS = {"slug": "survey__slug", "pk": "survey__batches__pk"}


def may(person: Person, permissions: Collection[str], *, address: Mapping[str, Any]) -> bool:
    """Tell whether somebody may do something at an address, by its parts; from now on they act in their role there."""
    study = {IN_ADDRESS[part]: value for part, value in address.items() if part in IN_ADDRESS}
    if not study:
        return holds(person, permissions)
    enter(person, role=given_role(person, **study))
    return person.has_perms(permissions)


def where(person: Person, *permissions: str) -> QuerySet[Survey]:
    """Return the surveys in which somebody may do something."""
    seen = seen_by(person, Survey.objects.all())
    if person.is_superuser:
        return seen
    enough = [role for role, rights in RIGHTS.items() if rights.issuperset(permissions)]
    given = TeamRole.objects.filter(person=person.pk or 0)
    if person.get_all_permissions().issuperset(permissions):
        return seen.exclude(pk__in=given.exclude(role__in=enough).values("survey"))
    return seen.filter(pk__in=given.filter(role__in=enough).values("survey"))


def role_in(person: User, survey: Survey, *, given: str | None = None) -> str:
    """Return a member's role: the one they were given (asked for where it is None), else what their account comes to.

    "" where that is nothing.
    """
    role = given_role(person, survey=survey) if given is None else given
    if role:
        return role
    rights = RIGHTS[Role.OWNER] if person.is_superuser else person.get_all_permissions()
    for one, telling in TELLING.items():
        if telling in rights:
            return one
    return ""


TELLING: dict[str, str] = {
    Role.OWNER: "surveys.change_survey",
    Role.RESEARCHER: "surveys.add_batch",
    Role.ASSISTANT: "annotators.change_assignment",
    Role.READER: "surveys.view_batch",
}


def hidden_from(person: Person) -> QuerySet[Survey]:
    """Return the surveys somebody may not see, whatever their role.

    What is shared is shared with accounts that have rights of their own.
    """
    if person.is_superuser:
        return Survey.objects.none()
    has_rights = not RIGHTS[Role.OWNER].isdisjoint(person.get_all_permissions())
    others = Survey.objects.filter(is_shared=False) if has_rights else Survey.objects.all()
    return others.exclude(team=person.pk or 0)


def seen_by(person: Person, rows: QuerySet[Row]) -> QuerySet[Row]:
    """Return the rows without those of hidden surveys; rows that belong to no survey stay."""
    hidden = hidden_from(person).values("pk")
    for path in SURVEY_OF[rows.model]:
        rows = rows.exclude(**{f"{path}__in": hidden})
    return rows


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
