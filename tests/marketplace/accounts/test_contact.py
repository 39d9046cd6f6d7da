"""Blocks and messages through boto3, and what workers notice of them."""

import pytest

from tests.marketplace.refusals import refusal


@pytest.fixture
def type_id(mturk, new_hit):
    return mturk.get_hit(HITId=new_hit())["HIT"]["HITTypeId"]


def blocks(mturk):
    return [(row["WorkerId"], row["Reason"]) for row in mturk.list_worker_blocks()["WorkerBlocks"]]


def test_a_blocked_worker_accepts_nothing_of_this_requester(mturk, demo, new_worker, type_id, values):
    browser = new_worker()
    worker_id = browser.worker.worker_id
    mturk.create_worker_block(WorkerId=worker_id, Reason="Random answers.")
    mturk.create_worker_block(WorkerId=worker_id, Reason="Random answers, twice.")
    assert blocks(mturk) == [(worker_id, "Random answers, twice.")]
    assert browser.accept(type_id) is None
    assert browser.accept(demo.create_hit(**values)["HIT"]["HITTypeId"]) is not None
    for _ in range(2):
        mturk.delete_worker_block(WorkerId=worker_id)
    assert blocks(mturk) == []
    assert browser.accept(type_id) is not None


def test_work_accepted_before_the_block_goes_on(mturk, new_worker, type_id):
    browser = new_worker()
    assignment_id = browser.accept(type_id)
    mturk.create_worker_block(WorkerId=browser.worker.worker_id, Reason="Random answers.")
    assert browser.submit(assignment_id) == 200


def test_nobody_is_not_blocked(mturk):
    assert refusal(mturk.create_worker_block, WorkerId="A1NOBODY", Reason="x")[2] == "WorkerDoesNotExist"
    assert refusal(mturk.delete_worker_block, WorkerId="A1NOBODY")[2] == "WorkerDoesNotExist"


def test_a_message_reaches_workers_whose_work_was_decided(mturk, new_worker, type_id):
    paid, waiting = new_worker(), new_worker()
    for browser in (paid, waiting):
        browser.submit(browser.accept(type_id))
    hit_id = mturk.list_hits()["HITs"][0]["HITId"]
    first = mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"][0]
    mturk.approve_assignment(AssignmentId=first["AssignmentId"])
    ids = [paid.worker.worker_id, waiting.worker.worker_id, "A1NOBODY"]
    told = mturk.notify_workers(Subject="A second study", MessageText="Next week.\nSee you.", WorkerIds=ids)
    assert told["NotifyWorkersFailureStatuses"] == [
        {
            "NotifyWorkersFailureCode": "HardFailure",
            "NotifyWorkersFailureMessage": f"You have not approved or rejected work of {ids[1]} before.",
            "WorkerId": ids[1],
        },
        {
            "NotifyWorkersFailureCode": "HardFailure",
            "NotifyWorkersFailureMessage": "Worker A1NOBODY does not exist.",
            "WorkerId": "A1NOBODY",
        },
    ]
    pages = [browser.client.get("/work").content.decode() for browser in (paid, waiting)]
    assert ["A second study" in page for page in pages] == [True, False]
    assert "Next week.<br>See you." in pages[0]


TOO_MUCH = [{"Subject": "s" * 201}, {"MessageText": "m" * 4097}, {"WorkerIds": ["A1B2C3D4E5F6G7"] * 101}]


@pytest.mark.parametrize("changes", [*TOO_MUCH, {"WorkerIds": []}], ids=lambda row: next(iter(row)))
def test_messages_have_limits(mturk, changes):
    call = {"Subject": "s", "MessageText": "m", "WorkerIds": ["A1B2C3D4E5F6G7"], **changes}
    assert refusal(mturk.notify_workers, **call)[1] == "ParameterValidationError"
