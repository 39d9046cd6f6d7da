from datetime import timedelta

import pytest
from django.db import IntegrityError
from django.utils import timezone

from annotators.models import HIT, Assignment
from tests.factories import make_assignment, make_hit, make_hit_type, make_worker

pytestmark = pytest.mark.django_db


def test_a_worker_exists_once_per_endpoint() -> None:
    make_worker("AWORKER", source="embedded")
    make_worker("AWORKER", source="sandbox")
    with pytest.raises(IntegrityError):
        make_worker("AWORKER", source="embedded")


def test_a_hit_type_id_exists_once_per_endpoint() -> None:
    make_hit_type(hit_type_id="3T", endpoint="embedded")
    make_hit_type(hit_type_id="3T", endpoint="sandbox")
    with pytest.raises(IntegrityError):
        make_hit_type(hit_type_id="3T", endpoint="embedded")


def test_a_hit_has_assignments() -> None:
    with pytest.raises(IntegrityError, match="hit_has_assignments"):
        make_hit(max_assignments=0)


def test_a_worker_has_one_assignment_a_hit() -> None:
    first = make_assignment(make_hit(), channel="link")
    with pytest.raises(IntegrityError):
        make_assignment(first.hit, worker=first.worker, channel="link")


def test_a_worker_can_be_claimed_by_any_number_and_confirmed_once() -> None:
    first = make_assignment(make_hit())
    second = make_assignment(first.hit, worker=first.worker)
    assert (first.is_claim, second.is_claim) == (True, True)
    confirmed = {"status": "Submitted", "submitted_at": timezone.now()}
    assert Assignment.objects.filter(pk=first.pk).update(**confirmed) == 1
    with pytest.raises(IntegrityError):
        Assignment.objects.filter(pk=second.pk).update(**confirmed)


def test_an_assignment_id_is_one_workers_once_but_may_be_another_workers_too() -> None:
    first = make_assignment(make_hit(), assignment_id="3A")
    make_assignment(first.hit, assignment_id="3A")
    with pytest.raises(IntegrityError):
        make_assignment(make_hit(), assignment_id="3A", worker=first.worker)


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"status": "Submitted"}, "assignment_has_submit_time"),
        ({"status": "Approved", "submitted_at": timezone.now()}, "approved_has_approval_time"),
        ({"status": "Rejected", "submitted_at": timezone.now()}, "rejected_has_rejection_time"),
        ({"submitted_at": timezone.now() - timedelta(days=2)}, "submitted_after_accepted"),
    ],
)
def test_times_agree_with_the_status(changes: dict[str, object], constraint: str) -> None:
    assignment = make_assignment(make_hit(), accepted_at=timezone.now() - timedelta(days=1))
    with pytest.raises(IntegrityError, match=constraint):
        Assignment.objects.filter(pk=assignment.pk).update(**changes)


def test_work_seconds_are_whole_and_need_both_times() -> None:
    now = timezone.now().replace(microsecond=900_000)
    assignment = make_assignment(
        make_hit(),
        status="Submitted",
        accepted_at=now - timedelta(seconds=60, milliseconds=500),
        submitted_at=now,
    )
    assert assignment.work_seconds == 60
    assert make_assignment(make_hit()).work_seconds is None


def test_names() -> None:
    assignment = make_assignment(make_hit(hit_id="3H"), worker=make_worker("AW"), assignment_id="3A")
    assert (str(assignment), str(assignment.hit), assignment.hit.endpoint) == ("3A by AW", "3H", "embedded")
    assert str(HIT.objects.get().hit_type) == f"Judge explanations ({assignment.hit.hit_type.hit_type_id})"
