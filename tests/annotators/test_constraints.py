"""An IntegrityError is told by its constraint, on both databases."""

import pytest
from django.db import IntegrityError, transaction

from annotators.constraints import is_about
from annotators.models import HIT, Assignment, Worker
from tests.factories import make_assignment, make_hit, make_worker

pytestmark = pytest.mark.django_db
ONCE = "assignment_once_per_hit_and_worker"


def refused(**values: object) -> IntegrityError:
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        make_assignment(**values)
    return caught.value


def test_a_unique_constraint_is_recognised() -> None:
    hit, worker = make_hit(), make_worker()
    make_assignment(hit, worker=worker, status="Submitted")
    error = refused(hit=hit, worker=worker, status="Submitted")
    assert (is_about(error, Assignment, ONCE), is_about(error, Worker, "worker_once_per_source")) == (
        True,
        False,
    )


def test_another_unique_constraint_of_the_same_model_is_not_taken_for_it() -> None:
    worker = make_worker()
    make_assignment(make_hit(), worker=worker, assignment_id="3A")
    error = refused(hit=make_hit(), worker=worker, assignment_id="3A")
    assert (
        is_about(error, Assignment, ONCE),
        is_about(error, Assignment, "assignment_id_once_per_worker"),
    ) == (
        False,
        True,
    )


def test_a_worker_can_be_claimed_beside_what_they_are_known_to_have_handed_in() -> None:
    hit, worker = make_hit(), make_worker()
    made = [
        make_assignment(hit, worker=worker, status=status) for status in ("Submitted", "Accepted", "Accepted")
    ]
    assert list(Assignment.objects.filter(hit=hit, worker=worker).order_by("pk")) == made


def test_a_check_is_no_unique_constraint() -> None:
    error = refused(hit=make_hit(), status="Approved", submitted_at=None)
    assert is_about(error, Assignment, ONCE) is False


def test_a_name_that_no_constraint_has_is_a_mistake() -> None:
    with pytest.raises(StopIteration):
        is_about(IntegrityError(), HIT, ONCE)
