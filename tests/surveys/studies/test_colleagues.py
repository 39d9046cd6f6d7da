"""Who comes into a study's team and who goes, and what of it is written down."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from surveys import teams
from surveys.models import AuditEntry, Role, Survey, TeamInvitation, TeamRole
from surveys.studies import colleagues
from surveys.studies.colleagues import CannotChange
from tests.factories import make_survey
from tests.people import role_of

pytestmark = pytest.mark.django_db


def person(name: str, *, role: str = "", **values: Any) -> User:
    user = User.objects.create_user(name, is_staff=True, **values)
    if role:
        user.groups.add(role_of(role))
    return user


@pytest.fixture
def owner() -> User:
    return person("owner")


@pytest.fixture
def survey(owner: User) -> Survey:
    survey = make_survey(is_shared=False)
    survey.team.add(owner)
    TeamRole.objects.create(survey=survey, person=owner, role=Role.OWNER)
    return survey


def invited(survey: Survey, *, by: User, role: str = Role.ASSISTANT, days: float = 1) -> TeamInvitation:
    until = timezone.now() + timedelta(days=days)
    token = colleagues.invite(survey, name="Ada", role=role, expires_at=until, by=by)
    assert TeamInvitation.objects.filter(token_hash__contains=token).count() == 0
    found = colleagues.invitation_under(token)
    return found or TeamInvitation.objects.latest("pk")


def roles(survey: Survey) -> list[tuple[str, str]]:
    return [(member.person.username, member.role) for member in colleagues.members(survey)]


def trail(survey: Survey) -> list[tuple[str, str | None]]:
    entries = AuditEntry.objects.filter(survey=survey, kind="team").order_by("pk")
    return [(entry.outcome, entry.actor and entry.actor.username) for entry in entries]


def test_a_link_brings_one_person_into_the_team_once(survey: Survey, owner: User) -> None:
    ada, eve = person("ada"), person("eve")
    invitation = invited(survey, by=owner)
    assert [colleagues.accept(invitation, by=one) for one in (ada, eve)] == [True, False]
    assert roles(survey) == [("ada", "assistant"), ("owner", "owner")]
    assert trail(survey) == [("invite", "owner"), ("join", "ada")]
    assert colleagues.open_invitations(survey) == []


def test_a_link_that_is_late_or_taken_back_opens_nothing(survey: Survey, owner: User) -> None:
    ada, late, back = person("ada"), invited(survey, by=owner, days=-1), invited(survey, by=owner)
    assert [colleagues.revoke(back, by=owner) for _ in range(2)] == [True, False]
    assert [colleagues.accept(one, by=ada) for one in (late, back)] == [False, False]
    assert colleagues.invitation_under("unknown") is None
    assert roles(survey) == [("owner", "owner")]


def test_nobody_comes_out_of_a_link_with_less(survey: Survey, owner: User) -> None:
    colleagues.accept(invited(survey, by=owner, role=Role.READER), by=owner)
    assert roles(survey) == [("owner", "owner")]
    ada = person("ada", role="Assistant")
    survey.team.add(ada)
    colleagues.accept(invited(survey, by=owner, role=Role.RESEARCHER), by=ada)
    assert roles(survey) == [("ada", "researcher"), ("owner", "owner")]


def test_the_last_owner_neither_leaves_nor_steps_down(survey: Survey, owner: User) -> None:
    with pytest.raises(CannotChange):
        colleagues.remove(survey, person=owner, by=owner)
    with pytest.raises(CannotChange):
        colleagues.change_role(survey, person=owner, role=Role.READER, by=owner)
    colleagues.add(survey, person=person("away", is_active=False), role=Role.OWNER, by=owner)
    with pytest.raises(CannotChange):
        colleagues.remove(survey, person=owner, by=owner)
    colleagues.add(survey, person=person("ada"), role=Role.OWNER, by=owner)
    colleagues.remove(survey, person=owner, by=owner)
    assert roles(survey) == [("ada", "owner"), ("away", "owner")]
    assert not teams.sees(owner, survey)


def test_a_role_that_is_given_twice_is_written_down_once(survey: Survey, owner: User) -> None:
    ada = person("ada")
    colleagues.add(survey, person=ada, role=Role.READER, by=owner)
    for _ in range(2):
        colleagues.change_role(survey, person=ada, role=Role.ASSISTANT, by=owner)
    assert trail(survey) == [("add", "owner"), ("role", "owner")]
    with pytest.raises(CannotChange):
        colleagues.remove(survey, person=person("eve"), by=owner)


def test_without_a_role_somebody_is_what_their_account_comes_to(survey: Survey) -> None:
    for name in ("Researcher", "Assistant", "Read-only", ""):
        survey.team.add(person(name.lower() or "nobody", role=name))
    assert roles(survey) == [
        ("assistant", "assistant"),
        ("nobody", ""),
        ("owner", "owner"),
        ("read-only", "reader"),
        ("researcher", "owner"),
    ]


def test_a_role_in_a_study_holds_there_and_nowhere_else(survey: Survey, owner: User) -> None:
    other, guest = make_survey(is_shared=True), person("guest")
    colleagues.add(survey, person=guest, role=Role.RESEARCHER, by=owner)
    head = person("head", role="Researcher")
    colleagues.add(survey, person=head, role=Role.READER, by=owner)
    assert list(teams.where(guest, "surveys.add_item")) == [survey]
    assert list(teams.where(guest, "surveys.change_survey")) == []
    assert list(teams.where(head, "surveys.add_item")) == [other]
    assert list(teams.seen_by(guest, Survey.objects.all())) == [survey]
    assert set(teams.seen_by(head, Survey.objects.all())) == {survey, other}
    with teams.within(head, Role.READER):
        assert [head.has_perm(f"surveys.{one}") for one in ("view_batch", "add_item")] == [True, False]
        assert head.has_perm("annotators.change_worker")  # of the installation: the study has no say in it
    assert head.has_perm("surveys.add_item")
    assert not guest.has_perm("surveys.view_batch")


def test_what_is_said_of_one_study_is_nothing_to_others(survey: Survey, owner: User) -> None:
    invited(survey, by=owner)
    eve = person("eve", role="Researcher")
    assert (teams.seen_by(eve, AuditEntry.objects.all()).count(), AuditEntry.objects.count()) == (0, 1)
    assert teams.seen_by(owner, AuditEntry.objects.all()).count() == 1


@pytest.mark.parametrize("values", [{"name": ""}, {"role": "boss"}, {"used_at": "now", "revoked_at": "now"}])
def test_the_database_refuses_an_invitation_that_makes_no_sense(survey: Survey, values: Any) -> None:
    now = timezone.now()
    said = {name: now if value == "now" else value for name, value in values.items()}
    with pytest.raises(IntegrityError), transaction.atomic():
        TeamInvitation.objects.create(
            **{
                "survey": survey,
                "name": "Ada",
                "role": "reader",
                "token_hash": "x",
                "expires_at": now,
                **said,
            }
        )


def test_the_trail_is_append_only_after_the_migration_too(survey: Survey, owner: User) -> None:
    invited(survey, by=owner)
    with pytest.raises(Exception, match="never changed"), transaction.atomic():
        AuditEntry.objects.update(reason="Another.")
