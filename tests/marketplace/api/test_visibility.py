"""The lag switch: submitted work is seen, counted and decided only after it; without it, at once."""

import pytest
from botocore.exceptions import ClientError

LAG = 420


@pytest.fixture
def late(settings):
    settings.MARKETPLACE_VISIBILITY_LAG_SECONDS = LAG


@pytest.fixture
def work(mturk, new_hit, new_worker):
    """A HIT with one assignment, which has been submitted, and what it takes to pay a bonus for it."""
    hit_id = new_hit(MaxAssignments=1)
    worker = new_worker()
    assignment_id = worker.accept(mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"])
    worker.submit(assignment_id)
    return hit_id, assignment_id, worker.worker.worker_id


def seen(mturk, hit_id):
    hit = mturk.get_hit(HITId=hit_id)["HIT"]
    return (
        hit["HITStatus"],
        hit["NumberOfAssignmentsPending"],
        mturk.list_assignments_for_hit(HITId=hit_id)["NumResults"],
        [row["HITStatus"] for row in mturk.list_hits()["HITs"]],
        mturk.list_reviewable_hits()["NumResults"],
    )


def refusal(call, **values):
    with pytest.raises(ClientError) as caught:
        call(**values)
    return caught.value.response["Error"]["Message"].rpartition(" (")[0]


def test_without_a_lag_work_is_seen_at_once(mturk, work):
    assert seen(mturk, work[0]) == ("Reviewable", 0, 1, ["Reviewable"], 1)


def test_work_is_seen_after_the_lag(late, mturk, work, later):
    assert seen(mturk, work[0]) == ("Unassignable", 1, 0, ["Unassignable"], 0)
    later(seconds=LAG - 60)
    assert seen(mturk, work[0]) == ("Unassignable", 1, 0, ["Unassignable"], 0)
    later(seconds=60)
    assert seen(mturk, work[0]) == ("Reviewable", 0, 1, ["Reviewable"], 1)


def test_unseen_work_is_work_in_progress_to_every_operation(late, mturk, work, later):
    _, assignment_id, worker_id = work
    given = {"AssignmentId": assignment_id}
    bonus = given | {"WorkerId": worker_id, "BonusAmount": "1", "Reason": "r"}
    assert [
        refusal(mturk.get_assignment, **given),
        refusal(mturk.approve_assignment, **given),
        refusal(mturk.reject_assignment, **given, RequesterFeedback=""),
        refusal(mturk.send_bonus, **bonus),
    ] == [
        "This operation can be called with a status of: Reviewable,Approved,Rejected",
        "This operation can be called with a status of: null",
        "This operation can be called with a status of: null",
        f"Assignment {assignment_id} does not exist.",
    ]
    later(seconds=LAG)
    mturk.approve_assignment(**given)
    mturk.send_bonus(**bonus)
    assert mturk.get_assignment(**given)["Assignment"]["AssignmentStatus"] == "Approved"


def test_work_approved_by_time_is_seen_whatever_the_lag(mturk, settings, new_hit, new_worker, later):
    settings.MARKETPLACE_VISIBILITY_LAG_SECONDS = 7200
    hit_id = new_hit(MaxAssignments=1, AutoApprovalDelayInSeconds=3600)
    worker = new_worker()
    worker.submit(worker.accept(mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]))
    later(seconds=3600)
    (row,) = mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert row["AssignmentStatus"] == "Approved"
