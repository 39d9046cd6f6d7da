"""Invitations: all or none, one a name, known people stay the same worker; revoked and renewed."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.models import Worker
from surveys.answering.admissions import NotAdmitted, admit
from surveys.answering.invitations import (
    CannotInvite,
    Person,
    invite,
    not_known_again,
    panel_address,
    renew_key,
    revoke,
)
from surveys.models import Invitation
from tests.link_people import invite_one, make_batch, make_panel

pytestmark = pytest.mark.django_db
TOMORROW = timezone.now() + timedelta(days=1)


def token(invited) -> str:
    return invited.address.rstrip("/").rsplit("/", 1)[1]


def test_people_are_invited_with_an_address_and_a_code_each(settings) -> None:
    batch, by = make_batch(), User.objects.create_user("researcher")
    people = [Person("Ann", "ann@example.org"), Person("  Bob  B. ")]
    invited = invite(batch, people=people, expires_at=TOMORROW, max_assignments=3, by=by)
    assert [i.invitation.name for i in invited] == ["Ann", "Bob B."]
    assert {(i.invitation.max_assignments, i.invitation.created_by) for i in invited} == {(3, by)}
    assert len({i.address for i in invited} | {i.access_code for i in invited}) == 4
    assert [admit(token(i)).name for i in invited] == ["Ann", "Bob B."]
    assert invited[0].address.startswith(f"{settings.APP_URL}/links/")
    assert invited[0].access_code not in invited[0].invitation.access_code


@pytest.mark.parametrize("second", ["Ann", " ann ", "ANN"])
def test_a_name_is_invited_once_and_nobody_if_one_fails(second) -> None:
    batch = make_batch()
    with pytest.raises(CannotInvite, match="invited already"):
        invite(batch, people=[Person("Ann"), Person(second)], expires_at=TOMORROW, by=None)
    invite_one(batch)
    with pytest.raises(CannotInvite, match="invited already"):
        invite(batch, people=[Person("Bob"), Person(second)], expires_at=TOMORROW, by=None)
    assert list(Invitation.objects.values_list("name", flat=True)) == ["Ann"]


def test_nobody_is_nameless() -> None:
    with pytest.raises(CannotInvite, match="needs a name"):
        invite(make_batch(), people=[Person("  ")], expires_at=TOMORROW, by=None)


def test_the_same_worker_is_not_invited_by_two_names() -> None:
    batch = make_batch(endpoint="embedded", reward="0.10", takes_links=True)
    invite_one(batch, "Ann", worker_id="A1")
    with pytest.raises(CannotInvite, match="Anna is invited already, by another name"):
        invite_one(batch, "Anna", worker_id="A1")


@pytest.mark.parametrize("endpoint", ["link", "embedded"])
def test_who_has_neither_address_nor_worker_id_is_not_known_again(endpoint: str) -> None:
    batch = make_batch(endpoint=endpoint, reward="0.10", takes_links=True)
    invite_one(batch, "Ann", email="ann@example.org")
    invite_one(batch, "Bob", worker_id="A1")
    revoke(invite_one(batch, "Cem").invitation)
    dora = invite_one(batch, "Dora").invitation
    assert list(not_known_again(batch)) == [dora]


def test_a_worker_id_is_the_marketplaces() -> None:
    batch = make_batch(endpoint="embedded", reward="0.10", takes_links=True)
    worker = invite_one(batch, worker_id="A1").invitation.worker
    assert (worker.source, worker.worker_id) == ("embedded", "A1")


def test_an_email_address_knows_its_worker_again() -> None:
    first = invite_one(make_batch(), "Ann", email="ann@example.org").invitation
    second = invite_one(make_batch(), "A.", email="ANN@example.org").invitation
    assert second.worker == first.worker
    assert (first.worker.source, first.worker.worker_id[0]) == ("link", "P")
    assert Worker.objects.count() == 1


def test_without_an_email_address_everybody_is_somebody_else() -> None:
    first, second = (invite_one(make_batch()).invitation for _ in range(2))
    assert first.worker != second.worker


def test_a_revoked_address_is_void_and_a_renewed_one_is_another() -> None:
    invited = invite_one(make_batch())
    assert [revoke(invited.invitation), revoke(invited.invitation)] == [True, False]
    with pytest.raises(NotAdmitted) as refused:
        admit(token(invited))
    assert refused.value.kind == "revoked"
    renewed = renew_key(invited.invitation)
    assert admit(token(renewed)).worker == invited.invitation.worker
    with pytest.raises(NotAdmitted) as old:
        admit(token(invited))
    assert old.value.kind == "revoked"
    assert renewed.access_code != invited.access_code


def test_an_expired_one_is_renewed_with_a_new_end() -> None:
    invited = invite_one(make_batch(), expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(NotAdmitted) as refused:
        admit(token(invited))
    assert refused.value.kind == "expired"
    assert admit(token(renew_key(invited.invitation, expires_at=TOMORROW))).name == "Ann"


def test_a_panels_address_names_what_the_panel_fills_in(settings) -> None:
    panel = make_panel(make_batch(), session_parameter="", worker_parameter="pid")
    assert panel_address(panel) == (
        f"{settings.APP_URL}/panel/{panel.code}/?pid={{{{%PROLIFIC_PID%}}}}&STUDY_ID={{{{%STUDY_ID%}}}}"
    )
