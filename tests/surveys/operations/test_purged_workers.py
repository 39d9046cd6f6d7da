"""A purged worker whom somebody names again: the same row, the same rules, and no id."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from annotators.crowds.mturk.mirror import mirror_assignment
from annotators.models import Assignment, Worker
from annotators.people.names import pseudonym, purged_name
from annotators.people.pseudonyms import worker_of
from surveys.answering.arrival import CannotServe, open_assignment
from surveys.answering.invitations import Person, invite
from surveys.models import Response
from surveys.operations import purging
from surveys.results.frames.pseudonyms import Pseudonyms
from tests import factories, link_people
from tests.annotators.crowds.test_mirror import record
from tests.surveys.operations.purge_study import ANN, a_finished_study, a_year_ago, cells_with

pytestmark = pytest.mark.django_db


def purged() -> Assignment:
    assignment = a_finished_study()
    purging.purge(timezone.now() - timedelta(days=1))
    assignment.refresh_from_db()
    return assignment


def test_the_pseudonym_is_never_hashed_twice() -> None:
    name = Pseudonyms()(ANN)
    assert purged_name(ANN) == f"purged:{name}"
    assert (Pseudonyms()(purged_name(ANN)), purged_name(purged_name(ANN))) == (name, purged_name(ANN))
    assert Pseudonyms("another key")(purged_name(ANN)) == name


def test_what_only_looks_purged_is_an_id_like_any() -> None:
    assert Pseudonyms()("purged:ann") == pseudonym("purged:ann")
    assert len(Pseudonyms()("purged:ann")) == 12


def test_an_old_hit_fetched_again_finds_them_and_brings_nothing_back() -> None:
    assignment = purged()
    again = record(
        worker_id=ANN,
        assignment_id=assignment.assignment_id,
        status="Rejected",
        rejected_at=timezone.now(),
        feedback=f"No, {ANN}.",
        answer_xml=f"<a>{ANN}</a>",
    )
    mirrored = mirror_assignment(assignment.hit, again)
    assert (mirrored.pk, mirrored.status) == (assignment.pk, "Rejected")
    assert cells_with(ANN) == []


def test_work_they_did_since_is_mirrored_whole() -> None:
    worker = purged().worker
    hit = factories.make_hit()
    mirrored = mirror_assignment(hit, replace(record(worker_id=ANN), answer_xml="<b/>"))
    assert (mirrored.worker_id, mirrored.answer_xml) == (worker.pk, "<b/>")
    changed = mirror_assignment(hit, replace(record(worker_id=ANN), answer_xml="<c/>"))
    assert changed.answer_xml == "<c/>"


def test_the_same_id_elsewhere_is_somebody_else() -> None:
    worker = purged().worker
    assert worker_of(ANN, source="sandbox").pk != worker.pk
    assert worker_of(ANN, source="embedded").pk == worker.pk


def test_orders_once_drawn_stay() -> None:
    assignment = purged()
    shown = list(Response.objects.values_list("item", "shown"))
    claims = factories.claims_for(
        assignment.hit.questionnaire, worker=ANN, assignment=assignment.assignment_id
    )
    assert open_assignment(assignment.hit.questionnaire, claims=claims).assignment == assignment
    assert list(Response.objects.values_list("item", "shown")) == shown


def test_exclusion_outlives_the_id() -> None:
    worker = purged().worker
    Worker.objects.update(standing="excluded")
    other = factories.make_published()
    with pytest.raises(CannotServe) as error:
        factories.open_for(other, worker=ANN)
    assert error.value.kind == "excluded"
    assert Worker.objects.get() == worker


def test_who_comes_back_works_under_their_pseudonym_and_is_purged_again() -> None:
    worker = purged().worker
    other = factories.make_published(status="stopped")
    assignment = factories.open_for(other, worker=ANN)
    assert (assignment.worker_id, assignment.responses.count()) == (worker.pk, 5)
    Assignment.objects.filter(pk=assignment.pk).update(user_agent="Firefox", loaded_at=timezone.now())
    a_year_ago()
    Worker.objects.update(purged_at=timezone.now() - timedelta(days=500))
    assert purging.purge(timezone.now() - timedelta(days=1)).n_purged == 1
    assignment.refresh_from_db()
    assert assignment.user_agent == ""


def test_an_invitation_by_worker_id_finds_them() -> None:
    worker = purged().worker
    batch = link_people.make_batch(endpoint="embedded", takes_links=True, reward=Decimal("0.38"))
    (invited,) = invite(
        batch,
        people=[Person("Ann", worker_id=ANN)],
        expires_at=timezone.now() + timedelta(days=1),
        by=None,
    )
    assert invited.invitation.worker == worker
