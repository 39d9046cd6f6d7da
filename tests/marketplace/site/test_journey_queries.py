"""What one HIT costs on the worker site, from the list to the receipt, in statements: growth is to be seen here."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from marketplace import clock
from marketplace.accounts import keys
from marketplace.engine import assignments, deadlines
from marketplace.models import HIT, Assignment
from tests.marketplace.batches.batches_made import hits, published


@pytest.fixture
def statements():
    """A function that tells how many statements a request took, transactions and savepoints included."""

    def statements(request):
        with CaptureQueriesContext(connection) as captured:
            request()
        return len(captured)

    return statements


def test_a_journey(mturk, new_hit, new_worker, statements):
    hit_id = new_hit()
    type_id = mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]
    browser, frame = new_worker(), Client(headers={"host": "localhost"})
    kind, answers = f"/projects/{type_id}/tasks", {"answer": "yes"}
    costs = {
        "list": statements(lambda: browser.client.get("/")),
        "preview": statements(lambda: browser.client.get(kind)),
        "accept": statements(lambda: browser.client.post(f"{kind}/accept_random", {"hitId": hit_id})),
    }
    held = browser.worker.assignments.get()
    costs["work"] = statements(
        lambda: browser.client.get(f"{kind}/{hit_id}?assignment_id={held.assignment_id}")
    )
    form = {"assignmentId": held.assignment_id, "workerId": browser.worker.worker_id, **answers}
    costs["submit"] = statements(lambda: frame.post("/mturk/externalSubmit", form))
    costs["after"] = statements(lambda: browser.client.get(f"/assignments/{held.assignment_id}"))
    held.refresh_from_db()
    assert (held.status, costs) == (
        "Submitted",
        {"list": 4, "preview": 1, "accept": 6, "work": 1, "submit": 6, "after": 4},
    )


def test_what_is_due_is_asked_once(db, statements):
    assert statements(lambda: deadlines.sweep(now=timezone.now())) == 1
    assert statements(deadlines.arrive) == 1


@pytest.mark.parametrize("name", ["deadline", "auto_approval_at"])
def test_who_asks_for_the_time_finds_done_what_is_due(requester, name):
    held = assignments.accept(
        hits(published(requester))[0], worker=keys.create_worker()[0], now=timezone.now()
    )
    if name == "auto_approval_at":
        assignments.submit(held, answer="-", now=timezone.now())
    Assignment.objects.update(**{name: timezone.now() + timedelta(days=3)})
    deadlines.arrive()
    held.refresh_from_db()
    assert held.status in {"Open", "Submitted"}
    clock.advance(seconds=3 * 86_400)
    deadlines.arrive()
    held.refresh_from_db()
    assert held.status == {"deadline": "Abandoned", "auto_approval_at": "Approved"}[name]


def test_who_asks_for_the_time_finds_hits_ended_and_disposed_of(requester, statements):
    batch = published(requester)
    for seconds, expected in (
        (batch.lifetime_seconds, {(True, True)}),
        (deadlines.DISPOSED_AFTER.total_seconds(), {(True, False)}),
    ):
        clock.advance(seconds=seconds)
        deadlines.arrive()
        found = batch.hit_type.hits.values_list("is_expired", "disposed_at")
        assert {(is_expired, disposed_at is None) for is_expired, disposed_at in found} == expected
        assert statements(deadlines.arrive) == 1


@pytest.mark.parametrize("name", ["deadline", "auto_approval_at"])
def test_work_is_due_from_its_moment_on(requester, statements, name):
    batch, now = published(requester), timezone.now()
    held = assignments.accept(hits(batch)[0], worker=keys.create_worker()[0], now=now)
    if name == "auto_approval_at":
        assignments.submit(held, answer="-", now=now)
    moment = now + timedelta(minutes=5)
    Assignment.objects.update(**{name: moment})
    early = moment - timedelta(microseconds=1)
    assert statements(lambda: deadlines.sweep(now=early)) == 1
    assert statements(lambda: deadlines.sweep(now=moment)) > 1
    held.refresh_from_db()
    assert held.status == {"deadline": "Abandoned", "auto_approval_at": "Approved"}[name]


@pytest.mark.parametrize(("before", "is_due"), [(1, False), (0, True)])
def test_a_hit_is_due_at_its_end_and_again_to_be_disposed_of(requester, statements, before, is_due):
    batch, end = published(requester), timezone.now() + timedelta(hours=1)
    batch.hit_type.hits.update(expires_at=end)
    for at in (end, end + deadlines.DISPOSED_AFTER):
        early = at - timedelta(microseconds=before)
        assert (statements(lambda early=early: deadlines.sweep(now=early)) > 1) is is_due
        deadlines.sweep(now=at)
    assert statements(lambda: deadlines.sweep(now=end + 2 * deadlines.DISPOSED_AFTER)) == 1
    assert not batch.hit_type.hits.filter(disposed_at=None).exists()


def test_the_question_reads_no_row_that_is_not_due(requester):
    published(requester)
    is_sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        if not is_sqlite:
            cursor.execute("SET LOCAL enable_seqscan = off")  # which is quicker while there are three rows
        words = "EXPLAIN QUERY PLAN " if is_sqlite else "EXPLAIN "
        moment = connection.ops.adapt_datetimefield_value(timezone.now())
        asked = ((deadlines.ANYTHING_DUE, [moment] * 4), (f"SELECT {clock.MOMENTS}", []))
        plans = [_plan(cursor, words + question, values) for question, values in asked]
    indexes = "open_due", "approval_due", "hit_not_expired", "hit_live"
    for plan in plans:
        assert [name for name in indexes if f"marketplace_{name}" not in plan] == []
        assert (re.findall(r"SCAN \w+$", plan, re.MULTILINE), "Seq Scan" in plan) == ([], False)
    assert (
        "SCAN marketplace" not in plans[0]
    )  # the ends of an index are told as a scan of it, and read one row


@pytest.mark.skipif(connection.vendor == "sqlite", reason="it finds the end of an index by itself")
def test_the_next_moment_is_one_row_of_an_index_that_nobody_has_counted(requester):
    """As just after many HITs were published: PostgreSQL counts the rows of a table within a minute or so."""
    batch, now = published(requester), timezone.now()
    common = {"hit_type": batch.hit_type, "requester": requester, "question": "-", "max_assignments": 1}
    HIT.objects.bulk_create(
        HIT(hit_id=f"3MANY{n}", created_at=now, expires_at=now + timedelta(days=1), **common)
        for n in range(1_000)
    )
    with connection.cursor() as cursor:
        plan = _plan(cursor, f"EXPLAIN ANALYZE SELECT {clock.MOMENTS}", [])
    read = {int(rows) for rows in re.findall(r"actual time=\S+ rows=(\d+)", plan)}
    assert max(read) == 1, plan


def _plan(cursor, question, values):
    cursor.execute(question, values)
    return "".join(f"{row[-1]}\n" for row in cursor.fetchall())
