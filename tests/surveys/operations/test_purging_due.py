"""Who is purged, who is not yet, and who has to be kept although they are due."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotators.models import HIT, Assignment, Call, Worker
from annotators.people.names import pseudonym
from surveys.models import Appeal, Batch
from surveys.operations import purging
from tests import factories, link_people
from tests.surveys.operations.purge_study import ANN, a_finished_study, a_year_ago

pytestmark = pytest.mark.django_db


def before(*, days: int = 1) -> datetime:
    return timezone.now() - timedelta(days=days)


def reasons() -> list[str]:
    report = purging.purge(before())
    assert report.n_purged == 0
    return [one.reason for one in report.kept]


def name_of(batch: Batch) -> str:
    Batch.objects.filter(pk=batch.pk).update(name="Study 9")
    return "Study 9"


@pytest.fixture
def done() -> Assignment:
    assignment = a_finished_study()
    Batch.objects.update(name="Study 9")
    return assignment


def test_whoever_was_here_since_is_not_due(done: Assignment) -> None:
    assert purging.purge(before(days=400)).n_purged == 0
    assert purging.purge(before(days=300)).n_purged == 1


def test_a_worker_without_work_is_due_too() -> None:
    factories.make_worker(ANN)
    assert purging.purge(before()).n_purged == 0
    Worker.objects.update(created_at=before(days=2))
    assert purging.purge(before()).n_purged == 1


@pytest.mark.parametrize("status", ["open", "publishing"])
def test_work_in_an_unfinished_batch_keeps_a_worker(done: Assignment, status: str) -> None:
    Batch.objects.update(status=status)
    assert reasons() == ["has worked in Study 9, which is not finished"]


def test_one_unfinished_batch_of_two_keeps_them(done: Assignment) -> None:
    other = factories.make_published(name="Other")
    factories.submitted(other, worker=ANN)
    Assignment.objects.update(status="Approved", approved_at=timezone.now())
    a_year_ago()
    assert reasons() == ["has worked in Other, which is not finished"]
    Batch.objects.update(status="stopped")
    assert purging.purge(before()).n_purged == 1


def test_an_invitation_to_an_unfinished_batch_keeps_somebody() -> None:
    link_people.invite_one(link_people.make_batch(name="By link"))
    a_year_ago()
    assert reasons() == ["is invited to By link, which is not finished"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"status": "Submitted"}, "has work in Study 9 that nobody has decided on"),
        (
            {"status": "Rejected", "submitted_at": before(days=29), "rejected_at": before(days=2)},
            "has a rejection in Study 9 that can still be overturned",
        ),
    ],
)
def test_open_ends_keep_a_worker(done: Assignment, changes: dict[str, Any], reason: str) -> None:
    Assignment.objects.update(**changes)
    assert reasons() == [reason]


def test_a_late_rejection_of_old_work_does_not(done: Assignment) -> None:
    Assignment.objects.update(status="Rejected", submitted_at=before(days=31), rejected_at=before(days=2))
    assert purging.purge(before()).n_purged == 1


def test_time_left_to_hand_in_keeps_a_worker(done: Assignment) -> None:
    Assignment.objects.update(status="Accepted", submitted_at=None, saved_at=None)
    hit_types = done.hit.hit_type.__class__.objects
    hit_types.update(assignment_duration=timedelta(days=370))
    assert reasons() == ["can still hand in work in Study 9"]
    hit_types.update(assignment_duration=timedelta(days=360))
    assert purging.purge(before()).n_purged == 1


def test_an_appeal_without_answer_keeps_a_worker(done: Assignment) -> None:
    Appeal.objects.create(assignment=done, code="never used")
    made = Appeal.objects.filter(pk=Appeal.objects.get().pk)
    made.update(text="Why?", made_at=before(days=300))
    assert reasons() == ["waits for the answer to an appeal in Study 9"]


@pytest.mark.parametrize("state", ["planned", "sent", "unknown"])
def test_a_call_without_outcome_keeps_a_worker(done: Assignment, state: str) -> None:
    Call.objects.create(token="t", operation="SendBonus", endpoint="embedded", assignment=done, state=state)
    assert reasons() == ["is named in a call that is not settled"]


@pytest.mark.parametrize("status", ["Submitted", "Rejected"])
def test_what_the_marketplace_forgot_keeps_nobody(done: Assignment, status: str) -> None:
    """Nothing comes of it any more: who waits for it would be kept for ever."""
    Assignment.objects.update(status=status, submitted_at=before(days=20), rejected_at=before(days=19))
    Call.objects.create(
        token="t", operation="SendBonus", endpoint="embedded", assignment=done, state="unknown"
    )
    HIT.objects.update(gone_at=before(days=2))
    assert purging.purge(before()).n_purged == 1


def test_what_came_by_link_to_a_hit_that_is_gone_still_keeps_somebody(done: Assignment) -> None:
    Assignment.objects.update(status="Submitted", channel="link")
    HIT.objects.update(gone_at=before(days=2))
    assert reasons() == ["has work in Study 9 that nobody has decided on"]


def test_kept_people_are_named_as_in_exports(done: Assignment) -> None:
    Batch.objects.update(status="open")
    (kept,) = purging.purge(before()).kept
    assert (kept.pk, kept.pseudonym) == (done.worker.pk, pseudonym(ANN))


def test_a_name_that_is_taken_is_not_given_twice(done: Assignment) -> None:
    factories.make_worker(f"purged:{pseudonym(ANN)}")
    report = purging.purge(before())
    assert [one.reason for one in report.kept] == ["another worker has this pseudonym"]
    assert report.n_purged == 0
