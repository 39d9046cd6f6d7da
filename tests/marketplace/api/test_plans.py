"""In a full HIT no request reads all its assignments: every query finds its rows by an index."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from marketplace import clock
from marketplace.api import calls, dispatch
from marketplace.models import HIT, Assignment, Worker

MANY = 5_000
TABLE = "marketplace_assignment"
ALL_OF_IT = {"sqlite": f"SCAN {TABLE}", "postgresql": f"Seq Scan on {TABLE}"}


@pytest.fixture
def full(mturk, new_hit):
    """The HITId of a HIT with 5,000 assignments, one in five undecided, one in a hundred returned."""
    hit_id = new_hit(MaxAssignments=10, Reward="0.01")
    hit, now = HIT.objects.get(hit_id=hit_id), clock.now()
    names = ["Submitted"] * 20 + ["Approved"] * 79 + ["Returned"]
    workers = Worker.objects.bulk_create(Worker(worker_id=f"AFULL{n}", code_digest="-") for n in range(MANY))
    times = dict.fromkeys(("accepted_at", "submitted_at", "approved_at"), now)
    later = dict.fromkeys(("deadline", "auto_approval_at"), now + timedelta(days=3))
    Assignment.objects.bulk_create(
        Assignment(
            assignment_id=f"3FULL{n}",
            hit=hit,
            worker=worker,
            status=names[n % 100],
            **later,
            **times | ({"submitted_at": None} if names[n % 100] == "Returned" else {}),
        )
        for n, worker in enumerate(workers)
    )
    HIT.objects.filter(pk=hit.pk).update(max_assignments=MANY + 10, submitted=1000, approved=3950)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {TABLE}")  # of no other table: what is noted outlives the test
    return hit_id


def plan(sql):
    words = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
    with connection.cursor() as cursor:
        cursor.execute((words + sql).replace("%", "%%"))
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


def scans(action):
    """Return the statements about assignments that read the whole table, of how many there were.

    The next moments are left to `site/test_journey_queries.py`: SQLite tells the end of an index as a scan.
    """
    with CaptureQueriesContext(connection) as captured:
        action()
    read = [row["sql"] for row in captured if TABLE in row["sql"] and not row["sql"].startswith("INSERT")]
    none = ", ".join(["NULL"] * clock.N_MOMENTS)
    plans = {sql: plan(sql.replace(clock.MOMENTS, none)) for sql in read}
    return len(read), [sql for sql in read if ALL_OF_IT[connection.vendor] in plans[sql]]


def test_an_unindexed_question_is_noticed(full):
    number, found = scans(lambda: Assignment.objects.filter(feedback="x").first())
    assert (number, len(found)) == (1, 1)


@pytest.mark.parametrize("body", [{}, {"MaxResults": 100}, {"AssignmentStatuses": ["Submitted"]}], ids=str)
def test_listing(full, requester, body):
    call = calls.Call(requester=requester, body={"HITId": full, **body}, now=clock.now())
    assert scans(lambda: dispatch.OPERATIONS["ListAssignmentsForHIT"](call)) == (1, [])


def test_accepting_returning_and_submitting(full, mturk, new_worker):
    type_id = mturk.get_hit(HITId=full)["HIT"]["HITTypeId"]
    worker = new_worker()

    def go():
        worker.give_back(worker.accept(type_id))
        worker.submit(worker.accept(type_id))

    number, found = scans(go)
    assert (number > 10, found) == (True, [])
