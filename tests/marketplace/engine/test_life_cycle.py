"""A HIT from publication to payment, by real boto3 on one side and the worker's pages on the other."""

from datetime import UTC, datetime, timedelta
from unittest.mock import ANY

import pytest
from django.core.management import call_command

from marketplace import clock
from marketplace.models import HIT, Assignment, Worker


def counts(mturk, hit_id):
    hit = mturk.get_hit(HITId=hit_id)["HIT"]
    return (
        hit["HITStatus"],
        hit["NumberOfAssignmentsAvailable"],
        hit["NumberOfAssignmentsPending"],
        hit["NumberOfAssignmentsCompleted"],
    )


def test_a_hit_is_published_done_and_paid(mturk, values, new_worker):
    hit = mturk.create_hit(**values)["HIT"]
    worker = new_worker()
    assignment_id = worker.accept(hit["HITTypeId"])
    assert worker.submit(assignment_id, answer="yes") == 200
    listed = mturk.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert [(row["AssignmentId"], row["WorkerId"], row["AssignmentStatus"]) for row in listed] == [
        (assignment_id, worker.worker.worker_id, "Submitted")
    ]
    mturk.approve_assignment(AssignmentId=assignment_id, RequesterFeedback="Thank you")
    decided = mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert (decided["AssignmentStatus"], decided["RequesterFeedback"]) == ("Approved", "Thank you")
    balance = mturk.get_account_balance()
    # One paid at 0.38 + 0.08, four still held.
    assert (balance["AvailableBalance"], balance["OnHoldBalance"]) == ("997.70", "1.84")


def test_the_life_of_a_hit_with_five_assignments(mturk, values, new_worker):
    """The worked example of MTurk's developer guide, step by step."""
    hit = mturk.create_hit(**values)["HIT"]
    hit_id, type_id = hit["HITId"], hit["HITTypeId"]
    workers = [new_worker() for _ in range(6)]
    assert counts(mturk, hit_id) == ("Assignable", 5, 0, 0)

    held = [worker.accept(type_id) for worker in workers[:3]]
    assert counts(mturk, hit_id) == ("Assignable", 2, 3, 0)

    held += [worker.accept(type_id) for worker in workers[3:5]]
    assert workers[5].accept(type_id) is None
    workers[0].submit(held[0])
    workers[1].submit(held[1])
    assert counts(mturk, hit_id) == ("Unassignable", 0, 3, 0)

    workers[2].give_back(held[2])
    assert counts(mturk, hit_id) == ("Assignable", 1, 2, 0)

    assert workers[5].accept(type_id) == held[2]
    for worker, assignment_id in zip([workers[5], *workers[3:5]], held[2:], strict=True):
        worker.submit(assignment_id)
    assert counts(mturk, hit_id) == ("Reviewable", 0, 0, 0)

    mturk.approve_assignment(AssignmentId=held[0])
    mturk.reject_assignment(AssignmentId=held[1], RequesterFeedback="")
    assert counts(mturk, hit_id) == ("Reviewable", 0, 0, 2)
    assert [row["HITId"] for row in mturk.list_reviewable_hits()["HITs"]] == [hit_id]
    assert mturk.list_reviewable_hits(Status="Reviewing") == {
        "NumResults": 0,
        "HITs": [],
        "ResponseMetadata": ANY,
    }


def test_a_returned_assignment_id_goes_to_the_next_worker_with_the_right_name(mturk, new_hit, new_worker):
    hit_id = new_hit(MaxAssignments=1)
    type_id = mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]
    first, second = new_worker(), new_worker()
    assignment_id = first.accept(type_id)
    first.give_back(assignment_id)
    assert second.accept(type_id) == assignment_id
    second.submit(assignment_id)
    assert (
        mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]["WorkerId"] == second.worker.worker_id
    )


def test_who_returns_and_comes_back_gets_another_assignment_id(mturk, new_hit, new_worker):
    type_id = mturk.get_hit(HITId=new_hit())["HIT"]["HITTypeId"]
    worker = new_worker()
    first = worker.accept(type_id)
    worker.give_back(first)
    assert worker.accept(type_id) not in {None, first}


def test_time_runs_out_and_the_id_is_recycled(mturk, new_hit, new_worker, later):
    hit_id = new_hit(MaxAssignments=1)
    type_id = mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]
    slow, quick = new_worker(), new_worker()
    assignment_id = slow.accept(type_id)
    later(seconds=3599)
    assert counts(mturk, hit_id) == ("Unassignable", 0, 1, 0)
    later(seconds=2)
    assert counts(mturk, hit_id) == ("Assignable", 1, 0, 0)
    assert slow.submit(assignment_id) == 400
    assert quick.accept(type_id) == assignment_id


def test_an_expired_hit_lets_its_workers_finish(mturk, new_hit, new_worker):
    hit_id = new_hit(MaxAssignments=2)
    type_id = mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]
    worker = new_worker()
    assignment_id = worker.accept(type_id)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime(2015, 1, 1, tzinfo=UTC))
    assert counts(mturk, hit_id) == ("Unassignable", 0, 1, 0)
    assert new_worker().accept(type_id) is None
    assert worker.submit(assignment_id) == 200
    assert counts(mturk, hit_id) == ("Reviewable", 0, 0, 0)


def test_a_later_expiry_opens_the_hit_again(mturk, new_hit, later):
    hit_id = new_hit(MaxAssignments=2)
    later(seconds=86_401)
    assert counts(mturk, hit_id) == ("Reviewable", 0, 0, 0)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=clock.now() + timedelta(hours=1))
    assert counts(mturk, hit_id) == ("Assignable", 2, 0, 0)


def test_nine_assignments_stay_below_ten_and_ten_may_grow(mturk, new_hit):
    small, large = new_hit(MaxAssignments=5), new_hit(MaxAssignments=10)
    mturk.create_additional_assignments_for_hit(HITId=small, NumberOfAdditionalAssignments=4)
    with pytest.raises(mturk.exceptions.RequestError) as caught:
        mturk.create_additional_assignments_for_hit(HITId=small, NumberOfAdditionalAssignments=1)
    assert caught.value.response["TurkErrorCode"] == "AWS.MechanicalTurk.InvalidMaximumAssignmentsIncrease"
    mturk.create_additional_assignments_for_hit(HITId=large, NumberOfAdditionalAssignments=5)
    sizes = [mturk.get_hit(HITId=hit_id)["HIT"]["MaxAssignments"] for hit_id in (small, large)]
    assert sizes == [9, 15]


def submitted(mturk, new_hit, new_worker, **changes):
    hit_id = new_hit(MaxAssignments=1, **changes)
    worker = new_worker()
    assignment_id = worker.accept(mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"])
    worker.submit(assignment_id)
    return assignment_id


def test_undecided_work_is_approved_by_time(mturk, new_hit, new_worker, later):
    assignment_id = submitted(mturk, new_hit, new_worker, AutoApprovalDelayInSeconds=3600)
    later(seconds=7200)
    row = mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert (row["AssignmentStatus"], row["ApprovalTime"]) == ("Approved", row["AutoApprovalTime"])
    assert row["AutoApprovalTime"] - row["SubmitTime"] == timedelta(hours=1)
    assert "RequesterFeedback" not in row
    with pytest.raises(mturk.exceptions.RequestError, match="with a status of: Submitted"):
        mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="Too late.")


def test_a_rejection_can_be_overturned_within_thirty_days(mturk, new_hit, new_worker, later):
    assignment_id = submitted(mturk, new_hit, new_worker)
    mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="Two of five were right.")
    later(seconds=30 * 86_400 - 60)
    mturk.approve_assignment(
        AssignmentId=assignment_id, RequesterFeedback="Our mistake.", OverrideRejection=True
    )
    row = mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert (row["AssignmentStatus"], row["RequesterFeedback"]) == ("Approved", "Our mistake.")
    assert "RejectionTime" not in row


def test_a_rejection_stands_after_thirty_days(mturk, new_hit, new_worker, later):
    assignment_id = submitted(mturk, new_hit, new_worker)
    mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="Two of five were right.")
    later(seconds=30 * 86_400 + 60)
    with pytest.raises(mturk.exceptions.RequestError, match="with a status of: Submitted"):
        mturk.approve_assignment(AssignmentId=assignment_id, OverrideRejection=True)


def test_a_rejection_needs_the_override_to_be_overturned(mturk, new_hit, new_worker):
    assignment_id = submitted(mturk, new_hit, new_worker)
    mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="Two of five were right.")
    with pytest.raises(mturk.exceptions.RequestError, match="with a status of: Submitted"):
        mturk.approve_assignment(AssignmentId=assignment_id)


def test_a_deleted_hit_is_disposed_and_its_rejections_stand(mturk, new_hit, new_worker):
    assignment_id = submitted(mturk, new_hit, new_worker)
    hit_id = mturk.get_assignment(AssignmentId=assignment_id)["HIT"]["HITId"]
    with pytest.raises(mturk.exceptions.RequestError, match="currently in the state 'Reviewable'"):
        mturk.delete_hit(HITId=hit_id)
    mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="Two of five were right.")
    mturk.delete_hit(HITId=hit_id)
    assert counts(mturk, hit_id) == ("Disposed", 0, 0, 1)
    assert mturk.list_hits()["HITs"] == []
    with pytest.raises(mturk.exceptions.RequestError, match="with a status of: Submitted"):
        mturk.approve_assignment(AssignmentId=assignment_id, OverrideRejection=True)


def test_a_decided_hit_is_disposed_after_a_hundred_and_twenty_days(mturk, new_hit, later):
    hit_id = new_hit()
    later(seconds=121 * 86_400 - 60)
    assert counts(mturk, hit_id)[0] == "Reviewable"
    later(seconds=120)
    assert counts(mturk, hit_id)[0] == "Disposed"


def test_equal_values_are_one_hit_type(mturk, values):
    kind = {
        name: values[name]
        for name in ("Title", "Description", "Keywords", "Reward", "AssignmentDurationInSeconds")
    }
    first = mturk.create_hit_type(**kind)["HITTypeId"]
    again = mturk.create_hit_type(**kind | {"AutoApprovalDelayInSeconds": 2_592_000})["HITTypeId"]
    other = mturk.create_hit_type(**kind | {"Reward": "0.39"})["HITTypeId"]
    assert (first == again, first == other) == (True, False)
    hit = mturk.create_hit_with_hit_type(HITTypeId=first, LifetimeInSeconds=60, Question=values["Question"])[
        "HIT"
    ]
    assert (hit["HITTypeId"], hit["AutoApprovalDelayInSeconds"], hit["MaxAssignments"]) == (
        first,
        2_592_000,
        1,
    )


def test_a_request_token_makes_one_hit_for_a_day(mturk, values, later):
    hit_id = mturk.create_hit(**values, UniqueRequestToken="create:1")["HIT"]["HITId"]
    with pytest.raises(
        mturk.exceptions.RequestError, match=f'The HIT with ID "{hit_id}" already exists.'
    ) as caught:
        mturk.create_hit(**values, UniqueRequestToken="create:1")
    assert caught.value.response["TurkErrorCode"] == "AWS.MechanicalTurk.HitAlreadyExists"
    assert mturk.list_hits()["NumResults"] == 1
    later(seconds=86_401)
    assert mturk.create_hit(**values, UniqueRequestToken="create:1")["HIT"]["HITId"] != hit_id


def test_an_extension_token_extends_once(mturk, new_hit):
    hit_id = new_hit()
    extension = {"HITId": hit_id, "NumberOfAdditionalAssignments": 1, "UniqueRequestToken": "more:1"}
    mturk.create_additional_assignments_for_hit(**extension)
    with pytest.raises(mturk.exceptions.RequestError, match='token "more:1" has already been processed'):
        mturk.create_additional_assignments_for_hit(**extension)
    assert mturk.get_hit(HITId=hit_id)["HIT"]["MaxAssignments"] == 6


def test_the_same_expiry_twice_is_refused(mturk, new_hit):
    expiry = {"HITId": new_hit(), "ExpireAt": datetime(2015, 1, 1, tzinfo=UTC)}
    mturk.update_expiration_for_hit(**expiry)
    with pytest.raises(mturk.exceptions.RequestError, match="has already been processed"):
        mturk.update_expiration_for_hit(**expiry)


def test_the_demo_key_works_out_of_the_box(demo):
    assert demo.get_account_balance()["AvailableBalance"] == "10000.00"
    call_command("loaddata", "marketplace_demo", verbosity=0)
    assert demo.get_account_balance()["AvailableBalance"] == "10000.00"


def test_requesters_do_not_see_each_other(mturk, demo, new_hit):
    hit_id = new_hit()
    assert demo.list_hits()["HITs"] == []
    with pytest.raises(demo.exceptions.RequestError, match=f"Hit {hit_id} does not exist"):
        demo.get_hit(HITId=hit_id)


def test_two_hundred_and_fifty_assignments_are_paged(mturk, new_hit):
    hit_id = new_hit(MaxAssignments=250)
    hit = HIT.objects.get(hit_id=hit_id)
    moment = clock.now()
    workers = Worker.objects.bulk_create(Worker(worker_id=f"AWORKER{n}", code_digest="-") for n in range(250))
    Assignment.objects.bulk_create(
        Assignment(
            assignment_id=f"3A{n}",
            hit=hit,
            worker=worker,
            status="Submitted",
            accepted_at=moment,
            deadline=moment,
            submitted_at=moment,
            auto_approval_at=moment + timedelta(days=3),
        )
        for n, worker in enumerate(workers)
    )
    HIT.objects.filter(pk=hit.pk).update(submitted=250)
    pages = list(mturk.get_paginator("list_assignments_for_hit").paginate(HITId=hit_id))
    assert [page["NumResults"] for page in pages] == [10] * 25 + [0]
    listed = [row["AssignmentId"] for page in pages for row in page["Assignments"]]
    assert listed == [f"3A{n}" for n in range(250)]
    large = mturk.list_assignments_for_hit(HITId=hit_id, MaxResults=100, AssignmentStatuses=["Submitted"])
    assert large["NumResults"] == 100
    assert mturk.list_assignments_for_hit(HITId=hit_id, AssignmentStatuses=["Approved"])["NumResults"] == 0
