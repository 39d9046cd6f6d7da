"""Pages and operations cost the same number of queries for few rows and for many."""

from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from marketplace import clock
from marketplace.api import calls, dispatch


@pytest.fixture
def counted():
    def counted(action):
        with CaptureQueriesContext(connection) as queries:
            action()
        return len(queries)

    return counted


@pytest.fixture
def scene(mturk, new_hit, new_worker):
    """A function that adds a HIT type with HITs, and work in every state for one worker."""
    worker = new_worker()

    def add(number):
        kind = {"Title": f"Kind {number}"}
        hits = [new_hit(**kind) for _ in range(4)]
        type_id = mturk.get_hit(HITId=hits[0])["HIT"]["HITTypeId"]
        held = [worker.accept(type_id) for _ in range(3)]
        worker.submit(held[0])
        worker.submit(held[1])
        mturk.reject_assignment(AssignmentId=held[0], RequesterFeedback="No.")
        given = {"WorkerId": worker.worker.worker_id}
        mturk.send_bonus(**given, AssignmentId=held[1], BonusAmount="0.10", Reason="Good.")
        made = mturk.create_qualification_type(
            Name=f"Scale {number}", Description="d", QualificationTypeStatus="Active"
        )["QualificationType"]["QualificationTypeId"]
        mturk.associate_qualification_with_worker(**given, QualificationTypeId=made)
        for other in [new_worker(), new_worker()]:
            other.submit(other.accept(type_id))
        return type_id, hits[0]

    return worker, add


def test_pages_cost_the_same_for_few_and_many(scene, counted):
    worker, add = scene
    type_id, _ = add(0)
    pages = ["/", "/work", f"/projects/{type_id}/tasks", "/?q=kind"]
    few = [counted(lambda page=page: worker.client.get(page)) for page in pages]
    for number in range(1, 5):
        add(number)
    many = [counted(lambda page=page: worker.client.get(page)) for page in pages]
    assert few == many
    assert max(many) <= 18


PLACES = 5  # of a HIT of these tests
LISTS = {
    "ListHITs": lambda hit: {"MaxResults": 100},
    "ListReviewableHITs": lambda hit: {"MaxResults": 100},
    "ListBonusPayments": lambda hit: {"HITId": hit, "MaxResults": 100},
    "ListQualificationTypes": lambda hit: {"MustBeRequestable": True, "MaxResults": 100},
    "ListQualificationRequests": lambda hit: {"MaxResults": 100},
    "ListWorkerBlocks": lambda hit: {"MaxResults": 100},
    "ListAssignmentsForHIT": lambda hit: {"HITId": hit, "MaxResults": 100},
}


def test_lists_cost_the_same_for_few_and_many(scene, counted, requester, new_worker):
    _, add = scene
    type_id, hit_id = add(0)

    def costs():
        listed = {
            name: calls.Call(requester=requester, body=body(hit_id), now=clock.now())
            for name, body in LISTS.items()
        }
        return {name: counted(partial(dispatch.OPERATIONS[name], call)) for name, call in listed.items()}

    few = costs()
    for number in range(1, 4):
        add(number)
    for worker in [new_worker() for _ in range(3)]:
        worker.submit(worker.accept(type_id))
    assert costs() == few
    assert max(few.values()) <= 2


def test_accepting_and_submitting_cost_the_same_for_few_and_many(scene, counted, new_worker):
    _, add = scene
    type_id, _ = add(0)

    def go():
        worker = new_worker()
        worker.submit(worker.accept(type_id))

    few = {counted(go) for _ in range(PLACES)}  # among them one that fills a HIT, and is counted
    for number in range(1, 4):
        add(number)
    assert {counted(go) for _ in range(PLACES)} == few
    assert max(few) - min(few) == 1
