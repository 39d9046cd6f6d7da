"""Who works on a study, in which role: by a link that is good once, or because they have an account here."""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from surveys import audit
from surveys.models import Role, Survey, TeamInvitation, TeamRole
from surveys.teams import given_role, role_in

TOKEN_BYTES = 32
ORDER = tuple(Role.values)  # most first
LAST_OWNER = "Somebody has to own the study: make a colleague its owner first."


class CannotChange(ValueError):
    """The team can't be as somebody wants it; the text is for them."""


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody in a team; `is_given`: their role is of this study, and not what their account may do anywhere."""

    person: User
    role: str
    is_given: bool

    @property
    def label(self) -> str:
        if not self.person.is_active:
            return "Away"
        return Role(self.role).label if self.role else "No role"

    @property
    def owns(self) -> bool:
        return self.role == Role.OWNER and self.person.is_active


def members(survey: Survey) -> list[Member]:
    """Return a team by name, each with their role."""
    given = dict(survey.team_roles.values_list("person", "role"))
    return [
        Member(person, role_in(person, survey, given=given.get(person.pk, "")), person.pk in given)
        for person in survey.team.order_by("username")
    ]


def owns(survey: Survey, person: User) -> bool:
    """Tell whether somebody in the team, or anybody where all share it, is an owner of a study."""
    return any(member.owns for member in members(survey) if member.person.pk == person.pk) or (
        survey.is_shared and role_in(person, survey) == Role.OWNER
    )


def invite(survey: Survey, *, name: str, role: str, expires_at: datetime, by: User) -> str:
    """Return the token of a new link into a team, which nobody can look up again."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with transaction.atomic():
        TeamInvitation.objects.create(
            survey=survey, name=name, role=role, token_hash=_hash(token), made_by=by, expires_at=expires_at
        )
        _record(survey, "invite", by=by, details={"invited": name, "role": role})
    return token


def open_invitations(survey: Survey) -> list[TeamInvitation]:
    return list(_open().filter(survey=survey).select_related("made_by"))


def invitation_under(token: str) -> TeamInvitation | None:
    """Return what a token opens; None for one that is unknown, used, late or taken back, which look alike."""
    found = _open().filter(token_hash=_hash(token))
    return found.select_related("survey__protocol", "made_by").first()


def revoke(invitation: TeamInvitation, *, by: User) -> bool:
    """Take a link back; False if it was used or taken back before."""
    with transaction.atomic():
        unused = TeamInvitation.objects.filter(pk=invitation.pk, used_at=None, revoked_at=None)
        if not unused.update(revoked_at=timezone.now()):
            return False
        _record(invitation.survey, "revoke", by=by, details={"invited": invitation.name})
    return True


def accept(invitation: TeamInvitation, *, by: User) -> bool:
    """Bring somebody into the team, once; False if the link is good no more. Nobody comes out of it with less."""
    with transaction.atomic():
        now = timezone.now()
        if not _open().filter(pk=invitation.pk).update(used_at=now, used_by=by):
            return False
        survey = invitation.survey
        is_member = survey.team.filter(pk=by.pk).exists()
        role = _more(role_in(by, survey) if is_member or survey.is_shared else "", invitation.role)
        survey.team.add(by)
        if role == invitation.role:
            TeamRole.objects.update_or_create(survey=survey, person=by, defaults={"role": role})
        _record(survey, "join", by=by, details={"invited": invitation.name, "role": role})
    return True


def add(survey: Survey, *, person: User, role: str, by: User) -> None:
    """Bring somebody with an account here into the team."""
    with transaction.atomic():
        survey.team.add(person)
        TeamRole.objects.update_or_create(survey=survey, person=person, defaults={"role": role})
        _record(survey, "add", by=by, details={"person": person.username, "role": role})


def change_role(survey: Survey, *, person: User, role: str, by: User) -> None:
    """Give a member another role. Raises CannotChange for the last owner."""
    with _locked(survey):
        before = _member(survey, person)
        if before.owns and role != Role.OWNER:
            _keep_an_owner(survey, without=person)
        if given_role(person, survey=survey) == role:
            return
        TeamRole.objects.update_or_create(survey=survey, person=person, defaults={"role": role})
        _record(survey, "role", by=by, details={"person": person.username, "from": before.role, "to": role})


def remove(survey: Survey, *, person: User, by: User) -> None:
    """Take somebody out of a team; what they did stays. Raises CannotChange for the last owner."""
    with _locked(survey):
        if _member(survey, person).owns:
            _keep_an_owner(survey, without=person)
        TeamRole.objects.filter(survey=survey, person=person).delete()
        survey.team.remove(person)
        _record(survey, "remove", by=by, details={"person": person.username})


@contextmanager
def _locked(survey: Survey) -> Iterator[None]:
    """Two who leave at once leave one after the other."""
    with transaction.atomic():
        Survey.objects.select_for_update().get(pk=survey.pk)
        yield


def _member(survey: Survey, person: User) -> Member:
    found = [member for member in members(survey) if member.person == person]
    if not found:
        raise CannotChange("They are not in the team any more.")
    return found[0]


def _keep_an_owner(survey: Survey, *, without: User) -> None:
    if not any(member.owns for member in members(survey) if member.person != without):
        raise CannotChange(LAST_OWNER)


def _more(one: str, other: str) -> str:
    """Return which of two roles may do more; "" is none."""
    return min((role for role in (one, other) if role), key=ORDER.index)


def _open() -> QuerySet[TeamInvitation]:
    return TeamInvitation.objects.filter(used_at=None, revoked_at=None, expires_at__gt=timezone.now())


def _record(survey: Survey, outcome: str, *, by: User, details: dict[str, str]) -> None:
    audit.record(audit.Kind.TEAM, outcome, survey=survey, by=by, details=details)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
