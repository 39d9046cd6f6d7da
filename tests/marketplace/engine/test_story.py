"""The long stories of a requester's programs, by boto3 from beginning to end."""

import pytest
from botocore.exceptions import ClientError


def state(mturk, hit_id):
    hit = mturk.get_hit(HITId=hit_id)["HIT"]
    counts = ("Available", "Pending", "Completed")
    return hit["HITStatus"], hit["MaxAssignments"], *(hit[f"NumberOfAssignments{name}"] for name in counts)


def listed(mturk, hit_id, *statuses):
    found = mturk.list_assignments_for_hit(HITId=hit_id, AssignmentStatuses=list(statuses), MaxResults=100)
    return [row["AssignmentId"] for row in found["Assignments"]]


def extend(mturk, hit_id, number):
    mturk.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=number)


def test_rejected_work_is_replaced_until_a_tenth_is_refused(mturk, values, new_worker):
    hit = mturk.create_hit(**values)["HIT"]
    hit_id, type_id = hit["HITId"], hit["HITTypeId"]
    first = [new_worker() for _ in range(5)]
    held = [worker.accept(type_id) for worker in first]
    assert state(mturk, hit_id) == ("Unassignable", 5, 0, 5, 0)

    first[2].give_back(held[2])
    sixth = new_worker()
    assert sixth.accept(type_id) == held[2]
    for worker, assignment_id in zip([*first[:2], sixth, *first[3:]], held, strict=True):
        assert worker.submit(assignment_id) == 200
    assert first[2].submit(held[2]) == 400
    assert state(mturk, hit_id) == ("Reviewable", 5, 0, 0, 0)
    assert sorted(listed(mturk, hit_id, "Submitted")) == sorted(held)

    for assignment_id in held[:2]:
        mturk.reject_assignment(
            AssignmentId=assignment_id, RequesterFeedback="You answered 2 out of 5 correctly."
        )
    extend(mturk, hit_id, 2)
    assert state(mturk, hit_id) == ("Assignable", 7, 2, 0, 2)
    assert first[0].accept(type_id) is None

    for size in (8, 9):
        extend(mturk, hit_id, 1)
        assert state(mturk, hit_id) == ("Assignable", size, size - 5, 0, 2)
    with pytest.raises(ClientError) as caught:
        extend(mturk, hit_id, 1)
    assert caught.value.response["TurkErrorCode"] == "AWS.MechanicalTurk.InvalidMaximumAssignmentsIncrease"
    assert state(mturk, hit_id) == ("Assignable", 9, 4, 0, 2)

    replacements = [new_worker() for _ in range(4)]
    more = [worker.accept(type_id) for worker in replacements]
    assert set(more) & set(held) == set()
    for worker, assignment_id in zip(replacements, more, strict=True):
        worker.submit(assignment_id)
    for assignment_id in [*held[2:], *more]:
        mturk.approve_assignment(AssignmentId=assignment_id)
    assert state(mturk, hit_id) == ("Reviewable", 9, 0, 0, 9)
    assert listed(mturk, hit_id, "Rejected") == held[:2]
    balance = mturk.get_account_balance()
    # Seven of nine are paid at 0.38 + 0.08, two were released.
    assert (balance["AvailableBalance"], balance["OnHoldBalance"]) == ("996.78", "0.00")
    mturk.delete_hit(HITId=hit_id)
    assert state(mturk, hit_id)[0] == "Disposed"


@pytest.fixture
def waiting(mturk, new_hit, new_worker):
    """An AssignmentId that approves itself an hour after its submission."""
    hit_id = new_hit(MaxAssignments=1, AutoApprovalDelayInSeconds=3600)
    worker = new_worker()
    assignment_id = worker.accept(mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"])
    worker.submit(assignment_id)
    return assignment_id


def test_a_rejection_in_time_stands_when_the_time_comes(mturk, waiting, later):
    later(seconds=3500)
    mturk.reject_assignment(AssignmentId=waiting, RequesterFeedback="No.")
    later(seconds=7200)
    row = mturk.get_assignment(AssignmentId=waiting)["Assignment"]
    assert (row["AssignmentStatus"], "ApprovalTime" in row) == ("Rejected", False)
    assert mturk.get_account_balance()["AvailableBalance"] == "1000.00"


def test_a_rejection_too_late_is_refused_and_the_work_is_paid(mturk, waiting, later):
    later(seconds=3600)
    with pytest.raises(
        ClientError, match="This operation can be called with a status of: Submitted"
    ) as caught:
        mturk.reject_assignment(AssignmentId=waiting, RequesterFeedback="No.")
    assert caught.value.response["TurkErrorCode"] == "AWS.MechanicalTurk.InvalidAssignmentState"
    row = mturk.get_assignment(AssignmentId=waiting)["Assignment"]
    assert (row["AssignmentStatus"], row["ApprovalTime"]) == ("Approved", row["AutoApprovalTime"])
    assert mturk.get_account_balance()["AvailableBalance"] == "999.54"
