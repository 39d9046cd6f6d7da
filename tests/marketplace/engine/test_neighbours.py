"""What somebody does with an assignment concerns that one alone, in the state that they saw."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from marketplace.accounts import keys
from marketplace.engine import assignments, deadlines
from marketplace.models import HIT, Assignment, Requester
from marketplace.refusals import Refusal, WorkerRefusal
from tests.marketplace.batches.batches_made import hits, published

NOW = timezone.now()
LAST_SECOND = timedelta(hours=1) - timedelta(seconds=1)


@pytest.fixture
def two(requester: Requester) -> tuple[Assignment, Assignment]:
    """Two workers' open assignments of one HIT, accepted at one moment."""
    hit = hits(published(requester, max_assignments=3))[0]
    one, other = (assignments.accept(hit, worker=keys.create_worker()[0], now=NOW) for _ in range(2))
    return one, other


def again(assignment: Assignment) -> Assignment:
    return Assignment.objects.get(pk=assignment.pk)


def test_more_time_is_given_once_and_to_nobody_else(two: tuple[Assignment, Assignment]) -> None:
    one, other = two
    read_before = again(one)
    assignments.extend(one, now=NOW + LAST_SECOND)
    assert again(one).deadline == one.deadline + timedelta(minutes=30)
    assert again(other).deadline == other.deadline
    with pytest.raises(WorkerRefusal, match="no more time"):
        assignments.extend(read_before, now=NOW + LAST_SECOND)
    assert again(one).deadline == one.deadline + timedelta(minutes=30)


def test_what_was_given_back_gets_no_more_time(two: tuple[Assignment, Assignment]) -> None:
    one, other = two
    read_before = again(one)
    assignments.give_back(one, now=NOW)
    with pytest.raises(WorkerRefusal, match="no more time"):
        assignments.extend(read_before, now=NOW)
    assert (again(one).deadline, again(other).status) == (one.deadline, "Open")


def test_a_submission_is_of_one_open_assignment_in_its_time(two: tuple[Assignment, Assignment]) -> None:
    one, _ = two
    with pytest.raises(WorkerRefusal, match="not open any more"):
        assignments.submit(one, answer="<late/>", now=one.deadline)
    assignments.submit(one, answer="<a/>", now=NOW + LAST_SECOND)
    with pytest.raises(WorkerRefusal, match="not open any more"):
        assignments.submit(one, answer="<b/>", now=NOW + LAST_SECOND)
    assert [(row.status, row.answer) for row in map(again, two)] == [("Submitted", "<a/>"), ("Open", "")]


def test_a_hit_with_work_to_decide_is_not_disposed(two: tuple[Assignment, Assignment]) -> None:
    one, other = two
    read_before = one.hit
    assignments.give_back(other, now=NOW)
    assignments.submit(one, answer="<a/>", now=NOW)
    late = NOW + timedelta(days=400)
    deadlines._expire_due(now=late)
    deadlines._dispose_by_time(read_before, now=late)
    assert HIT.objects.get(pk=read_before.pk).disposed_at is None
    assignments.approve(again(one), now=NOW)
    deadlines._dispose_by_time(read_before, now=late)
    assert HIT.objects.get(pk=read_before.pk).disposed_at is not None


def test_a_hit_is_offered_to_whoever_does_not_have_it(two: tuple[Assignment, Assignment]) -> None:
    """Neither what others do with it counts, nor what somebody gave back."""
    one, other = two
    newcomer = keys.create_worker()[0]
    assignments.give_back(one, now=NOW)
    offers = [assignments.offered(worker).filter(pk=one.hit_id).exists() for worker in (one.worker, newcomer)]
    assert (offers, assignments.offered(other.worker).filter(pk=one.hit_id).exists()) == ([True, True], False)
    assert assignments.accept(one.hit, worker=one.worker, now=NOW).worker == one.worker
    with pytest.raises(WorkerRefusal, match="already have"):
        assignments.accept(one.hit, worker=other.worker, now=NOW)


def test_an_assignment_is_found_by_its_own_requester_alone(two: tuple[Assignment, Assignment]) -> None:
    one, _ = two
    requester = one.hit.requester
    assert assignments.find_assignment(one.assignment_id, requester=requester) == one
    stranger = Requester.objects.create(name="Other Lab")
    with pytest.raises(Refusal, match="does not exist"):
        assignments.find_assignment(one.assignment_id, requester=stranger)
    assignments.give_back(one, now=NOW)
    with pytest.raises(Refusal, match="does not exist"):
        assignments.find_assignment(one.assignment_id, requester=requester)


def test_a_hit_is_locked_by_its_name_where_it_is_of_the_type(two: tuple[Assignment, Assignment]) -> None:
    hit = two[0].hit
    with transaction.atomic():
        found = [
            HIT.objects.locked_by_name(name, of=of)
            for name in (hit.hit_id, "3NONE")
            for of in (hit.hit_type.type_id, hit.hit_type.group_id, "3OTHER")
        ]
    assert found == [hit, hit, None, None, None, None]
